"""An audit that another package attaches is an audit: measured, judged, shown and gated as ours are."""

import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import glasshead as front_door
import glasshead.extensions as extensions
from glasshead.audits import AUDITS
from glasshead.errors import InputError
from glasshead.results import AuditCard
from typed import glasshead, refusal

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "extension"
NAME, FINDING = "word-length", "word-length.independence"
TITLE = "Is attention independent of the length of words?"
CLAIM = "Attention does not depend on the length of words"
ASKED = ("--audits", f"agreement,{NAME},performance", "--split", "test")


@pytest.fixture(scope="module")
def attached():
    """The example's audit by its entry point, with no audit of ours imported from it; gone afterwards."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(EXAMPLE)
        entry = EntryPoint("audits", "word_length_extension.audit", extensions.ENTRY_POINTS)
        patch.setattr(extensions, "entry_points", lambda group: [entry])
        patch.setattr(extensions, "_attached", extensions._attached - {"audits"})
        extensions.extensions.cache_clear()
        yield
        AUDITS._entries.pop(NAME, None)
    extensions.extensions.cache_clear()
    for name in [name for name in sys.modules if name.startswith("word_length_extension")]:
        del sys.modules[name]


@pytest.fixture(scope="module")
def audited(attached, tiny, tmp_path_factory):
    """A folder of an audit of thirty texts, and what the terminal said."""
    out = tmp_path_factory.mktemp("package") / "audit"
    said = glasshead("audit", tiny.tanhmax, "synthetic", *ASKED, "--limit", 30, "--out", out).output
    return out, said


def shards(folder):
    """The shards of the audit, and when each was written."""
    return {path: path.stat().st_ino for path in (folder / "measurements" / NAME).glob("*.parquet")}


def test_it_is_listed(attached):
    said = glasshead("list", "audits").output
    assert NAME in said
    assert "does it follow the length of" in said


def test_its_rows_are_its_columns(audited):
    (path, *others) = shards(audited[0])
    table = pq.read_table(path)
    assert {FINDING, f"{FINDING}.null.random"} < set(table.column_names)
    assert table.schema.field(FINDING).metadata[b"unit"] == "1 − |τ-b|".encode()
    assert sum(pq.read_metadata(shard).num_rows for shard in (path, *others)) == 30


def test_its_title_unit_claim_and_place_are_on_the_first_screen(audited):
    folder, said = audited
    card = AuditCard.load(folder)
    finding = card.finding(f"{FINDING}.all")
    assert finding.status == "evidence"
    assert finding.null["random"] > 0
    titles = [quantity.title for quantity in card.quantities.values() if quantity.title]
    assert titles[-1] == TITLE  # after ours
    assert len(titles) > 2
    assert card.quantities[FINDING].unit == "1 − |Kendall τ-b|"
    (claim,) = [claim for claim in card.conclusion.claims if claim.finding == finding.name]
    assert claim.says == CLAIM
    assert claim.holds == {"does not depend": "yes", "depends": "no"}[finding.verdict.split(" on ")[0]]
    assert "less than 0.1 below random order" in claim.note
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert TITLE in page
    for text in (said, page):  # in a terminal numbers stand beside the first line of a title
        assert text.index(titles[0][:20]) < text.index(TITLE[:20])
    assert "1 − |Kendall τ-b|" in said
    assert "1 − |Kendall τ-b|" in page
    assert CLAIM in page
    assert "Word length" in page
    assert card.conclusion.audits[NAME].says == f"Attention {finding.verdict}."


def test_a_bar_is_one_on_its_finding(audited, tiny):
    folder, _ = audited
    low = AuditCard.load(folder).finding(f"{FINDING}.all").interval[0]
    again = ("audit", tiny.tanhmax, "synthetic", *ASKED, "--limit", 30, "--out", folder, "--resume")
    for verb in (("judge", folder), again):
        said = glasshead(*verb, "--fail-under", f"{FINDING}={low - 0.01}").output
        assert f"{FINDING}: the interval starts at" in said
        assert glasshead(*verb, "--fail-under", f"{FINDING}=1", code=1).exit_code == 1
    with pytest.raises(InputError, match="did you mean 'word-length'"):
        AUDITS["word-lenght"]


def test_more_texts_measure_the_new_ones_alone(audited, tiny, tmp_path):
    out = tmp_path / "audit"
    glasshead("audit", tiny.tanhmax, "synthetic", *ASKED, "--limit", 30, "--out", out)
    before = shards(out)
    glasshead("audit", tiny.tanhmax, "synthetic", *ASKED, "--limit", 45, "--out", out, "--resume")
    assert before.items() < shards(out).items()
    whole = AuditCard.load(out)
    assert whole.facts["examples"] == whole.finding(f"{FINDING}.all").n == 45


def test_it_is_judged_again_without_the_model(audited, tmp_path):
    folder, _ = audited
    card = AuditCard.load(folder)
    assert front_door.judge(folder).findings == card.findings
    said = glasshead("judge", folder, "--by", "length", "--out", tmp_path / "sliced").output
    assert TITLE[:20] in said
    assert "By length" in said
    sliced = AuditCard.load(tmp_path / "sliced")
    assert sliced.finding(f"{FINDING}.all") == card.finding(f"{FINDING}.all")
    assert {one.by for one in sliced.findings if one.audit == NAME} == {"", "length"}
    assert [test.finding for test in sliced.slice_tests if test.audit == NAME] == [f"{FINDING}.all"]


def test_without_the_package_its_rows_are_not_passed_over(audited, tmp_path, monkeypatch):
    monkeypatch.delitem(AUDITS._entries, NAME)
    assert "word-length, an audit of another package: install it first" in refusal(
        tmp_path, "judge", audited[0]
    )

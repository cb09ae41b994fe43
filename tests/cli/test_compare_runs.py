"""``glasshead compare`` of runs and of repeats, and of audits with their paired differences."""

import pytest
from typed import glasshead, refusal

from fake_runs import classes, guesses, write_repeats, write_run

LABELS = classes(120)


@pytest.fixture
def folders(tmp_path):
    for rank, name in enumerate(("near", "far", "other")):
        said = [guesses(LABELS, 0.6 + 0.15 * (name == "far"), 10 * rank + seed) for seed in range(2)]
        write_repeats(tmp_path / name, LABELS, said)
    write_run(tmp_path / "single", LABELS, LABELS)
    return tmp_path


def test_repeats(folders):
    out = folders / "page.html"
    given = [folders / name for name in ("near", "far", "other")]
    said = glasshead("compare", *given, "--out", out).stdout.replace("\u00a0", " ")
    assert "120 examples of trec (test split), 2 seeds each." in said
    assert "far minus near" in said
    assert "other minus near" in said
    assert "far minus near" in out.read_text(encoding="utf-8")
    said = glasshead(
        "compare", *given, "--against", "far", "--split", "dev", "--out", out, "--overwrite"
    ).stdout
    assert "near minus far" in said
    assert "far minus near" not in said
    assert "(dev split)" in said


def test_one_kind_only(folders, tiny):
    out = "--out", folders / "page.html"
    said = refusal(folders, "compare", folders / "near", folders / "single", *out)
    assert "is not a folder of repeats, as" in said
    assert "but a run: compare one kind" in said
    assert "is not an audit" in refusal(folders, "compare", tiny.softmax_audit, folders / "single", *out)
    assert "did you mean 'near'" in refusal(
        folders, "compare", folders / "near", folders / "far", "--against", "nearr", *out
    )


def test_audits_have_paired_differences(tiny, tmp_path):
    out = tmp_path / "page.html"
    said = glasshead("compare", tiny.softmax_audit, tiny.tanhmax_audit, "--out", out).stdout
    page = out.read_text(encoding="utf-8")
    assert "shared" in said
    assert "95&nbsp;% interval, paired" in page
    assert "tanhmax − softmax" in page
    assert "Token groups are means over token types" in page
    turned = "--against", tiny.tanhmax_audit, "--out", out, "--overwrite"
    glasshead("compare", tiny.softmax_audit, tiny.tanhmax_audit, *turned)
    assert "softmax − tanhmax" in out.read_text(encoding="utf-8")

"""glasshead audit-hub: the same audit of every model of a list, on one page."""

import json
import shutil

import pytest

from glasshead.results import AuditCard
from typed import glasshead, refusal

LIST = """
limit = 12
audits = ["performance", "faithfulness"]
split = "test"

[models.first]
model = "{model}"
data = "synthetic"

[models."second one"]
model = "{model}"
data = "synthetic"
limit = 8

[models.gone]
model = "{folder}/gone"
data = "synthetic"
"""


@pytest.fixture(scope="module")
def hub(tiny, tmp_path_factory):
    """A list of two models and one that is not there, and the folder of their audits."""
    folder = tmp_path_factory.mktemp("hub")
    shutil.copytree(tiny.tanhmax, folder / "model")
    (folder / "list.toml").write_text(LIST.format(model=folder / "model", folder=folder))
    told = glasshead("audit-hub", folder / "list.toml", "--out", folder / "hub", code=1)
    return folder, told


def test_each_model_has_its_audit_and_its_row(hub):
    folder, told = hub
    assert told.stderr.count("3 of 3: gone") == 1
    page = (folder / "hub" / "index.html").read_text(encoding="utf-8")
    for name, texts in (("first", 12), ("second one", 8)):
        card = AuditCard.load(folder / "hub" / name)
        assert card.facts["examples"] == texts
        assert {finding.audit for finding in card.findings} == {"performance", "faithfulness"}
        assert (folder / "hub" / name / "report.html").is_file()
        assert f'<a href="{name}/report.html">{name}</a>' in page
        assert card.conclusion.verdict in page
        assert f"{texts} texts" in page
    assert "Not audited" in page
    assert "Not audited" in told.stdout
    assert not (folder / "hub" / "gone").exists()


def test_finished_audits_need_no_model_any_more(hub, tmp_path):
    folder, _ = hub
    before = (folder / "hub" / "first" / "card.json").stat().st_mtime_ns
    (folder / "model").rename(folder / "away")
    try:
        glasshead("audit-hub", folder / "list.toml", "--out", folder / "hub", code=1)
    finally:
        (folder / "away").rename(folder / "model")
    assert (folder / "hub" / "first" / "card.json").stat().st_mtime_ns == before
    assert {*json.loads((folder / "hub" / "requests.json").read_text())} == {"first", "second one"}


def test_other_options_do_not_pass_for_those_that_were_asked(hub):
    folder, _ = hub
    changed = folder / "changed.toml"
    changed.write_text((folder / "list.toml").read_text().replace("limit = 8", "limit = 9"))
    said = refusal(folder, "audit-hub", changed, "--out", folder / "hub")
    assert "second one was audited with other options: use --overwrite" in said


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (None, "there is no file"),
        ("models = 3", "has no models"),
        ("limit = ", "is not TOML"),
        ('[models.a]\nmodel = "b"', "list.toml: a has no data"),
        ('[models.a]\nmodel = "b"\ndata = "c"\nlimits = 3', "unknown option 'limits': did you mean 'limit'"),
        ('[models.a]\nmodel = "b"\ndata = "c"\nlimit = 0', "list.toml: a: limit must be at least 1"),
        ('[models."a/b"]\nmodel = "b"\ndata = "c"', "'a/b' cannot name a folder"),
        ('[models.".."]\nmodel = "b"\ndata = "c"', "'..' cannot name a folder"),
        ('[models."index.html"]\nmodel = "b"\ndata = "c"', "'index.html' cannot name a folder"),
        ('[models]\na = "b"', "list.toml: a is not a table"),
    ],
)
def test_a_list_that_cannot_be_read(tmp_path, text, says):
    if text is not None:
        (tmp_path / "list.toml").write_text(text)
    assert says in refusal(tmp_path, "audit-hub", tmp_path / "list.toml", "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()

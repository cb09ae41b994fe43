"""What heads do, as typed."""

import pytest
from grown_folder import check_that_more_texts_go_on

from typed import refusal


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--limit", "0"), "'--limit': must be at least 1"),
        (("--out", "x.docx"), "docx"),
        (("--out", "x.html", "--resume"), "name a folder with --out"),
        (("--out", "x", "--resume"), "there is nothing to resume"),
        (("--workers", "2", "--ray", "auto"), "choose one of them"),
        (("--train", "synthetic"), "--train"),
    ],
)
def test_what_cannot_be_asked_is_refused_and_nothing_is_written(
    tiny, tmp_path, monkeypatch, options, message
):
    monkeypatch.chdir(tmp_path)
    assert message in refusal(tmp_path, "heads", tiny.softmax, "synthetic", *options)


@pytest.mark.slow
def test_a_folder_keeps_what_was_measured_and_more_texts_go_on_from_it(tiny, tmp_path):
    out = tmp_path / "x"
    asked = "heads", tiny.softmax, "synthetic"
    check_that_more_texts_go_on(tmp_path, asked, "heads.json")
    assert "different: seed" in refusal(out, *asked, "--seed", "1", "--out", out, "--resume")

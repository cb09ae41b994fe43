"""What heads do, as typed."""

import json

import pytest

from typed import glasshead, refusal


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--limit", "0"), "'--limit': must be at least 1"),
        (("--out", "x.docx"), "docx"),
        (("--out", "x.html", "--resume"), "give --out a folder"),
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


def test_a_folder_keeps_what_was_measured_and_more_texts_go_on_from_it(tiny, tmp_path):
    out, whole = tmp_path / "x", tmp_path / "whole.json"
    asked = "heads", tiny.softmax, "synthetic"
    glasshead(*asked, "--limit", "20", "--out", out)
    assert "exists" in refusal(out, *asked, "--limit", "30", "--out", out)
    before = {path.name: path.stat().st_mtime_ns for path in out.glob("measurements/*/*.parquet")}
    ended = glasshead(*asked, "--limit", "30", "--out", out, "--resume", "--workers", "2")
    assert f"Report: {out / 'report.html'}" in " ".join(ended.stdout.split())
    after = {path.name: path.stat().st_mtime_ns for path in out.glob("measurements/*/*.parquet")}
    assert before.items() < after.items()
    glasshead(*asked, "--limit", "30", "--out", whole)
    ours, theirs = (json.loads(path.read_text(encoding="utf-8")) for path in (out / "heads.json", whole))
    assert ours["conclusion"] == theirs["conclusion"]
    assert ours["facts"]["examples"] == 30
    assert not (tmp_path / "x.parts").exists()
    assert "different: seed" in refusal(out, *asked, "--seed", "1", "--out", out, "--resume")

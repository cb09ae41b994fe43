"""JSON stands alone on standard output, and files end as --out says."""

import json

import pytest

from typed import glasshead


def test_audit(tiny, tmp_path):
    options = "--audits", "performance", "--limit", "40", "--fail-under", "performance.accuracy=0.01"
    out = tmp_path / "audit"
    ended = glasshead("audit", tiny.softmax, "synthetic", *options, "--format", "json", "--out", out)
    said = json.loads(ended.stdout, parse_constant=pytest.fail)
    assert said == json.loads((out / "card.json").read_text(encoding="utf-8"))
    assert "Report: " in ended.stderr
    assert "the interval starts at" in ended.stderr


@pytest.mark.parametrize(
    ("ending", "start"),
    [("svg", b"<?xml"), ("png", b"\x89PNG"), ("json", b"["), ("html", b"<!doctype html>")],
)
def test_explain_writes_what_the_ending_says(tiny, tmp_path, ending, start):
    out = tmp_path / f"texts.{ending}"
    assert "Written to" in glasshead("explain", tiny.softmax, "a warm film", "--out", out).stdout
    assert out.read_bytes().startswith(start)


def test_a_written_page_says_which_texts_are_left_out(tiny, tmp_path):
    out = tmp_path / "texts.html"
    glasshead("explain", tiny.softmax, "a warm film", "", "--out", out)
    assert "text 2 is left out: the text is empty" in out.read_text(encoding="utf-8")

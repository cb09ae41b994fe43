"""Explanations of a model against each other, as typed."""

import json

import pytest
from grown_folder import check_that_more_texts_go_on

from typed import glasshead, refusal

QUICK = ("--removals", "delete", "--limit", "20")


def test_a_file_is_written_and_the_answer_is_said(tiny, tmp_path):
    out = tmp_path / "x.json"
    asked = "rank", tiny.softmax, "synthetic", "--methods", "attention,gradient", *QUICK, "--out", out
    said = glasshead(*asked).stdout
    document = json.loads(out.read_text(encoding="utf-8"), parse_constant=pytest.fail)
    assert [method["name"] for method in document["methods"]] == ["attention", "gradient"]
    assert document["facts"]["examples"] == 20
    assert "".join(document["conclusion"][0].split()) in "".join(said.split())  # as wide as the terminal
    assert "exists" in refusal(tmp_path, *asked)
    glasshead(*asked, "--overwrite")


def test_json_stands_alone_on_standard_output(tiny, tmp_path):
    out = tmp_path / "x.json"
    asked = "--methods", "gradient,random", *QUICK, "--format", "json"
    ended = glasshead("rank", tiny.softmax, "synthetic", *asked, "--out", out)
    said = json.loads(ended.stdout, parse_constant=pytest.fail)
    assert said == json.loads(out.read_text(encoding="utf-8"))
    assert "Report: " in ended.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--methods", "gradeint"), "did you mean 'gradient'"),
        (("--methods", "gradient,gradient"), "--methods names 'gradient' twice"),
        (("--removals", "delte"), "did you mean 'delete'"),
        (("--statistic", "fidelity"), "unknown statistic 'fidelity'"),
        (("--limit", "0"), "'--limit': must be at least 1"),
        (("--out", "x.docx"), "docx"),
        (("--out", "x.html", "--resume"), "name a folder with --out"),
        (("--out", "x", "--resume"), "there is nothing to resume"),
        (("--workers", "2", "--ray", "auto"), "choose one of them"),
        (("--methods", "gradient", "--split", "nowhere"), "nowhere"),
    ],
)
def test_what_cannot_be_asked_is_refused_and_nothing_is_written(
    tiny, tmp_path, monkeypatch, options, message
):
    monkeypatch.chdir(tmp_path)
    assert message in refusal(tmp_path, "rank", tiny.softmax, "synthetic", *options)


@pytest.mark.slow
def test_a_folder_keeps_what_was_measured_and_more_texts_go_on_from_it(tiny, tmp_path):
    out = tmp_path / "x"
    asked = "rank", tiny.softmax, "synthetic", "--methods", "attention,gradient", "--removals", "delete"
    check_that_more_texts_go_on(tmp_path, asked, "ranking.json")
    changed = *asked[:-1], "unknown-token", "--limit", "30", "--out", out, "--resume"
    assert "different: removals" in refusal(out, *changed)

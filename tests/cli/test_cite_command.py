"""glasshead cite, as typed: a hand-built model that copies what followed the last word of the question."""

import csv
import json
import re

import pytest

from glasshead.report import number
from induction import induction_model
from typed import glasshead, refusal

PASSAGES = ("w01 w02\n", "w03 w04 w05\n", "w06 w07\n")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "copies"
    for each in induction_model(length=96):
        each.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def passages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("passages")
    for place, text in enumerate(PASSAGES):
        (folder / f"{place}.txt").write_text(text, encoding="utf-8")
    return folder


def typed(model, *context, answer="w04"):
    return [
        "cite",
        model,
        "w03",
        "--answer",
        answer,
        *(word for path in context for word in ("--context", path)),
    ]


def test_terminal_names_the_passage_that_was_copied_from(model, passages):
    said = " ".join(glasshead(*typed(model, passages)).stdout.split())
    assert said.startswith("The answer comes from passage 2 (1.txt) Without it the answer is 1/")
    assert "w04 [2]" in said
    assert re.search(r"2: 1.txt \+\d\.\d\d exact", said)
    assert "all 8 subsets" in said


def test_several_contexts_are_one_after_the_other(model, passages):
    said = glasshead(*typed(model, passages / "2.txt", passages / "1.txt"), "--format", "json").stdout
    found = json.loads(said)
    assert [one["title"] for one in found["passages"]] == ["2.txt", "1.txt"]
    assert [one["is_source"] for one in found["statements"][0]["effects"]] == [False, True]


def test_what_a_retriever_returned_has_titles_and_links(model, tmp_path):
    rows = [
        {
            "page_content": text.strip(),
            "metadata": {"title": f"page {place}", "source": f"https://a.b/{place}"},
        }
        for place, text in enumerate(PASSAGES)
    ]
    (tmp_path / "found.json").write_text(json.dumps(rows), encoding="utf-8")
    out = tmp_path / "cited.md"
    assert "Written to" in glasshead(*typed(model, tmp_path / "found.json"), "--out", out).stdout
    text = out.read_text(encoding="utf-8")
    assert "> w04[^2]" in text
    assert re.search(
        r"\[\^2\]: Passage 2, \[page 1\]\(<https://a.b/1>\): effect \+\S+ exact \(log-odds\)", text
    )


def test_page_table_and_json_say_the_same(model, passages, tmp_path):
    for kind in ("html", "json", "csv"):
        glasshead(*typed(model, passages), "--out", tmp_path / f"cited.{kind}")
    found = json.loads((tmp_path / "cited.json").read_text(encoding="utf-8"))
    page = (tmp_path / "cited.html").read_text(encoding="utf-8")
    (data,) = json.loads(re.search(r"const STATEMENTS = (.*);", page)[1])
    with (tmp_path / "cited.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    effects = {one["passage"]: one["effect"] for one in found["statements"][0]["effects"]}
    assert {int(row["passage"]) - 1: pytest.approx(float(row["effect"])) for row in rows} == effects
    assert {row["passage"]: row["effect"] for row in data["rows"]} == {
        passage: number(effect, 2, plus=True) for passage, effect in effects.items()
    }
    assert [row["source"] for row in rows] == ["False", "True", "False"]
    carried = {
        found["passages"][1]["text"][one["start"] : one["stop"]]: one["removal"]
        for one in found["statements"][0]["spans"]
        if one["kind"] == "word"
    }
    assert sorted(carried, key=carried.get)[-2:] in (["w03", "w04"], ["w04", "w03"])
    assert "http" not in page


@pytest.mark.parametrize("method", ["leave-one-out", "shapley"])
@pytest.mark.parametrize("removal", ["replace", "mask"])
def test_every_method_and_removal_finds_it(model, passages, method, removal):
    options = ("--method", method, "--removal", removal, "--format", "json")
    found = json.loads(glasshead(*typed(model, passages), *options).stdout)
    effects = found["statements"][0]["effects"]
    assert effects[1]["is_source"]
    assert max(effects, key=lambda one: one["effect"])["passage"] == 1
    assert found["facts"]["method"] == method
    assert found["facts"]["removal"] == removal


def test_an_answer_of_several_sentences_has_sources_for_each(model, passages):
    said = " ".join(glasshead(*typed(model, passages, answer="w04 w05\nw07")).stdout.split())
    assert "This sentence comes from passage 2 (1.txt)" in said


def test_the_model_may_write_the_answer(model, passages):
    written = ("cite", model, "w03", "--context", passages, "--tokens", 1, "--format", "json")
    found = json.loads(glasshead(*written).stdout)
    assert found["answer"].strip() == "w04"
    assert found["facts"]["written"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "--context"),
        (["--context", "no-such-folder"], "there is no file or folder no-such-folder"),
        (["--context", "#", "--method", "lime"], "--method"),
        (["--context", "#", "--prompt", "no place"], "{context}"),
        (["--context", "#", "--out", "cited.docx"], "must end in"),
        (["--context", "#", "--out", "cited.md", "--format", "json"], "must end in"),
        (["--context", "#", "--beside", "tea-leaves"], "tea-leaves"),
        (["--context", "#", "--answer", ""], "answer"),
        (["--context", "#", "--draws", "3"], "--draws"),
    ],
)
def test_refusals(model, passages, tmp_path, monkeypatch, options, words):
    monkeypatch.chdir(tmp_path)
    said = refusal(tmp_path, "cite", model, "w03", *(passages if one == "#" else one for one in options))
    assert words in said


def test_an_empty_folder_and_a_file_that_is_no_json(model, tmp_path):
    (tmp_path / "empty").mkdir()
    assert "has no text files" in refusal(tmp_path, *typed(model, tmp_path / "empty"))
    (tmp_path / "bad.json").write_text("{", encoding="utf-8")
    assert "bad.json is not JSON" in refusal(tmp_path, *typed(model, tmp_path / "bad.json"))


def test_a_file_that_is_read_is_not_overwritten(model, passages, tmp_path):
    page = tmp_path / "passages.csv"
    page.write_text("text\nw03 w04\nw01\n", encoding="utf-8")
    refusal(tmp_path, *typed(model, page), "--out", page, "--overwrite")

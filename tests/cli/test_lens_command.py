"""glasshead lens: the planted head in the terminal, on a page and in JSON; refusals of one line."""

import json
import re

import pytest

from induction import induction_model, repeated_text
from typed import glasshead, refusal


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "induction"
    for each in induction_model():
        each.save_pretrained(folder)
    return folder


def test_terminal_names_the_head_its_source_and_the_layer(model):
    text, answer = repeated_text()
    said = " ".join(glasshead("lens", model, text).stdout.split())
    place = text.split().index(answer) + 1
    assert f"head 1-2 adds +3.42, mostly from {answer} ({place})" in said
    assert f"The prediction “{answer}” after {text.split()[-1]} is on top from layer 1 on" in said


def test_json_has_both(model, tmp_path):
    text, answer = repeated_text()
    glasshead("lens", model, text, "--against", text.split()[0], "--out", tmp_path / "inside.json")
    found = json.loads((tmp_path / "inside.json").read_text(encoding="utf-8"))
    assert found["logit"]["target"] == f"“{answer}”"
    assert sum(part["effect"] for part in found["logit"]["parts"]) == pytest.approx(found["logit"]["logit"])
    assert found["lens"]["target_ranks"][-1][-1] == 1


def test_page_has_every_head_and_layer_and_no_address(model, tmp_path):
    text, answer = repeated_text()
    glasshead("lens", model, text, "--out", tmp_path / "inside.html")
    page = (tmp_path / "inside.html").read_text(encoding="utf-8")
    data = json.loads(re.search(r'id="inside-data">(.*?)</script>', page, re.DOTALL)[1])
    assert len(data["effects"]) == 6
    assert data["first"] == "1-2"
    assert data["tokens"][1][data["effects"]["1-2"].index(max(data["effects"]["1-2"]))] == answer
    assert page.count("data-said=") == 3 * 13
    assert "http" not in page


def test_words_of_the_text_are_no_markup(model, tmp_path):
    glasshead("lens", model, "w01 <b>w02</b>", "--out", tmp_path / "inside.html")
    assert "<b>w02" not in (tmp_path / "inside.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--target", "unheard"], "not a token of this model"),
        (["--out", "inside.docx"], "must end in"),
        (["--at", "w01"], "--at"),
    ],
)
def test_refusals(model, tmp_path, options, words):
    assert words in refusal(tmp_path, "lens", model, "w01 w02", *options)


def test_tuned_lens_from_a_file(model, tmp_path):
    texts = tmp_path / "texts.txt"
    texts.write_text("\n".join(repeated_text(seed=seed)[0] for seed in range(24)) + "\n", encoding="utf-8")
    said = " ".join(glasshead("lens", model, repeated_text()[0], "--tuned", texts).stdout.split())
    assert "fitted on 18 texts" in said
    assert "On 6 texts that were held out" in said
    glasshead("lens", model, repeated_text()[0], "--tuned", texts, "--out", tmp_path / "inside.json")
    fit = json.loads((tmp_path / "inside.json").read_text(encoding="utf-8"))["lens"]["fit"]
    assert len(fit["plain"]) == len(fit["tuned"]) == len(fit["gains"]) == 2
    assert fit["tuned"][0] < fit["plain"][0]
    assert "no-such.txt" in refusal(tmp_path, "lens", model, "w01", "--tuned", tmp_path / "no-such.txt")

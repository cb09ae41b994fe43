"""glasshead generate: texts, files, and refusals of one line."""

import json
import re

import pytest
import torch
import transformers as hf

from classifier_families import FAMILIES
from typed import glasshead, refusal
from writers import PROMPT, small_writer


@pytest.fixture
def writer(tmp_path):
    for each in small_writer():
        each.save_pretrained(tmp_path / "writer")
    return tmp_path / "writer"


def test_a_text_is_written_again_from_the_seed_that_is_said(writer):
    said = glasshead("generate", writer, PROMPT, "--strategy", "sample", "--tokens", 4).stdout
    seed = re.search(r"seed (\d+)", said)[1]
    again = glasshead("generate", writer, PROMPT, "--strategy", "sample", "--tokens", 4, "--seed", seed)
    assert again.stdout == said
    assert said.startswith(PROMPT)


def test_json_has_every_token_and_what_it_was_written_from(writer, tmp_path):
    out = tmp_path / "written.json"
    glasshead("generate", writer, PROMPT, "a", "--tokens", 3, "--method", "gradient", "--target", "entropy", "--out", out)  # fmt: skip  # noqa: E501
    first, second = json.loads(out.read_text(encoding="utf-8"))
    assert [first["start"], second["start"]] == [4, 1]
    assert [one["method"] for one in first["maps"]] == ["gradient"]
    assert first["maps"][0]["target"] == "entropy"
    assert first["maps"][0]["values"] == pytest.approx(
        [token["entropy"] for token in first["answer_tokens"]], rel=1e-4
    )
    assert [len(row) for row in first["maps"][0]["scores"]] == [4, 5, 6]


def test_a_page_has_every_head_and_erasure(writer, tmp_path):
    glasshead("generate", writer, PROMPT, "--tokens", 3, "--out", tmp_path / "written.html")
    page = (tmp_path / "written.html").read_text(encoding="utf-8")
    (text,) = json.loads(re.search(r"const TEXTS = (.*);", page)[1])
    assert len(text["maps"]) == 2 * 3 + 1


def test_prompts_come_from_a_file_and_methods_stand_in_the_table(writer, tmp_path):
    (tmp_path / "prompts.txt").write_text("the film\na plot\n", encoding="utf-8")
    said = glasshead(
        "generate", writer, "--file", tmp_path / "prompts.txt", "--tokens", 2, "--method", "gradient"
    ).stdout
    assert said.count("perplexity") == 2
    assert "gradient" in said


def test_an_empty_prompt_begins_a_text(writer):
    assert "2 tokens" in glasshead("generate", writer, "", "--tokens", 2).stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((PROMPT, "--strategy", "nuclear=0.9"), "did you mean 'nucleus'"),
        ((PROMPT, "--strategy", "contrastive=0.6"), "choose nucleus"),
        ((PROMPT, "--intervals"), "--intervals are for --method attention"),
        ((PROMPT, "--tokens", 0), "'--tokens': must be at least 1"),
        ((PROMPT, "--method", "erasure-mean"), "did you mean 'erasure-mean-embedding'"),
        ((PROMPT, "--method", "erasure-mean-embedding", "--target", "rating"), "gives no rating"),
        ((" ".join(["film"] * 64),), "64 tokens"),
        ((PROMPT, "--out", "written.svg"), ".html or .json"),
        ((), "give a text"),
    ],
)
def test_refusals(writer, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    assert words in refusal(tmp_path, "generate", writer, *arguments)


def test_models_that_write_nothing_are_refused(tmp_path):
    family = FAMILIES["Bert"]
    family.build().save_pretrained(tmp_path / "bert")
    family.tokenizer().save_pretrained(tmp_path / "bert")
    assert "writes no text" in refusal(tmp_path, "generate", tmp_path / "bert", "a film")
    masked = hf.BertForMaskedLM(FAMILIES["Bert"].build().config)
    masked.save_pretrained(tmp_path / "masked")
    FAMILIES["Bert"].tokenizer().save_pretrained(tmp_path / "masked")
    said = refusal(tmp_path, "generate", tmp_path / "masked", "a film")
    assert "BertForMaskedLM writes no text" in said
    assert "ForConditionalGeneration" in said


def test_an_encoder_decoder_answers(tmp_path):
    torch.manual_seed(0)
    model = hf.T5ForConditionalGeneration(FAMILIES["T5"].build().config)
    model.save_pretrained(tmp_path / "t5")
    FAMILIES["T5"].tokenizer().save_pretrained(tmp_path / "t5")
    page = tmp_path / "written.html"
    glasshead("generate", tmp_path / "t5", "a warm film", "--tokens", 3, "--out", page)
    assert "cross-attention to the source" in page.read_text(encoding="utf-8")
    said = refusal(tmp_path, "explain", tmp_path / "t5", "a warm film")
    assert "writes one text for another" in said

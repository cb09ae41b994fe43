"""Kinds of data that people have, as typed: what each is read from, and what to type where it is not."""

import json

import pytest
from datasets import ClassLabel, Dataset, DatasetDict, Features, Value
from openpyxl import Workbook
from pandas.testing import assert_frame_equal

import glasshead as front_door
from classifier_families import FAMILIES
from glasshead.data import LoadOptions
from slow_cases import slow_but
from typed import glasshead, refusal

TEXTS = [f"a warm , naïve film number {number}" for number in range(8)]
LABELS = ["LABEL_0", "LABEL_1"] * 4
ROWS = [{"text": text, "label": label} for text, label in zip(TEXTS, LABELS, strict=True)]
SEMICOLONS = "\n".join(["text;label", *(f"{row['text']};{row['label']}" for row in ROWS)])
NAMED = ("--encoding", "latin-1", "--separator", ";")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kinds") / "model"
    FAMILIES["Bert"].build(2).save_pretrained(folder)
    FAMILIES["Bert"].tokenizer().save_pretrained(folder)
    return folder


def rows_of(size):
    features = Features({"text": Value("string"), "label": ClassLabel(names=["LABEL_0", "LABEL_1"])})
    codes = [LABELS.index(label) for label in LABELS[:size]]
    return Dataset.from_dict({"text": TEXTS[:size], "label": codes}, features=features)


def as_spreadsheet(path):
    book = Workbook()
    for row in (("text", "label"), *zip(TEXTS, LABELS, strict=True)):
        book.active.append(row)
    book.save(path)


KINDS = {
    "rows": rows_of(8).save_to_disk,
    "list.json": lambda path: path.write_text(json.dumps(ROWS, indent=1)),
    "object.json": lambda path: path.write_text(json.dumps({"data": ROWS})),
    "sheet.xlsx": as_spreadsheet,
    "semicolons.csv": lambda path: path.write_bytes(SEMICOLONS.encode("latin-1")),
}
"""How each kind is written; all hold the same rows."""


@pytest.mark.slow
@pytest.mark.parametrize("name", slow_but("rows", "semicolons.csv", of=KINDS))
def test_every_kind_of_data_is_audited_and_has_the_same_heads(model, tmp_path, name):
    KINDS[name](tmp_path / name)
    options = NAMED if name.endswith(".csv") else ()
    out = tmp_path / "audit"
    glasshead("audit", model, tmp_path / name, "--audits", "performance", *options, "--out", out)
    facts = json.loads((out / "card.json").read_text())["facts"]
    assert (facts["examples"], facts["data"]) == (8, str(tmp_path / name))
    named = {"encoding": "latin-1", "separator": ";"} if options else {}
    heads = front_door.heads(model, tmp_path / name, **named)
    assert_frame_equal(heads.to_pandas(), front_door.heads(model, ROWS).to_pandas())


def test_the_test_split_of_a_saved_dictionary_is_audited(model, tmp_path):
    DatasetDict(train=rows_of(8), validation=rows_of(4), test=rows_of(6)).save_to_disk(tmp_path / "data")
    options = ("--audits", "performance", "--out", tmp_path / "audit")
    glasshead("audit", model, tmp_path / "data", *options)
    facts = json.loads((tmp_path / "audit" / "card.json").read_text())["facts"]
    assert (facts["examples"], facts["split"]) == (6, "test")


def test_a_run_remembers_how_its_file_was_read(tmp_path):
    path = tmp_path / "reviews.csv"
    path.write_bytes("\n".join([SEMICOLONS, *SEMICOLONS.split("\n")[1:] * 4]).encode("latin-1"))
    run, out = tmp_path / "run", tmp_path / "audit"
    glasshead("train", path, "--epochs", 1, *NAMED, "--out", run)
    options = json.loads((run / "run.json").read_text())["data"]["options"]
    assert LoadOptions(**options) == LoadOptions(encoding="latin-1", separator=";")
    glasshead("audit", run, path, "--split", "all", "--audits", "performance", "--out", out)
    assert json.loads((out / "card.json").read_text())["facts"]["examples"] == 40


def test_a_language_model_is_trained_on_such_a_file(tmp_path):
    path = tmp_path / "reviews.csv"
    path.write_bytes(("\n".join([SEMICOLONS, *SEMICOLONS.split("\n")[1:] * 9])).encode("latin-1"))
    small = ("--set", "hidden_size=16", "--set", "num_hidden_layers=1", "--set", "num_attention_heads=2")
    settings = ("--model", "gpt2", "--tokenizer", "word", *small, "--epochs", 1, "--max-length", 16)
    glasshead("train", path, *settings, *NAMED, "--out", tmp_path / "run")
    assert "naïve" in (tmp_path / "run" / "tokenizer.json").read_text(encoding="utf-8")


def test_what_to_type_is_said_one_after_the_other(model, tmp_path):
    path, out = tmp_path / "reviews.csv", ("--out", tmp_path / "audit")
    KINDS["semicolons.csv"](path)
    assert "such as --encoding latin-1, or" in refusal(tmp_path, "audit", model, path, *out)
    said = refusal(tmp_path, "audit", model, path, *NAMED[:2], *out)
    assert said.endswith("separates its columns by ';': read it with --separator ';'")
    assert "is UTF-8 and not latin-1: read it with --encoding utf-8" in refusal(
        tmp_path, "audit", model, written_in_utf8(path), *NAMED, *out
    )
    assert "--encoding must be a name such as latin-1" in refusal(
        tmp_path, "audit", model, path, "--encoding", "latn", *out
    )


def written_in_utf8(path):
    other = path.with_name("utf8.csv")
    other.write_text(SEMICOLONS, encoding="utf-8")
    return other

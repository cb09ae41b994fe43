"""`glasshead.audit`: any classifier, on anybody's data."""

import pandas as pd
import pytest
from datasets import ClassLabel, Dataset, Features, Value

import glasshead
from classifier_data import named_bert, table
from classifier_families import FAMILIES
from classifier_families import labelled_texts as rows
from glasshead.errors import InputError


def test_without_train_data_the_classes_of_words_are_not_known(tmp_path):
    model, tokenizer = (
        FAMILIES["Bert"].build(labels=2, id2label={0: "bad", 1: "good"}),
        FAMILIES["Bert"].tokenizer(),
    )
    data = table(tmp_path / "data.csv")
    card = glasshead.audit(model, data, tokenizer=tokenizer, limit=6, draws=2)
    assert "tokens" not in {finding.audit for finding in card.findings}
    assert any(
        "'tokens' was left out: the classes of words come from" in note for note in card.facts["notes"]
    )
    with pytest.raises(InputError, match="give them"):
        glasshead.audit(model, data, tokenizer=tokenizer, limit=6, audits=["tokens"])


def test_classes_are_matched_by_name_and_the_labels_move_with_them(tmp_path):
    model, tokenizer = (
        FAMILIES["Bert"].build(labels=2, id2label={0: "GOOD", 1: "BAD"}),
        FAMILIES["Bert"].tokenizer(),
    )
    same = FAMILIES["Bert"].build(labels=2, id2label={0: "bad", 1: "good"})
    data = table(tmp_path / "data.csv")
    options = {"tokenizer": tokenizer, "audits": ["performance"]}
    turned = glasshead.audit(model, data, **options)
    straight = glasshead.audit(same, data, **options)
    assert turned.facts["accuracy"] == pytest.approx(1 - straight.facts["accuracy"])
    assert any("matched to the model's by name, ignoring case" in note for note in turned.facts["notes"])
    unnamed = FAMILIES["Bert"].build(labels=2)
    with pytest.raises(InputError, match="as in LABEL_0=bad, LABEL_1=good"):
        glasshead.audit(unnamed, data, **options)


def test_data_in_memory_and_all_rows_of_a_file():
    family = FAMILIES["Bert"]
    model, tokenizer = family.build(labels=2), family.tokenizer()
    texts, labels = rows(40, ("0", "1"))
    features = Features({"sentence": Value("string"), "label": ClassLabel(names=["0", "1"])})
    columns = {"sentence": texts, "label": [int(label) for label in labels]}
    data = Dataset.from_dict(columns, features=features)
    card = glasshead.audit(
        model, data, tokenizer=tokenizer, audits=["performance"], load_options={"text_column": "sentence"}
    )
    assert card.facts["examples"] == 40
    assert any("LABEL_0 is taken for the data's class 0" in note for note in card.facts["notes"])


def test_a_data_frame_and_a_list_of_rows_are_data():
    model, tokenizer = named_bert()
    texts, labels = rows(12, ("bad", "good"))
    frame = pd.DataFrame({"text": texts, "label": labels}, index=range(5, 17))
    options = {"tokenizer": tokenizer, "audits": ["performance"]}
    card = glasshead.audit(model, frame, **options)
    same = glasshead.audit(model, frame.to_dict("records"), **options)
    assert card.facts["examples"] == same.facts["examples"] == 12
    assert card.facts["accuracy"] == same.facts["accuracy"]
    two = glasshead.audit(model, frame.to_dict("records")[:2], **options)
    assert two.facts["examples"] == 2
    for data in (None, 3, [], [texts]):
        with pytest.raises(InputError, match="cannot be read as data"):
            glasshead.audit(model, data, **options)


def test_signed_attention_in_somebodys_model_gets_its_gauge_from_train_data(tmp_path):
    family = FAMILIES["Bert"]
    model = glasshead.plug(family.build(labels=2, id2label={0: "bad", 1: "good"}), "tanhmax")
    data = table(tmp_path / "data.csv", 90)
    options = {"tokenizer": family.tokenizer(), "audits": ["agreement"], "limit": 20}
    raw = glasshead.audit(model, data, **options)
    fixed = glasshead.audit(model, data, train=data, **options)
    assert raw.facts["signed"]
    assert raw.facts["gauge"] is None
    assert fixed.facts["gauge"] is not None
    assert getattr(model.config, "gauge", None) is None
    explained = glasshead.explain(model, ["a warm film", "a bad film"], tokenizer=family.tokenizer())
    assert [note for note in explained.notes if note.startswith("raw signs")] != []
    plain, tokenizer = named_bert()
    unsigned = glasshead.explain(plain, "a warm film", tokenizer=tokenizer)
    assert not [note for note in unsigned.notes if note.startswith("raw signs")]


def test_what_it_cannot_do_is_one_line(tmp_path):
    model, tokenizer = named_bert()
    data = table(tmp_path / "data.csv")
    for says, options in {
        "audit has no option 'lmit'": {"lmit": 3},
        "unknown audit": {"audits": ["agrement"]},
        "has no split 'tset'": {"split": "tset"},
        "`limit` must be at least 1, not 0": {"limit": 0},
    }.items():
        with pytest.raises(InputError, match=says) as refusal:
            glasshead.audit(model, data, tokenizer=tokenizer, **options)
        assert "\n" not in str(refusal.value)
    rating = FAMILIES["Bert"].build(labels=1)
    with pytest.raises(InputError):
        glasshead.audit(rating, data, tokenizer=tokenizer)


def test_one_text_alone_is_audited_like_any_other(tmp_path):
    model, tokenizer = named_bert()
    card = glasshead.audit(
        model, table(tmp_path / "data.csv"), tokenizer=tokenizer, limit=1, draws=2, audits=["perturbation"]
    )
    assert {finding.audit for finding in card.findings} == {"perturbation"}
    assert all(finding.n <= 1 for finding in card.findings)


def test_the_audit_of_heads_alone_opens_the_model_as_it_was_asked_to(tmp_path):
    model, tokenizer = named_bert()
    data = table(tmp_path / "data.csv")
    options = {"tokenizer": tokenizer, "audits": ["identifiability"], "limit": 2}
    for says, asked in {
        "no class 'zz'": {"labels": {"zz": "y"}},
        "abacus": {"device": "abacus"},
        "float16": {"dtype": "float16"},
        "`train` is for audits of classes": {"train": data},
    }.items():
        with pytest.raises(InputError, match=says):
            glasshead.audit(model, data, **options, **asked)

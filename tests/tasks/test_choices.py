"""A model that chooses is asked about one choice: p, and what decides it, are known."""

import json
from functools import cache

import numpy as np
import pytest
import torch
import transformers as hf
from datasets import Dataset

import glasshead
from classifier_families import FAMILIES, WORDS
from glasshead import explain
from glasshead.data import LoadOptions, read_offered
from glasshead.errors import InputError
from glasshead.explainers import EXPLAINERS
from slow_cases import own_methods

FAMILY = FAMILIES["Bert"]
QUESTION = "a warm , funny film"
CHOICES = ["bad film", "good film not dull", "plot"]
OTHERS = [word for word in WORDS.split() if word not in ("good", "bad")]


def chooser(family="Bert"):
    """A tiny model of multiple choice."""
    config = FAMILIES[family].config(**FAMILIES[family].options)
    torch.manual_seed(0)
    model = hf.AutoModelForMultipleChoice.from_config(config).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    return model, FAMILIES[family].tokenizer()


def as_the_model_reads(tokenizer, choices=CHOICES):
    """All choices behind the question, [1, choices, n]."""
    read = tokenizer([QUESTION] * len(choices), choices, padding=True, return_tensors="pt")
    return {name: tensor[None] for name, tensor in read.items()}


def planted_rows(random, count, number=3):
    """Choices of which one has the word “good”, and the others “bad” or neither: that one is right."""
    rows = []
    for _ in range(count):
        sizes = random.integers(2, 7, number)  # lengths differ, so that one word less is nothing new
        choices = [[str(word) for word in random.choice(OTHERS, size, replace=False)] for size in sizes]
        right, wrong = (int(place) for place in random.choice(number, 2, replace=False))
        for own, word in ((right, "good"), (wrong, "bad")):
            choices[own][random.integers(len(choices[own]))] = word
        question = " ".join(str(word) for word in random.choice(OTHERS, 3, replace=False))
        rows.append({"question": question, "choices": [" ".join(one) for one in choices], "label": right})
    return rows


@cache
def planted():
    """A model that has learnt that, and rows that it has not seen."""
    torch.manual_seed(0)
    config = FAMILY.config(**FAMILY.options, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    model, tokenizer = hf.BertForMultipleChoice(config), FAMILY.tokenizer()
    for parameter in model.parameters():
        if parameter.ndim > 1:  # content is told apart from the first step on
            torch.nn.init.normal_(parameter, std=0.4)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    random = np.random.default_rng(0)
    for _ in range(250):
        rows = planted_rows(random, 32)
        firsts = [row["question"] for row in rows for _ in row["choices"]]
        seconds = [choice for row in rows for choice in row["choices"]]
        read = tokenizer(firsts, seconds, padding=True, return_tensors="pt")
        labels = torch.tensor([row["label"] for row in rows])
        optimizer.zero_grad()
        given = {name: tensor.unflatten(0, (len(rows), -1)) for name, tensor in read.items()}
        model(**given, labels=labels).loss.backward()
        optimizer.step()
    return model.eval(), tokenizer, planted_rows(random, 60)


@pytest.mark.parametrize("family", ["Bert", "Roberta", "DistilBert", "Electra"])
def test_probabilities_are_those_of_the_model(family):
    model, tokenizer = chooser(family)
    with torch.no_grad():
        expected = model(**as_the_model_reads(tokenizer)).logits.softmax(-1)[0]
    found = explain(model, QUESTION, choices=CHOICES, tokenizer=tokenizer, method="gradient")
    np.testing.assert_allclose([one.prediction for one in found], expected, atol=1e-5)
    assert [one.predicted for one in found] == [
        "chosen" if number == int(expected.argmax()) else "the strongest other"
        for number in range(len(CHOICES))
    ]
    assert [one.text for one in found] == [f"{QUESTION}\n{choice}" for choice in CHOICES]


def test_gradients_and_erasures_are_those_of_the_whole_model():
    model, tokenizer = chooser()
    read = as_the_model_reads(tokenizer)
    vectors = model.get_input_embeddings()(read["input_ids"]).detach().requires_grad_()
    others = {name: value for name, value in read.items() if name != "input_ids"}
    value = model(inputs_embeds=vectors, **others).logits.softmax(-1)[0, 1]
    value.backward()
    asked = {"choices": CHOICES, "tokenizer": tokenizer, "target": CHOICES[1]}
    (one,) = explain(model, QUESTION, method="gradient", **asked)
    n = len(one.scores)
    np.testing.assert_allclose(one.scores, (vectors * vectors.grad)[0, 1, :n].sum(-1).detach(), atol=1e-5)
    assert not vectors.grad[0, 0].allclose(torch.zeros(()))  # the other choices have derivatives of their own
    (one,) = explain(model, QUESTION, method="erasure-mask-token", **asked)
    for token in range(1, n - 1):
        ids = read["input_ids"].clone()
        ids[0, 1, token] = tokenizer.mask_token_id
        with torch.no_grad():
            without = model(input_ids=ids, **others).logits.softmax(-1)[0, 1]
        if tokenizer.sep_token_id != read["input_ids"][0, 1, token]:
            assert one.scores[token] == pytest.approx(float(value.detach() - without), abs=1e-5)


@pytest.mark.parametrize("method", own_methods())
def test_each_method_works_alone_as_in_a_batch(method):
    model, tokenizer = chooser()
    if EXPLAINERS[method].for_images:
        with pytest.raises(InputError):
            explain(model, QUESTION, choices=CHOICES, tokenizer=tokenizer, method=method)
        return
    asked = {"choices": CHOICES, "tokenizer": tokenizer, "method": method, "target": 1}
    together = explain(model, [QUESTION, "bad"], **asked)
    (alone,) = explain(model, "bad", **asked)
    assert together[1].prediction == pytest.approx(alone.prediction, abs=1e-5)
    if method != "random":
        np.testing.assert_allclose(together[1].scores, alone.scores, atol=1e-4)


@pytest.mark.slow
def test_the_word_that_decides_is_found():
    model, tokenizer, rows = planted()
    hits = {"erasure-delete": [], "random": []}
    for row in rows:
        for method, found in hits.items():
            asked = {"choices": row["choices"], "target": row["label"], "method": method}
            (one,) = explain(model, row["question"], tokenizer=tokenizer, **asked)
            if one.predicted == "chosen":
                found.append(one.tokens[int(np.argmax(one.scores))] == "good")
    assert len(hits["erasure-delete"]) >= 50
    assert np.mean(hits["erasure-delete"]) >= 0.95
    assert np.mean(hits["random"]) < 0.5


def test_what_stands_before_every_choice_is_a_second_text():
    model, tokenizer = chooser()
    (one,) = explain(model, QUESTION, pairs="the", choices=CHOICES, target=2, tokenizer=tokenizer)
    (other,) = explain(
        model, QUESTION, choices=[f"the {one}" for one in CHOICES], target=2, tokenizer=tokenizer
    )
    assert one.prediction == pytest.approx(other.prediction, abs=1e-6)
    assert one.scores == pytest.approx(other.scores, abs=1e-6)


def test_lines_of_a_second_text_are_choices():
    model, tokenizer = chooser()
    named = explain(model, QUESTION, choices=CHOICES, tokenizer=tokenizer)
    lines = explain(model, QUESTION, pairs="\n".join(CHOICES), tokenizer=tokenizer)
    assert [one.prediction for one in named] == [one.prediction for one in lines]


def test_one_choice_beside_texts_with_several_is_refused():
    model, tokenizer = chooser()
    with pytest.raises(InputError, match="explain these separately"):
        explain(model, [QUESTION, QUESTION], pairs=["good", "good\nbad"], tokenizer=tokenizer)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({}, "choices"),
        ({"choices": ["one"]}, "two or more"),
        ({"choices": ["one", "one"]}, "each text once"),
        ({"choices": ["one", " "]}, "empty text"),
        ({"choices": CHOICES, "target": "no such"}, "no such"),
        ({"choices": CHOICES, "template": "a {}"}, "template"),
        ({"template": "a {}"}, "choices"),
        ({"choices": CHOICES, "at": 1}, "at"),
    ],
)
def test_what_cannot_be_asked_is_refused(asked, message):
    model, tokenizer = chooser()
    with pytest.raises(InputError, match=message):
        explain(model, QUESTION, tokenizer=tokenizer, **asked)


def test_a_classifier_does_not_choose():
    config = FAMILY.config(**FAMILY.options, id2label={0: "bad", 1: "good"})
    model = hf.BertForSequenceClassification(config)
    with pytest.raises(InputError, match="entailment"):
        explain(model, QUESTION, choices=CHOICES, tokenizer=FAMILY.tokenizer())


FORMATS = {
    "choices and a number": {"question": "q", "choices": ["a b", "c"], "label": 1},
    "letters": {"question": "q", "options": ["a b", "c"], "answer": "B"},
    "texts with letters": {"question": "q", "choices": {"text": ["a b", "c"], "label": ["1", "2"]},
                           "answerKey": "2"},
    "the answer itself": {"question": "q", "choices": ["a b", "c"], "answer": "c"},
    "numbered columns": {"goal": "q", "sol1": "a b", "sol2": "c", "label": 1},
    "numbers from nought": {"sent1": "q", "ending0": "a b", "ending1": "c", "label": "1"},
}  # fmt: skip


@pytest.mark.parametrize("name", FORMATS)
def test_data_as_they_are_published(name, tmp_path):
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps(FORMATS[name]) + "\n")
    (row,) = read_offered(file, "all", LoadOptions())
    assert (row.text, row.seconds, row.right) == ("q", ("a b", "c"), 1)


def test_a_premise_is_a_passage():
    row = {
        "premise": "it rained",
        "choice1": "wet",
        "choice2": "dry",
        "question": "effect",
        "idx": 3,
        "label": 0,
    }
    (read,) = read_offered(Dataset.from_list([row]), "all", LoadOptions())
    assert (read.text, read.seconds, read.right) == ("it rained", ("effect wet", "effect dry"), 0)


def test_scores_are_the_same_beside_texts_with_more_choices():
    model, tokenizer = chooser()
    few, many = "good\nbad", "good\nbad\nplot\nfilm\nnot dull"
    for method in ("attn-lrp", "gradient-attention-signed", "gradient"):
        asked = {"tokenizer": tokenizer, "method": method}
        together = explain(model, [QUESTION, QUESTION], pairs=[few, many], **asked)
        alone = explain(model, QUESTION, pairs=few, **asked)
        for one, other in zip(together[:2], alone, strict=True):
            np.testing.assert_allclose(one.scores, other.scores, rtol=1e-3, atol=1e-6)


def test_a_passage_is_read_before_its_question():
    row = {"article": "long", "question": "who", "options": ["he", "she"], "answer": "A"}
    (read,) = read_offered(Dataset.from_list([row]), "all", LoadOptions())
    assert (read.text, read.seconds, read.right) == ("long", ("who he", "who she"), 0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"label": 5}, "right choice"),
        ({"choices": ["2", "b", "c"], "label": "2"}, "the number of another"),
        ({"choices": ["a"]}, "two or more"),
        ({"question": 3}, "no text"),
    ],
)
def test_rows_that_ask_nothing_are_named(change, message, tmp_path):
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps({"question": "q", "choices": ["a", "b"], "label": 0} | change) + "\n")
    with pytest.raises(InputError, match=f"row 1.*{message}"):
        read_offered(file, "all", LoadOptions())


def test_numbers_that_count_from_1_are_named():
    rows = [{"question": "q", "option1": "a", "option2": "b", "answer": number} for number in "1221"]
    with pytest.raises(InputError, match="numbered from 1"):
        read_offered(Dataset.from_list(rows), "all", LoadOptions())


def test_an_audit_asks_about_right_and_wrong_choices():
    model, tokenizer, rows = planted()
    card = glasshead.audit(
        model, Dataset.from_list(rows), tokenizer=tokenizer, audits=["performance", "faithfulness"], draws=2
    )
    assert any("in half of the" in note for note in card.facts["notes"])
    rows = [row for row in card.findings if (row.audit, row.statistic) == ("performance", "accuracy")]
    assert rows[0].estimate > 0.9

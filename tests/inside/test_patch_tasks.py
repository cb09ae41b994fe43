"""Exchanges in models that are asked about a word, a label or a number: the task's target is the score."""

import numpy as np
import pytest
import torch
import transformers as hf

import glasshead
from classifier_families import FAMILIES, word_tokenizer
from glasshead.errors import InputError

CLEAN, CORRUPTED = "the film was not very good", "the film was not very bad"
PAIR = {"clean": CLEAN, "corrupted": CORRUPTED}


def drawn(auto, **changes):
    """A BERT with a head of some kind, whose weights all matter."""
    torch.manual_seed(0)
    family = FAMILIES["Bert"]
    model = auto.from_config(family.config(**{**family.options, **changes})).eval()
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim > 1:
                weight.normal_(0.0, 0.3)
    return model


@torch.no_grad()
def logits(model, tokenizer, text):
    return model(**tokenizer(text, return_tensors="pt")).logits[0]


def check(found, clean, corrupted):
    """Scores are those of the model; the stream before the first layer at the one token that differs is all
    of the difference, at other tokens nothing."""
    pair = found.pairs[0]
    np.testing.assert_allclose([pair.score, pair.other], [float(corrupted), float(clean)], atol=1e-4)
    changes = np.array(found.changes[0], dtype=float)[0]
    place = next(
        back
        for back, (one, other) in enumerate(zip(pair.clean[::-1], pair.corrupted[::-1], strict=True))
        if one != other
    )
    assert changes[place] == pytest.approx(pair.other - pair.score, abs=1e-4)
    assert np.abs(np.delete(changes, place)).max() < 1e-5 < abs(changes[place])


@pytest.mark.parametrize(("at", "token"), [("film", 2), (1, 2), ("1", 2), (4.0, 5)])
def test_a_tagger_is_asked_about_the_word_at_a_place(at, token):
    model, tokenizer = drawn(hf.AutoModelForTokenClassification), word_tokenizer()
    rows = [{**PAIR, "answer": "LABEL_1", "against": "LABEL_0", "at": at}]
    found = glasshead.patch(model, rows, tokenizer=tokenizer, sites="residual")
    values = [logits(model, tokenizer, text)[token].log_softmax(-1) for text in (CLEAN, CORRUPTED)]
    check(found, *(one[1] - one[0] for one in values))
    assert found.facts["unit"] == "log-odds"


def test_a_hidden_word_is_what_is_asked_about():
    model, tokenizer = drawn(hf.AutoModelForMaskedLM), word_tokenizer()
    texts = ["the [MASK] was good and", "the [MASK] was bad and"]
    rows = [{"clean": texts[0], "corrupted": texts[1], "answer": "film"}]
    found = glasshead.patch(model, rows, tokenizer=tokenizer, sites="residual")
    answer = tokenizer.convert_tokens_to_ids("film")
    check(found, *(logits(model, tokenizer, text)[2].log_softmax(-1)[answer] for text in texts))
    assert found.facts["unit"] == "log-probability"
    named = [{**PAIR, "answer": "film", "at": "film"}]
    hidden = glasshead.patch(model, named, tokenizer=tokenizer, sites="residual")
    assert hidden.pairs[0].clean[2] == "[MASK]"


def test_a_label_of_its_own_is_yes_or_no():
    changes = {"problem_type": "multi_label_classification", "num_labels": 3}
    model, tokenizer = drawn(hf.AutoModelForSequenceClassification, **changes), word_tokenizer()
    values = [logits(model, tokenizer, text)[2] for text in (CLEAN, CORRUPTED)]
    rows = [{**PAIR, "answer": "LABEL_2"}]
    found = glasshead.patch(model, rows, tokenizer=tokenizer, sites="residual")
    check(found, *map(torch.nn.functional.logsigmoid, values))
    rows = [{**PAIR, "answer": "LABEL_2", "against": "not LABEL_2"}]
    check(glasshead.patch(model, rows, tokenizer=tokenizer, sites="residual"), *values)


@pytest.mark.parametrize("outputs", [1, 3])
def test_a_rating_is_its_own_score(outputs):
    changes = {"problem_type": "regression", "num_labels": outputs}
    model, tokenizer = drawn(hf.AutoModelForSequenceClassification, **changes), word_tokenizer()
    values = [logits(model, tokenizer, text)[outputs - 1] for text in (CLEAN, CORRUPTED)]
    rows = [{**PAIR, "answer": "LABEL_2"}] if outputs > 1 else [PAIR]
    found = glasshead.patch(model, rows, tokenizer=tokenizer, sites="residual")
    check(found, *values)
    assert found.facts["unit"] == "rating"
    assert found.pairs[0].answer == f"LABEL_{outputs - 1}"


def test_what_brings_a_number_back_is_tested_against_a_random_change():
    changes = {"problem_type": "regression", "num_labels": 1}
    model, tokenizer = drawn(hf.AutoModelForSequenceClassification, **changes), word_tokenizer()
    words = ["warm", "cold", "good", "bad", "film", "plot", "very", "not", "the", "was"]
    rows = [{"clean": f"a {one} good film", "corrupted": f"a {one} bad film"} for one in words]
    found = glasshead.patch(model, rows, tokenizer=tokenizer)
    assert found.facts["null"] == "random change"
    assert "random change of the same size" in " ".join(found.remarks)
    assert all(site.null is not None for site in found.sites)


@pytest.mark.parametrize(
    ("auto", "row", "message"),
    [
        (hf.AutoModelForTokenClassification, {"answer": 1}, "has .* possible questions: .* column 'at'"),
        (
            hf.AutoModelForTokenClassification,
            {"answer": 1, "at": "unheard"},
            "column 'at' of pair 1 is 'unheard'",
        ),
        (hf.AutoModelForTokenClassification, {"answer": "NOUN", "at": 1}, "no class 'NOUN'"),
        (
            hf.AutoModelForSequenceClassification,
            {"answer": 1, "at": 1},
            "column 'at' of pair 1 is for models",
        ),
        (hf.AutoModelForSequenceClassification, {}, "no column 'answer'"),
        (hf.AutoModelForQuestionAnswering, {"answer": 1}, "reads two texts"),
    ],
)
def test_what_a_task_cannot_be_asked_is_said(auto, row, message):
    with pytest.raises(InputError, match=message):
        glasshead.patch(drawn(auto), [{**PAIR, **row}], tokenizer=word_tokenizer())


def test_both_texts_are_asked_about_the_same_place():
    model, tokenizer = drawn(hf.AutoModelForMaskedLM), word_tokenizer()
    rows = [{"clean": "the [MASK] was good", "corrupted": "the film [MASK] good", "answer": "film"}]
    with pytest.raises(InputError, match="token 2 of the clean text and token 3 of the corrupted one"):
        glasshead.patch(model, rows, tokenizer=tokenizer)

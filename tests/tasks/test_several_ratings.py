"""A model of several ratings is asked about one of them: as a model of this rating alone."""

import json
from functools import cache

import numpy as np
import pytest
import torch
import transformers as hf

import glasshead
from classifier_families import FAMILIES, TEXTS, WORDS
from glasshead import explain
from glasshead.errors import InputError
from glasshead.explainers import EXPLAINERS

FAMILY = FAMILIES["Bert"]
NAMES = ["grammar", "wit", "length"]


@cache
def rater():
    """A tiny model that gives a text three numbers."""
    config = FAMILY.config(**FAMILY.options)
    config.num_labels, config.id2label = 3, dict(enumerate(NAMES))
    config.problem_type = "regression"
    torch.manual_seed(0)
    model = hf.BertForSequenceClassification(config).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    return model, FAMILY.tokenizer()


def rater_of(number):
    """The same model with one output."""
    model, _ = rater()
    config = FAMILY.config(**FAMILY.options)
    config.num_labels, config.problem_type = 1, "regression"
    alone = hf.BertForSequenceClassification(config).eval()
    weights = model.state_dict()
    for name in ("classifier.weight", "classifier.bias"):
        weights[name] = weights[name][number : number + 1]
    alone.load_state_dict(weights)
    return alone


METHODS = [name for name in EXPLAINERS if EXPLAINERS[name].package is None and name != "random"]


@pytest.mark.parametrize("method", METHODS)
def test_each_method_explains_it_as_of_a_model_of_this_rating_alone(method):
    model, tokenizer = rater()
    if EXPLAINERS[method].for_images:
        with pytest.raises(InputError, match=r"but these are texts|cannot remove a part of texts"):
            explain(model, TEXTS, tokenizer=tokenizer, method=method, target="wit")
        return
    expected = explain(rater_of(1), TEXTS, tokenizer=tokenizer, method=method)
    found = explain(model, TEXTS, tokenizer=tokenizer, method=method, target="wit")
    for one, other in zip(found, expected, strict=True):
        assert (one.asked, one.target) == ("wit", "rating")
        assert one.prediction == pytest.approx(other.prediction, abs=1e-5)
        np.testing.assert_allclose(one.scores, other.scores, atol=1e-5)


@cache
def planted():
    """A model that has learnt how often “good” and not “bad” is there, beside the number of words, and texts
    that it has not seen."""
    torch.manual_seed(0)
    config = FAMILY.config(**FAMILY.options, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    config.num_labels, config.problem_type = 2, "regression"
    config.id2label = {0: "wit", 1: "length"}
    model, tokenizer = hf.BertForSequenceClassification(config), FAMILY.tokenizer()
    for parameter in model.parameters():
        if parameter.ndim > 1:
            torch.nn.init.normal_(parameter, std=0.3)
    optimizer, random = torch.optim.AdamW(model.parameters(), lr=3e-3), np.random.default_rng(0)
    for _ in range(300):
        texts, ratings = planted_texts(random, 64)
        given = tokenizer(texts, padding=True, return_tensors="pt")
        optimizer.zero_grad()
        model(**given, labels=torch.tensor(ratings, dtype=torch.float32)).loss.backward()
        optimizer.step()
    return model.eval(), tokenizer, planted_texts(random, 40)


def planted_texts(random, count):
    """Texts with one of two words, which decides one rating; their number of words is the other."""
    others = [word for word in WORDS.split() if word not in ("good", "bad")]
    texts, ratings = [], []
    for _ in range(count):
        words = [str(word) for word in random.choice(others, random.integers(3, 8))]
        decides = ("bad", "good")[random.integers(2)]
        words.insert(int(random.integers(len(words) + 1)), decides)
        texts.append(" ".join(words))
        ratings.append([1.0 if decides == "good" else -1.0, len(words) / 4])
    return texts, ratings


@pytest.mark.slow
def test_the_word_that_decides_a_rating_is_found():
    model, tokenizer, (texts, ratings) = planted()

    def hits(method):
        found = explain(model, texts, tokenizer=tokenizer, method=method, target="wit")
        assert all(abs(one.prediction - own[0]) < 0.5 for one, own in zip(found, ratings, strict=True))
        best = [max((abs(s), t) for s, t in zip(one.scores, one.tokens, strict=True))[1] for one in found]
        return np.mean([word in ("good", "bad") for word in best])

    assert hits("erasure-mean-embedding") >= 0.95
    assert hits("random") < 0.5


def test_left_out_each_is_explained():
    model, tokenizer = rater()
    found = explain(model, TEXTS[:2], tokenizer=tokenizer, method="gradient")
    assert [one.asked for one in found] == NAMES * 2
    with torch.no_grad():
        numbers = model(**tokenizer(TEXTS[0], return_tensors="pt")).logits[0]
    assert [one.prediction for one in found[:3]] == pytest.approx(numbers.tolist(), abs=1e-5)
    assert "for “wit”" in repr(found[1])


@pytest.mark.parametrize("shape", ["columns", "lists", "file"])
def test_a_card_is_that_of_this_rating_alone(shape, tmp_path):
    model, tokenizer = rater()
    random = np.random.default_rng(0)
    texts = [" ".join(random.choice(WORDS.split(), 7)) for _ in range(30)]
    ratings = random.normal(size=(30, 3))
    if shape == "lists":
        rows = [{"text": text, "labels": own.tolist()} for text, own in zip(texts, ratings, strict=True)]
    else:
        rows = [
            {"text": text, **dict(zip(NAMES, own.tolist(), strict=True))}
            for text, own in zip(texts, ratings, strict=True)
        ]
    data = rows
    if shape == "file":
        data = tmp_path / "rated.jsonl"
        data.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    audits = ["performance", "agreement", "faithfulness"]
    card = glasshead.audit(model, data, tokenizer=tokenizer, audits=audits, classes=["wit"])
    alone = [{"text": text, "label": float(own[1])} for text, own in zip(texts, ratings, strict=True)]
    expected = glasshead.audit(rater_of(1), alone, tokenizer=tokenizer, audits=audits)
    assert any("each input is about its rating 'wit'" in note for note in card.facts["notes"])
    for one, other in zip(card.findings, expected.findings, strict=True):
        assert one.estimate == pytest.approx(other.estimate, abs=1e-4, nan_ok=True), one


@pytest.mark.slow
def test_heads_and_rankings():
    model, tokenizer = rater()
    rows = [{"text": text, **dict.fromkeys(NAMES, float(number))} for number, text in enumerate(TEXTS * 2)]
    report = glasshead.heads(model, rows, tokenizer=tokenizer)
    assert any("the rating 'grammar'" in remark for remark in report.remarks)
    ranking = glasshead.rank(
        model, rows, tokenizer=tokenizer, methods=["gradient", "random"], classes=["wit"]
    )
    assert ranking.methods


def test_a_pipeline_and_a_folder(tmp_path):
    model, tokenizer = rater()
    (same,) = explain(model, TEXTS[0], tokenizer=tokenizer, target="wit")
    rate = hf.pipeline("text-classification", model=model, tokenizer=tokenizer, function_to_apply="none")
    (one,) = explain(rate, TEXTS[0], target="wit")
    assert one.scores == pytest.approx(same.scores)
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    (one,) = explain(str(tmp_path), TEXTS[0], target="wit")
    assert one.scores == pytest.approx(same.scores, abs=1e-6)


@pytest.mark.parametrize(
    ("rows", "options", "says"),
    [
        (
            [{"text": "a film", "wit": 1.0}],
            {},
            "must name one rating",
        ),
        ([{"text": "a film", "wit": 1.0}], {"classes": ["taste"]}, "no rating 'taste'"),
        ([{"text": "a film", "other": 1.0}], {"classes": ["wit"]}, "has no column 'wit'"),
        ([{"text": "a film", "labels": [1.0]}], {"classes": ["wit"]}, "row 1 has not 3 ratings"),
        ([{"text": "a film", "wit": "good"}] * 2, {"classes": ["wit"]}, "the rating 'good' is not a number"),
    ],
)
def test_ratings_that_cannot_be_read(rows, options, says):
    model, tokenizer = rater()
    with pytest.raises(InputError, match=says):
        glasshead.audit(model, rows, tokenizer=tokenizer, audits=["performance"], **options)


def test_what_is_no_rating_is_named():
    model, tokenizer = rater()
    with pytest.raises(InputError, match="no rating 'taste'"):
        explain(model, TEXTS[0], tokenizer=tokenizer, target="taste")

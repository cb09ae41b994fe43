"""Faithfulness of ratings: an order that is right about low ratings is as faithful as about high ones."""

import copy

import numpy as np
import pytest
import torch
from datasets import Dataset

from glasshead.audits import audit, build_view
from glasshead.audits.judging.curve_statistics import STATISTICS
from glasshead.audits.measuring.class_scores import choose_prediction_side, token_order
from glasshead.models import PooledClassifier
from glasshead.opening import open_subject
from small import planted_model, planted_texts, tokenizer


def rating_model():
    """Three stars, and two more or less for ``good`` or ``bad``: everything else counts nothing."""
    planted = planted_model("softmax")
    config = copy.deepcopy(planted.config)
    config.update({"num_labels": 1, "problem_type": "regression", "bias": True})
    model = PooledClassifier(config).eval()
    model.load_state_dict(planted.state_dict(), strict=False)
    with torch.no_grad():
        model.classifier.weight.fill_(2.0)
        model.classifier.bias.fill_(3.0)
    return model


def rated(counts):
    texts, labels = planted_texts(counts=counts)
    return [{"text": text, "label": 5.0 if label else 1.0} for text, label in zip(texts, labels, strict=True)]


COUNTS = pytest.mark.parametrize("counts", [(30, 30), (50, 10), (10, 50)], ids=["even", "low", "high"])


@COUNTS
@pytest.mark.parametrize("method", ["attention", "gradient", "erasure-delete"])
def test_the_one_word_that_counts_comes_first(counts, method):
    card = audit(rating_model(), rated(counts), tokenizer=tokenizer(), audits=["faithfulness"], method=method)
    for name, statistic in STATISTICS.items():
        finding = card.finding(f"faithfulness.{name}.all")
        assert finding.verdict == "more faithful than random tokens"
        assert (finding.over_null["random"].estimate > 0) == statistic.larger_is_better
    # Without the word the rating is 3, wherever it was.
    np.testing.assert_allclose(card.examples["faithfulness.comprehensiveness"], 2.0, atol=0.1)


@COUNTS
def test_a_random_order_is_not_more_faithful(counts):
    data = rated(counts)
    card = audit(rating_model(), data, tokenizer=tokenizer(), audits=["faithfulness"], method="random")
    assert card.finding("faithfulness.comprehensiveness.all").verdict.startswith("not distinguishable")


def test_scores_with_signs_are_taken_towards_the_side_of_the_rating():
    """``gradient`` of ``bad`` is negative, and it is the reason of a low rating."""
    data = Dataset.from_list(rated((6, 6)))
    context = build_view(open_subject(rating_model(), tokenizer=tokenizer()), data, method="gradient")
    side = choose_prediction_side(context)
    np.testing.assert_array_equal(side.sign, np.where(context.predicted < 3, -1, 1))
    first = token_order(context).ranks.argmin(axis=1)
    ids = context.explanation.encoded.ids.numpy()[np.arange(12), first]
    expected = np.where(context.predicted < 3, *tokenizer().convert_tokens_to_ids(["bad", "good"]))
    np.testing.assert_array_equal(ids, expected)

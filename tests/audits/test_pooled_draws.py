"""The fast draws of the perturbation tests of pooled models against loops over texts and draws."""

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
import torch
from scipy.stats import chisquare

from glasshead.audits import build_view
from glasshead.audits.measuring.answers import VALUE_RESOLUTION
from glasshead.audits.measuring.null_weights import base_weights, uniform_draws
from glasshead.audits.perturbation import (
    DRAWS,
    PERTURBATION,
    Perturbation,
    median_of_draws,
    random_orders,
)
from glasshead.explainers import EXPLAINERS
from glasshead.opening import open_subject
from small import TEXTS, as_run, random_model, split

MODELS = pytest.mark.parametrize(
    "options",
    [
        {"activation": "softmax"},
        {"activation": "tanhmax", "score": "query-key", "value_dim": 4},
        {"activation": "tanhmax", "classes": 3},
    ],
)


def context_of(options, texts):
    labels = [row % 2 for row in range(len(texts))]
    run = as_run(random_model(**options), list(texts), labels)
    return build_view(open_subject(run), split(texts, labels, list(run.model.config.id2label.values())))


def literal_medians(context, bases, draws):
    """Text by text and draw by draw, from the same random numbers; texts of one length."""
    readout, target = context.explanation.observation, context.explanation.target
    texts, n = context.mask.shape
    parts = np.zeros(n, dtype=np.int64)

    def predict(text, weights):
        z = (torch.from_numpy(weights.astype(float))[:, None] * readout.polarity[text]).sum(0) + readout.bias
        logits = torch.cat([torch.zeros(1, dtype=z.dtype), z]) if len(z) == 1 else z
        return float(logits.softmax(-1)[target[text]])

    predicted = context.explanation.logits.argmax(dim=-1).numpy()
    sums = bases[0].sum(axis=1)  # of softmax all 1
    total = np.mean([sums[predicted == one].mean() for one in set(predicted.tolist())])
    for text in range(texts):
        rng = context.rng(DRAWS, text)
        fresh = uniform_draws((draws, n), readout.signed, rng) * readout.gauge
        orders = random_orders(parts, draws, rng)
        for a in bases[:, text]:
            changes = {"permutation": [], "random": [], "random-normalised": [], "uniform": []}
            mass = np.abs(bases[0, text]).sum()
            for draw in range(draws):
                new = fresh[draw]
                scaled, even = new * mass / np.abs(new).sum(), np.full(n, total / n)
                for test, weights in zip(changes, (a[orders[draw]], new, scaled, even), strict=True):
                    changes[test].append(predict(text, weights) - predict(text, a))
            yield {
                f"{test}.median.{way}": np.median(np.abs(values) if way == "absolute" else values)
                for test, values in changes.items()
                for way in ("absolute", "signed")
            }


@MODELS
@pytest.mark.parametrize("draws", [7, 8])
def test_medians_are_those_of_a_loop_over_the_same_draws(options, draws):
    context = context_of(options, ["the end film is good", "good good the bad end", "film bad end the the"])
    test = Perturbation(draws=draws)
    bases = base_weights(context, PERTURBATION)
    assert np.ptp(bases[2], axis=1).max() < 1e-12  # uniform weights, which no order changes
    found = test.medians(context, bases)
    expected = literal_medians(context, bases, draws)
    for text in range(len(context.texts)):
        for base in range(len(bases)):
            for column, value in next(expected).items():
                assert found[base][column][text] == pytest.approx(value, abs=2 * VALUE_RESOLUTION)


def test_every_order_is_equally_likely():
    orders = random_orders(np.zeros(4, dtype=np.int64), 24_000, np.random.default_rng(0))
    counts = Counter(map(tuple, orders.tolist()))
    assert counts.keys() == set(permutations(range(4)))
    assert chisquare(list(counts.values())).pvalue > 0.001


def test_texts_have_orders_of_their_own():
    """Also those of one text that occurs twice."""
    context = context_of({"activation": "softmax"}, ["the end film is good"] * 2)
    parts = np.zeros(5, dtype=np.int64)
    first, second = (random_orders(parts, 4000, context.rng(DRAWS, row))[:, 0] for row in range(2))
    together = np.zeros((5, 5))
    np.add.at(together, (first, second), 1)
    assert chisquare(together.ravel()).pvalue > 0.001


def test_units_stay_in_their_part():
    for part in np.array([[0, 0, 0, 1, 1, 2], [0, 1, 1, 2, 2, 2]]):
        orders = random_orders(part, 100, np.random.default_rng(0))
        np.testing.assert_array_equal(part[orders], np.tile(part, (100, 1)))
        assert (np.sort(orders) == np.arange(6)).all()
        assert len({tuple(order) for order in orders.tolist()}) == 12  # 3! · 2! · 1!


@pytest.mark.parametrize("draws", [1, 2, 9, 100])
def test_median_is_numpys(draws):
    values = np.random.default_rng(draws).normal(size=(3, 4, draws)).astype(np.float32)
    np.testing.assert_allclose(median_of_draws(values.copy()), np.median(values, axis=-1), rtol=1e-6)


@MODELS
def test_effective_attention_of_a_batch_is_that_of_each_text(options):
    """The projection of the weights onto the columns of T, by least squares, one text at a time."""
    long = "the end film is good the the bad end end good film is bad"
    context = context_of(options | {"value_dim": 3}, [*TEXTS, long])
    found = EXPLAINERS["effective-attention"].importance(context.explanation).numpy()
    model, encoded = context.explanation.model, context.explanation.encoded
    projected = 0
    for text in np.flatnonzero(context.mask.any(axis=1)).tolist():
        ids = encoded.ids[text : text + 1, : int(encoded.mask[text].sum())]
        with torch.no_grad():
            hidden = model.encoder(model.embedding(ids), torch.ones_like(ids))
            T = model.pooling.value(hidden)[0].numpy()
        a = context.canonical[text, : len(T)]
        expected = T @ np.linalg.lstsq(T, a, rcond=1e-6)[0]
        np.testing.assert_allclose(found[text, : len(T)], expected, atol=1e-9)
        assert not found[text, len(T) :].any()
        projected += np.abs(expected - a).max() > 1e-3
    assert projected

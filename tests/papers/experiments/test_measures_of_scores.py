"""Which way scores go, what weights words of a group get, and how measures are spread over texts."""

import numpy as np
import pytest

from glasshead.data import LoadOptions
from glasshead.papers.experiments import MEASURES, Cell, DataSource, Job
from glasshead.papers.experiments.measures.coefficients import weight_numbers
from glasshead.papers.experiments.measures.distributions import HISTOGRAM_BINS, histograms
from glasshead.papers.experiments.measures.score_directions import direction_numbers
from glasshead.papers.results import History
from glasshead.results import AuditCard
from glasshead.training import preset_config

GENERATOR = {"instances": 400, "neutral_words": 100, "polar_words": 10}
TEXTS = DataSource("synthetic", "made-up texts", LoadOptions(generator=GENERATOR))


@pytest.fixture(scope="module")
def data():
    return TEXTS.read(None)


def measure(name, data, folder, **changes):
    recipe = preset_config("s0-paper", None).with_changes(epochs=5, learning_rate=0.01, **changes)
    cell = Cell("cell", "cell", TEXTS, recipe, measure=name)
    return MEASURES[name](Job(cell, 0, data, folder / "run")).numbers


def planted_history(changes):
    """Scores that start at 0 and end at these changes, by group."""
    groups = [group for group, values in changes.items() for _ in values]
    ends = np.array([value for values in changes.values() for value in values], dtype=float)
    tokens = {
        "step": np.repeat([0, 10], len(ends)),
        "group": np.array(groups * 2),
        "score": np.concatenate([np.zeros_like(ends), ends]),
    }
    curves = {
        "step": np.array([0, 10, 0, 10]),
        "quantity": np.array(["follows"] * 4),
        "group": np.array(["positive", "positive", "negative", "negative"]),
        "mean": np.array([1.0, 0.5, 0.8, 0.9]),
        "std": np.zeros(4),
        "n": np.ones(4),
    }
    return History({"groups": changes}, curves, {}, tokens)


def test_directions_that_were_planted():
    numbers = direction_numbers(
        planted_history({"positive": [2, 3, 1, -2], "negative": [-1, -3], "neutral": [0.1, -0.1, np.nan]})
    )
    assert numbers["rising_positive"] == 0.75
    assert numbers["rising_negative"] == 0.0
    assert numbers["rising_neutral"] == 0.5
    assert numbers["opposite"] == 0.75
    assert numbers["change_positive"] == 1.0
    assert numbers["neutral_change"] == pytest.approx(0.1 / 2)
    assert numbers["follows"] == pytest.approx(0.8)


def test_words_whose_weights_were_planted():
    tokens = {
        "token": list("abcdef"),
        "group": ["positive", "positive", "negative", "neutral", "", "neutral"],
        "occurrences": [1, 5, 3, 2, 9, 4],
        "score": [1.0, 2.0, -3.0, 0.1234567, 9.0, 0.0],
        "weight": [0.2, 0.4, -0.3, 0.01, 0.9, -0.01],
    }
    numbers = weight_numbers(AuditCard({}, [], tokens=tokens))
    assert numbers["weight_positive"] == pytest.approx(0.3)
    assert numbers["weight_neutral"] == pytest.approx(0.0)
    assert numbers["neutral_size"] == pytest.approx(0.01 / 0.3)
    assert numbers["points_positive"] == [[2.0, 0.4], [1.0, 0.2]]  # the commonest first
    assert numbers["points_neutral"] == [[0.0, -0.01], [0.123, 0.01]]


def test_histograms_count_every_text_once():
    examples = {
        "tau.attention.gradient": [-1.0, 0.9, 1.0, None],
        "tau.attention.erasure-zero-weight": [0.0, 0.0, 0.0, 0.0],
        "permutation.median.absolute": [0.0, 0.2, 0.3, 1.0],
        "random.median.absolute": [0.5, 0.5, 0.5, 0.5],
    }
    numbers = histograms(examples, np.array([0, 1, 1, 1]))
    assert numbers["gradient_1"] == pytest.approx(0.95)
    assert (numbers["counts_gradient_0"][0], sum(numbers["counts_gradient_1"])) == (1, 2)
    assert numbers["counts_permutation_1"][-1] == 1
    assert len(numbers["counts_random_0"]) == HISTOGRAM_BINS


def test_softmax_moves_both_groups_one_way(data, tmp_path):
    """A softmax score can rise for one group only as for the other: both matter."""
    softmax = measure("score-directions", data, tmp_path / "softmax")
    assert softmax["accuracy"] > 0.95
    assert softmax["as_cross-entropy"] == 1.0
    assert softmax["opposite"] == pytest.approx(0.0, abs=0.2)
    assert softmax["kind"] == "one sign"


def test_words_of_a_figure(data, tmp_path):
    numbers = measure("coefficients", data, tmp_path)
    assert abs(numbers["weight_neutral"]) < numbers["weight_positive"]
    assert 0 < numbers["neutral_size"] < 1


def test_spread_over_texts(data, tmp_path):
    numbers = measure("distributions", data, tmp_path, attention="tanhmax")
    assert min(numbers["random_0"], numbers["permutation_0"]) > 0
    assert sum(numbers["counts_random_0"]) == 30

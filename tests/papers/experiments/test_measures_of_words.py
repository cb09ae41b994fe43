"""What is measured of the words of a class, on made-up texts whose words are known."""

import numpy as np
import pytest

from glasshead.data import LoadOptions
from glasshead.papers.dynamics import groups_from_source
from glasshead.papers.experiments import MEASURES, Cell, DataSource, Job
from glasshead.papers.experiments.measures.dynamics import product_numbers
from glasshead.papers.experiments.measures.example_sentences import SENTENCES, TOP_WORDS
from glasshead.papers.results import History
from glasshead.training import preset_config

GENERATOR = {"instances": 400, "neutral_words": 100, "polar_words": 10}
TEXTS = DataSource("synthetic", "made-up texts", LoadOptions(generator=GENERATOR))


@pytest.fixture(scope="module")
def data():
    return TEXTS.read(None)


def measure(name, data, folder, preset, **changes):
    cell = Cell("cell", "cell", TEXTS, preset_config(preset, None).with_changes(**changes), measure=name)
    return MEASURES[name](Job(cell, 0, data, folder / "run")).numbers


def test_words_of_each_class_are_those_that_were_planted(data, tmp_path):
    numbers = measure("word-groups", data, tmp_path, "s4", epochs=1)
    assert [numbers[f"{group}_words"] for group in ("positive", "negative", "neutral")] == [10, 10, 100]
    planted = groups_from_source(TEXTS.record())
    for group in ("positive", "negative"):
        assert {planted[word] for word in numbers[f"{group}_examples"]} == {group}


def test_words_that_are_watched_part_by_their_class(data, tmp_path):
    numbers = measure("dynamics-close", data, tmp_path, "s4", epochs=10, temperature=1.0)
    assert numbers["polarity_positive"] > 0.9
    assert numbers["polarity_negative"] < 0.1
    assert numbers["product_positive_positive"] > 0 > numbers["product_positive_negative"]
    assert 0 < numbers["settling_steps"] <= numbers["steps"]
    assert numbers["late_gap"] >= 0
    assert abs(numbers["positive_rest"]) < 0.1 * max(abs(numbers[f"positive_{term}"]) for term in "DEF")


@pytest.mark.parametrize(
    ("changes", "step"),
    [
        ({}, 30),  # right at 10 already, wrong again at 20
        ({"positive × positive": [0.1, 0.2, 0.1, 0.3]}, 10),
        ({"positive × positive": [0.1, 0.2, 0.1, -0.3]}, 30),  # never
        ({"positive × negative": [-0.1, -0.1, -0.005, -0.3], "positive × positive": [0.1] * 4}, 30),
        ({"positive × negative": [-0.1] * 4, "positive × positive": [0.1] * 4}, 0),
    ],
)
def test_signs_settle_when_they_no_longer_change(changes, step):
    pairs = {
        "positive × positive": [0.1, 0.2, -0.1, 0.3],
        "negative × negative": [0.1, 0.2, 0.3, 0.4],
        "positive × negative": [0.1, -0.1, -0.2, -0.3],
    } | changes
    rows = [(10 * place, "e", pair, value - 0.01, value + 0.01, value)
            for pair, values in pairs.items() for place, value in enumerate(values)]  # fmt: skip
    names = ("step", "of", "pair", "lower", "upper", "mean")
    products = {name: np.array([row[place] for row in rows]) for place, name in enumerate(names)}
    history = History({}, {"step": products["step"]}, products, {})
    numbers = product_numbers(history)
    assert numbers["settling_steps"] == step
    assert numbers["product_negative_negative"] == 0.4


def test_contributions_tell_words_apart_whatever_the_sign(data, tmp_path):
    numbers = measure("interpretability", data, tmp_path, "s0-paper", epochs=5, attention="tanhmax")
    assert numbers["separation_contribution"] > 0.95
    assert numbers["accuracy"] > 0.9
    for place in (0, 1):
        assert -1 <= numbers[f"gradient_{place}"] <= 1
        assert numbers[f"random_{place}"] > numbers[f"permutation_{place}"] >= 0


def test_the_sentences_of_the_figure_are_read(data, tmp_path):
    numbers = measure("example-sentences", data, tmp_path, "s0-paper", epochs=1)
    assert 0 < numbers["probability_turning"] < 1
    assert numbers["weights_positive"][0].split()[0] in SENTENCES["positive"].replace(".", "").split()
    assert len(numbers["weights_narrative"]) == TOP_WORDS

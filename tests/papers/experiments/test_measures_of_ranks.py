"""Ranks over the length of a text and certainty of weights: as the shapes say, and as loops count them."""

import numpy as np
import pytest

from glasshead.data import LoadOptions
from glasshead.papers.experiments import MEASURES, Cell, DataSource, Job
from glasshead.papers.experiments.figures import RankPicture
from glasshead.papers.experiments.measures.ranks import counts, full_rank_tokens, logit_numbers
from glasshead.papers.results import LogitRankTable
from glasshead.training import preset_config

TEXTS = DataSource(
    "synthetic",
    "made-up texts",
    LoadOptions(generator={"instances": 300, "neutral_words": 100, "polar_words": 10}),
)
SMALL = {"hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 16, "epochs": 1}


@pytest.fixture(scope="module")
def data():
    return TEXTS.read(None)


def measure(name, preset, data, folder, **changes):
    recipe = preset_config(preset, "encoder").with_changes(**SMALL | changes)
    return MEASURES[name](Job(Cell("c", "c", TEXTS, recipe, measure=name), 0, data, folder / preset)).numbers


def test_counts_are_those_of_a_loop():
    rng = np.random.default_rng(0)
    tokens, rank = rng.integers(1, 4, 50), rng.integers(0, 3, 50)
    expected = [
        [length, size, int(((tokens == length) & (rank == size)).sum())]
        for length in range(1, 4)
        for size in range(3)
        if ((tokens == length) & (rank == size)).any()
    ]
    assert counts(tokens, rank) == expected


@pytest.mark.parametrize(
    ("ranks", "longest"),
    [
        ([[8, 8, 100], [16, 16, 95], [16, 15, 5], [32, 16, 100]], 16),
        ([[8, 8, 100], [16, 16, 94], [16, 15, 6], [32, 32, 100]], 8),
        ([[8, 7, 100]], 0),
        ([[8, 8, 3]], 8),
    ],
)
def test_full_row_rank_ends_where_it_first_breaks(ranks, longest):
    assert full_rank_tokens(ranks) == longest


def test_logits_that_keys_could_have_made():
    lines = [(10, 0, 3, 5, 9, 4, 0.5), (20, 1, 18, 18.5, 19, 4, 0.0)]
    table = LogitRankTable(lines, [np.array([3, 9]), np.array([19, 18])], 4, "a head")
    numbers = logit_numbers(table)
    assert numbers["obtainable"] == 0.25
    assert numbers["short_of_full"] == pytest.approx((6 + 0 + 0 + 1) / 4)
    assert numbers["logit_ranks"] == [[10, 3, 1], [10, 9, 1], [20, 18, 1], [20, 19, 1]]


def test_concatenated_heads_have_a_null_space_and_summed_ones_none(data, tmp_path):
    con = measure("ranks", "regular-small", data, tmp_path, head_dim=4)
    assert con["value_dim"] == 8  # 16 / 2 heads
    assert con["rank_8"] == 8
    assert con["full_rank_tokens"] == 8
    add = measure("ranks", "identifiable-small", data, tmp_path, head_dim=4)
    assert add["value_dim"] == 16
    assert "obtainable" in con
    assert "obtainable" not in add  # no text is longer than d_v + 1: no other weights


def test_certainty_follows_the_shape_of_the_values(data, tmp_path):
    con = measure("certainty", "regular-small", data, tmp_path, head_dim=4)
    add = measure("certainty", "identifiable-small", data, tmp_path, head_dim=4)
    assert con["width"] > 0.001
    assert 0 <= con["may_be_zero"] <= 1
    assert add["width"] == pytest.approx(0.0, abs=1e-6)
    assert add["unique"] == 1.0


def test_the_picture_has_a_panel_for_values_and_one_for_logits():
    numbers = {"value_dim": 8, "ranks": [[4, 4, 2], [16, 8, 2]]}
    picture = RankPicture()
    assert len(list(picture.figures(numbers))) == 1
    both = list(picture.figures(numbers | {"key_dim": 4, "logit_ranks": [[16, 14, 5], [16, 15, 5]]}))
    assert [len(figure.panels) for figure in both] == [1, 1]
    assert not list(picture.figures({"accuracy": 0.9}))

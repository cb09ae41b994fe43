"""Means, intervals, verdicts on the paper's numbers, and differences."""

import numpy as np
import pytest
from scipy import stats
from small_tables import cell, row, table

from glasshead.papers.experiments import (
    Paper,
    PaperNumber,
    Row,
    number_of,
    seed_intervals,
    summary_of,
    table_markdown,
)
from glasshead.statistics import detectable_difference, prediction_interval

FIVE = [0.80, 0.81, 0.79, 0.82, 0.78]


def verdict(values, paper, **fields):
    """What is said of the paper's number."""
    return summarised(values, paper, **fields).verdict


def summarised(values, paper, **fields):
    cells = [cell("softmax", paper=paper), cell("tanhmax", attention="tanhmax")]
    chosen = table(cells, **fields)
    rows = {"softmax": [row(cells[0], seed, value) for seed, value in enumerate(values)]}
    summary = summary_of(chosen, rows, dict.fromkeys(("softmax", "tanhmax"), range(5)))
    return summary.cells[0].metrics["accuracy"]


def test_a_new_seed_falls_into_its_interval():
    """Nineteen of twenty times, within what 2,000 draws allow."""
    rng = np.random.default_rng(0)
    draws = rng.normal(size=(2000, 6))
    inside = 0
    for values in draws:
        low, high = prediction_interval(values[:5])
        inside += low <= values[5] <= high
    assert stats.binomtest(inside, 2000, 0.95).pvalue > 0.01
    mean, new = seed_intervals(FIVE)
    assert new[1] - new[0] == pytest.approx(np.sqrt(6) * (mean[1] - mean[0]))


def test_fewer_than_five_seeds_have_no_interval():
    assert seed_intervals(FIVE[:4]) == (None, None)
    assert verdict(FIVE[:4], PaperNumber(0.8)) == "cannot tell"


@pytest.mark.parametrize(
    ("degrees", "significance", "power"), [(4, 0.05, 0.8), (4, 0.005, 0.8), (99, 0.001, 0.9)]
)
def test_the_detectable_difference_is_found_so_often(degrees, significance, power):
    n = degrees + 1
    delta = detectable_difference(0.5, degrees, power=power, significance=significance)
    rng = np.random.default_rng(1)
    samples = rng.normal(delta, 0.5 * np.sqrt(n), size=(4000, n))
    found = (stats.ttest_1samp(samples, 0.0, axis=1).pvalue < significance).mean()
    assert found == pytest.approx(power, abs=0.025)


@pytest.mark.parametrize(
    ("paper", "differences", "expected"),
    [
        (PaperNumber(0.83), (), "inside"),  # of a new seed, not of the mean
        (PaperNumber(0.83, 0.001, 5), (), "outside"),  # the paper's mean is known so well
        (PaperNumber(0.90), (), "outside"),
        (PaperNumber(0.90), ("other data",), "protocol differs"),
        (PaperNumber(0.80), ("other data",), "inside"),
        (None, (), ""),
    ],
)
def test_verdicts(paper, differences, expected):
    assert verdict(FIVE, paper, differences=differences) == expected


def test_inside_needs_an_interval_that_could_have_told():
    """The half width of the next seed is 0.048; with a deviation, that of the two means is what counts."""
    assert verdict(FIVE, PaperNumber(0.83), effect=0.05) == "inside"
    assert verdict(FIVE, PaperNumber(0.83), effect=0.04) == "cannot tell"
    assert verdict(FIVE, PaperNumber(0.81, 0.01, 5), effect=0.04) == "inside"
    assert verdict(FIVE, PaperNumber(0.81, 0.01, 5), effect=0.01) == "cannot tell"
    assert verdict(FIVE, PaperNumber(0.83), effect=None) == "inside"  # nothing is claimed
    assert verdict(FIVE, PaperNumber(0.90), effect=0.001) == "outside"


def test_the_interval_that_tells_is_that_of_welch():
    value, half = 0.83, summarised(FIVE, PaperNumber(0.83, 0.012, 7)).half_width
    test = stats.ttest_ind_from_stats(
        np.mean(FIVE), np.std(FIVE, ddof=1), 5, np.mean(FIVE) + half, 0.012, 7, equal_var=False
    )
    assert test.pvalue == pytest.approx(0.05)
    assert summarised(FIVE, PaperNumber(value, 0.012, 7)).verdict == (
        "inside" if abs(np.mean(FIVE) - value) <= half else "outside"
    )


def test_the_width_stands_beside_the_verdict():
    cells = [cell("softmax", paper=PaperNumber(0.83)), cell("tanhmax", attention="tanhmax")]
    for effect, words in ((0.05, "| inside (±\u00a04.81) |"), (0.04, "| cannot tell (±\u00a04.81 > 4.00) |")):
        chosen = table(cells, effect=effect)
        rows = {"softmax": [row(cells[0], seed, value) for seed, value in enumerate(FIVE)]}
        summary = summary_of(chosen, rows, dict.fromkeys(("softmax", "tanhmax"), range(5)))
        assert words in table_markdown(summary, Paper("paper", "Somebody", [chosen]))


def test_a_smoke_run_and_mixed_data_say_nothing():
    assert verdict(FIVE, PaperNumber(0.8), smoke=True) == "cannot tell"
    chosen = table([cell("softmax", paper=PaperNumber(0.8)), cell("tanhmax", attention="tanhmax")])
    rows = [row(chosen.cells[0], seed, value, data=str(seed)) for seed, value in enumerate(FIVE)]
    summary = summary_of(chosen, {"softmax": rows}, dict.fromkeys(("softmax", "tanhmax"), range(5)))
    assert summary.cells[0].metrics["accuracy"].verdict == "cannot tell"
    assert "| cannot tell |" in table_markdown(
        summary, Paper("paper", "Somebody", [chosen])
    )  # no false inequality


def test_without_a_claim_the_papers_own_numbers_say_what_is_too_wide():
    """The half width is 0.048; the paper's numbers are 0.03 apart, or 0.06."""
    for other, expected in ((0.80, "cannot tell"), (0.77, "inside"), (0.83, "inside")):
        cells = [
            cell("softmax", paper=PaperNumber(0.83)),
            cell("tanhmax", attention="tanhmax", paper=PaperNumber(other)),
        ]
        chosen = table(cells, effect=None)
        rows = {"softmax": [row(cells[0], seed, value) for seed, value in enumerate(FIVE)]}
        summary = summary_of(chosen, rows, dict.fromkeys(("softmax", "tanhmax"), range(5)))
        assert summary.cells[0].metrics["accuracy"].verdict == expected


def difference(gap, texts=400, seeds=5, **fields):
    """How far two cells are apart of which the second has a known share of hits more."""
    rng = np.random.default_rng(2)
    chosen = table(**fields)
    rows = {}
    for of, share in zip(chosen.cells, (0.6, 0.6 + gap), strict=True):
        rows[of.name] = [row(of, seed, None, hits=rng.random(texts) < share) for seed in range(seeds)]
    return summary_of(chosen, rows, dict.fromkeys(rows, range(seeds))).differences[0]


def test_a_planted_difference_is_in_its_interval_which_counts_texts_too():
    found = difference(0.2)
    assert found.texts == 400
    assert found.interval[0] < 0.2 < found.interval[1]
    assert found.error >= found.gaps.std(ddof=1) / np.sqrt(5)
    few = difference(0.2, seeds=4)
    assert (few.interval, few.error) == (None, None)


def test_a_cell_without_seeds_stands_beside_each():
    words = cell("softmax").with_fields(measure="bag-of-words", most_seeds=1)
    chosen = table([words, cell("tanhmax", attention="tanhmax")])
    rows = {
        "softmax": [row(chosen.cells[0], 0, 0.5)],
        "tanhmax": [row(chosen.cells[1], seed, value) for seed, value in enumerate(FIVE)],
    }
    found = summary_of(chosen, rows, {"softmax": [0], "tanhmax": range(5)}).differences[0]
    assert len(found.gaps) == 5
    assert found.difference == pytest.approx(0.3)


def test_one_seed_of_a_random_cell_stands_for_itself_alone():
    chosen = table()
    rows = {
        "softmax": [row(chosen.cells[0], 0, 0.5)],
        "tanhmax": [row(chosen.cells[1], seed, value) for seed, value in enumerate(FIVE)],
    }
    found = summary_of(chosen, rows, dict.fromkeys(rows, range(5))).differences[0]
    assert (len(found.gaps), found.interval) == (1, None)


def test_held_out_seeds_are_held_against_the_interval_and_not_counted():
    chosen = table()
    of = chosen.cells[0]
    held_out = [0.8, 0.9, 0.79]
    rows = [row(of, seed, value) for seed, value in enumerate(FIVE)]
    rows += [row(of, 1001 + seed, value) for seed, value in enumerate(held_out)]
    summary = summary_of(chosen, {of.name: rows}, {of.name: [*range(5), 1001, 1002, 1003], "tanhmax": []})
    assert summary.cells[0].metrics["accuracy"].values == FIVE
    assert summary.cells[0].missing_runs == []
    assert summary.cells[0].inside() == {1001: True, 1002: False, 1003: True}
    low, high = stats.binomtest(2, 3).proportion_ci()
    text = table_markdown(summary, Paper("paper", "Somebody", [chosen]))
    assert "2 of 3 held-out seeds were inside" in text
    assert f"67 %; exact 95 % interval {100 * low:.0f} to {100 * high:.0f}" in text
    few = summary_of(
        chosen, {of.name: [*rows[:4], *rows[5:]]}, {of.name: [*range(5), 1001, 1002, 1003], "tanhmax": []}
    )
    assert few.inside() == {}  # of four seeds there is no interval
    assert "held-out seed" not in table_markdown(few, Paper("paper", "Somebody", [chosen]))


def test_numbers_that_follow_from_others():
    of = table().cells[0]
    numbers = {
        "entropy": [["layer", 0.9, 0.6], ["layer 2", 0.9, 0.8], ["pooling.summary", 1.0, 0.1]],
        "w": [-1.0, 2, 3],
    }
    found = Row(of.name, of.key, 0, "d", numbers)
    assert number_of(found, "map_entropy") == pytest.approx(0.7)
    assert number_of(found, "positive_w") == pytest.approx(2 / 3)
    assert (number_of(found, "least_w"), number_of(found, "most_w")) == (-1, 3)
    assert number_of(found, "positive_v") is None
    assert number_of(found, "separation_size") is number_of(found, "parted") is None
    told = Row(of.name, of.key, 0, "d", {"separation": 0.3, "rising_positive": 0.25, "rising_negative": 1.0})
    assert number_of(told, "separation_size") == pytest.approx(0.2)
    assert number_of(told, "parted") == 0.75


def test_numbers_of_classes_are_put_together():
    numbers = {
        "score_positive": 0.9, "score_negative": 0.3, "score_sd": [["pooling", 0.0, 1.0]],
        "polarity_positive": 1.0, "polarity_negative": 0.2, "VᵀW": -3.0,
        "product_positive_positive": 4.0, "product_negative_negative": 2.0, "product_positive_negative": -2.0,
        "product_positive_neutral": 0.5, "product_negative_neutral": -0.7, "product_neutral_neutral": 0.0,
        "positive_E": 2.0, "positive_D": -1.0, "positive_F": 0.5, "positive_rest": 0.1,
        "negative_E": 1.0, "negative_D": 0.5, "negative_F": 3.0, "negative_rest": 0.1,
    }  # fmt: skip
    told = Row("cell", "key", 0, "d", numbers)
    expected = {
        "score_average": 0.6, "score_unfavoured": 0.9, "polarity_own": 0.9, "VᵀW_size": 3.0,
        "product_within": 3.0, "product_between": -2.0, "product_lead": 1.0, "product_over_neutral": 2.6,
        "term_lead": (1.0 - 2.0) / 2,
    }  # fmt: skip
    assert {name: number_of(told, name) for name in expected} == pytest.approx(expected)
    turned = Row("cell", "key", 0, "d", {**numbers, "VᵀW": 3.0})
    assert number_of(turned, "score_unfavoured") == 0.3
    nothing = Row("cell", "key", 0, "d", {"accuracy": 0.5})
    assert {number_of(nothing, name) for name in expected} == {None}
    three = {f"polarity_{name}": 0.9 for name in ("comedy", "romance", "horror")}
    assert number_of(Row("cell", "key", 0, "d", three), "polarity_own") == pytest.approx(0.9)


def test_the_next_seed_falls_where_the_metric_can():
    cells = [cell("softmax"), cell("tanhmax", attention="tanhmax")]
    rows = {"softmax": [row(cells[0], seed, value) for seed, value in enumerate((0.99, 1.0, 0.9, 1.0, 0.8))]}
    summary = summary_of(table(cells), rows, dict.fromkeys(("softmax", "tanhmax"), range(5)))
    low, high = summary.cells[0].metrics["accuracy"].new_seed
    assert low < 0.8
    assert high == 1.0

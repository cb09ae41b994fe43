"""Paired tests of two groups of runs: planted differences are covered, equal ones not told apart."""

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.metrics import f1_score, mean_absolute_error, root_mean_squared_error

from fake_runs import NAMES, classes, guesses
from glasshead.statistics import interval_of_equals
from glasshead.statistics.paired_tests import (
    METRICS,
    Predictions,
    common_variance,
    difference_intervals,
    exchange_test,
    metric_values,
    metrics_of,
    seed_test,
    standard_error,
    student_quantiles,
)

CLASSES = [METRICS["accuracy"], METRICS["macro_f1"]]


def rng(seed=0):
    return np.random.default_rng(seed)


def group(accuracy, seeds=(0,), n=300, data=0, shift=0):
    """Runs that are right as often as ``accuracy`` says, independently for every run and example."""
    labels = classes(n, data)
    said = [guesses(labels, accuracy, 1000 * data + 10 * seed + shift) for seed in seeds]
    codes = [np.searchsorted(NAMES, each) for each in (labels, *said)]
    return Predictions(tuple(seeds), codes[0], np.array(codes[1:]), len(NAMES))


def ratings(error, seeds=(0,), n=300, data=0, shift=0):
    labels = rng(data).integers(1, 6, n).astype(float)
    said = [labels + error * rng(1000 * data + 10 * seed + shift).normal(size=n) for seed in seeds]
    return Predictions(tuple(seeds), labels, np.array(said), None)


class TestMetrics:
    def test_are_those_of_scikit_learn(self):
        given = group(0.6, seeds=(0, 1))
        theirs = [f1_score(given.labels, each, average="macro", zero_division=0) for each in given.predicted]
        np.testing.assert_allclose(metric_values(METRICS["macro_f1"], given), theirs, rtol=1e-6)
        right = (given.predicted == given.labels).mean(axis=1)
        np.testing.assert_allclose(metric_values(METRICS["accuracy"], given), right)
        stars = ratings(0.7, seeds=(0, 1))
        for name, metric in (("rmse", root_mean_squared_error), ("mae", mean_absolute_error)):
            expected = [metric(stars.labels, each) for each in stars.predicted]
            np.testing.assert_allclose(metric_values(METRICS[name], stars), expected, rtol=1e-12)

    def test_a_class_that_never_occurs_does_not_count(self):
        given = Predictions((0,), np.array([0, 0, 1]), np.array([[0, 1, 1]]), 5)
        assert metric_values(METRICS["macro_f1"], given) == pytest.approx(
            f1_score([0, 0, 1], [0, 1, 1], average="macro")
        )

    def test_ratings_and_classes_have_their_own(self):
        assert list(metrics_of(group(0.5))) == ["accuracy", "macro_f1"]
        assert list(metrics_of(ratings(0.5))) == ["rmse", "mae"]


class TestSeeds:
    def test_by_hand(self):
        """Differences 1, 2, 3: mean 2, deviation 1, t = 2/(1/√3) = 2√3."""
        found = seed_test(np.array([2.0, 4.0, 7.0]), np.array([1.0, 2.0, 4.0]), paired=True)
        assert found.t == pytest.approx(2 * np.sqrt(3))
        assert found.degrees == 2
        assert found.p == pytest.approx(
            2 * (0.5 - np.sqrt(12) / (2 * np.sqrt(14)))
        )  # t of 2 degrees, closed form
        assert found.paired

    def test_welch_by_hand(self):
        """Means 2 and 5, variances 1 and 4 of 3 and 3: t = −3/√(5/3), df = (5/3)² / ((1/3)²/2 + (4/3)²/2)."""
        found = seed_test(np.array([1.0, 2.0, 3.0]), np.array([3.0, 5.0, 7.0]), paired=False)
        assert found.t == pytest.approx(-3 / np.sqrt(5 / 3))
        assert found.degrees == pytest.approx((25 / 9) / (1 / 18 + 16 / 18))
        assert not found.paired

    @pytest.mark.parametrize(
        ("first", "second", "paired"),
        [
            ([1.0], [0.5], True),
            ([1.0], [0.5, 0.6], False),
            ([1.0, 2.0], [0.5, 1.5], True),
            ([1.0] * 3, [2.0] * 2, False),
        ],
    )
    def test_nothing_to_test(self, first, second, paired):
        assert seed_test(np.array(first), np.array(second), paired=paired) is None

    def test_seeds_are_drawn_as_a_t_interval_has_them(self):
        """Of runs that are the same on all examples but for a constant, the interval is t·s/√S."""
        labels = np.zeros(50)
        errors = np.array([1.0, 1.5, 3.0])
        first = Predictions((0, 1, 2), labels, np.repeat(errors[:, None], 50, axis=1), None)
        second = Predictions((0, 1, 2), labels, np.full((3, 50), 0.5), None)
        ((low, high),) = difference_intervals(first, second, [METRICS["mae"]], rng=rng(), resamples=4000)
        centre, half = errors.mean() - 0.5, 4.302653 * errors.std(ddof=1) / np.sqrt(3)
        assert (low, high) == pytest.approx((centre - half, centre + half), rel=0.02)
        assert not student_quantiles(1, 10, rng()).any()
        assert standard_error(np.array([2.0])) == 0.0

    def test_what_seeds_err_on_alone_is_counted_once(self):
        """Deviations on drawn examples: of each seed alone, shared by all, and half and half."""
        own, shared = rng(3).normal(size=(4000, 50)), rng(4).normal(size=(4000, 1))
        assert common_variance(own) == pytest.approx(0.0, abs=0.1)
        assert common_variance(shared + 0 * own) == 1.0
        assert common_variance(np.sqrt(50) * shared + own * np.sqrt(50) * np.sqrt(50)) == pytest.approx(
            0.5, abs=0.06
        )
        assert common_variance(own[:, :1]) == common_variance(0 * own) == 1.0


class TestInterval:
    @pytest.mark.parametrize(
        "pair", [(group(0.9), group(0.7, shift=5)), (ratings(0.4), ratings(0.6, shift=5))]
    )
    def test_is_that_of_a_loop(self, pair):
        """A slow twin: draw examples one resample at a time, and compute the metrics anew."""
        first, second = pair
        metrics = metrics_of(first)
        found = difference_intervals(first, second, list(metrics.values()), rng=rng(1))
        draws = rng(2)
        replicates = []
        for _ in range(1500):
            rows = draws.integers(300, size=300)
            sides = [
                Predictions((0,), each.labels[rows], each.predicted[:, rows], each.classes) for each in pair
            ]
            replicates.append(
                [(metric_values(m, sides[0]) - metric_values(m, sides[1]))[0] for m in metrics.values()]
            )
        for (low, high), column in zip(found, np.array(replicates).T, strict=True):
            error = column.std()
            assert np.quantile(column, [0.025, 0.975]) == pytest.approx([low, high], abs=0.25 * error)

    def test_a_metric_does_not_depend_on_its_neighbours(self):
        first, second = group(0.8, seeds=(0, 1)), group(0.7, seeds=(0, 1), shift=5)
        both = difference_intervals(first, second, CLASSES, rng=rng(), resamples=100)
        assert [
            difference_intervals(first, second, [each], rng=rng(), resamples=100)[0] for each in CLASSES
        ] == both

    def test_equal_predictions_have_no_difference(self):
        same = group(0.8, seeds=(0, 1, 2))
        accuracy, f1 = difference_intervals(same, same, CLASSES, rng=rng(), resamples=50)
        assert accuracy == pytest.approx(interval_of_equals(0.0, len(same.labels)))
        assert f1 == (0.0, 0.0)
        assert exchange_test(same, same, CLASSES, rng=rng(), resamples=50) == [1.0, 1.0]

    def test_pairs_of_seeds_are_drawn_together(self):
        """Seeds that are hard for both sides alike leave the difference alone, if they are paired."""
        labels = classes(2000)
        codes = np.searchsorted(NAMES, labels)
        easy = [0.5, 0.6, 0.7, 0.8, 0.9]
        sides = [
            np.array(
                [
                    np.searchsorted(NAMES, guesses(labels, p + gain, 10 * s + int(100 * gain)))
                    for s, p in enumerate(easy)
                ]
            )
            for gain in (0.05, 0.0)
        ]
        widths = []
        for seeds in (range(5), range(5, 10)):
            first = Predictions(tuple(range(5)), codes, sides[0], 4)
            second = Predictions(tuple(seeds), codes, sides[1], 4)
            low, high = difference_intervals(first, second, CLASSES[:1], rng=rng())[0]
            assert low < 0.05 < high
            widths.append(high - low)
        assert widths[1] > 4 * widths[0]

    def test_the_interval_is_never_less_than_that_of_these_runs(self):
        """Two seeds with one and the same difference vary by nothing, and know little all the same."""
        labels, n = np.zeros(200, dtype=int), 200
        wrong = np.zeros((2, n), dtype=int)
        wrong[0, :40], wrong[1, 60:100] = 1, 1
        first = Predictions((0, 1), labels, wrong, 2)
        second = Predictions((0, 1), labels, np.zeros((2, n), dtype=int), 2)
        ((low, high),) = difference_intervals(first, second, CLASSES[:1], rng=rng())
        assert high - low > 0.04
        assert low < -0.2 < high

    @pytest.mark.slow
    @pytest.mark.parametrize("paired", [True, False])
    @pytest.mark.parametrize(("seeds", "spread"), [(1, 0.0), (2, 0.05), (5, 0.05), (5, 0.0)])
    def test_covers_the_truth(self, seeds, spread, paired):
        """200 pairs of groups whose true difference in accuracy is 0.1, runs varying by ``spread``."""
        hits = 0
        for data in range(200):
            draws = rng([data, seeds, paired, int(100 * spread)])
            labels = draws.integers(0, 4, 400)
            second = range(seeds) if paired else range(10, 10 + seeds)
            sides = [
                varied(labels, accuracy, spread, each, draws)
                for accuracy, each in ((0.75, range(seeds)), (0.65, second))
            ]
            ((low, high),) = difference_intervals(*sides, CLASSES[:1], rng=draws, resamples=400)
            hits += low <= 0.1 <= high
        assert hits >= binom.ppf(0.001, 200, 0.95)


def varied(labels, accuracy, spread, seeds, draws):
    """Runs whose accuracies vary about their mean."""
    said = []
    for _ in seeds:
        right = draws.random(len(labels)) < accuracy + spread * draws.normal()
        said.append(np.where(right, labels, (labels + draws.integers(1, 4, len(labels))) % 4))
    return Predictions(tuple(seeds), labels, np.array(said), 4)


class TestExchange:
    def test_is_that_of_a_loop(self):
        first, second = group(0.75, seeds=(0, 1)), group(0.7, seeds=(0, 1), shift=5)
        found = exchange_test(first, second, CLASSES, rng=rng(1))
        draws = rng(2)
        for metric, p in zip(CLASSES, found, strict=True):
            observed = abs((metric_values(metric, first) - metric_values(metric, second)).mean())
            extreme = 0
            for _ in range(2000):
                coins = draws.random(300) < 0.5
                sides = [
                    np.where(coins, a, b)
                    for a, b in ((first.predicted, second.predicted), (second.predicted, first.predicted))
                ]
                scores = [
                    metric_values(metric, Predictions((0, 1), first.labels, each, 4)).mean() for each in sides
                ]
                extreme += abs(scores[0] - scores[1]) >= observed - 1e-12
            assert p == pytest.approx(extreme / 2000, abs=0.04)

    def test_equal_predictors_are_rarely_told_apart(self):
        """By construction p ≤ 0.05 in at most 5 % of all data; 200 of them."""
        small = [
            exchange_test(
                group(0.7, n=150, data=data),
                group(0.7, n=150, data=data, shift=5),
                CLASSES[:1],
                rng=rng(data),
                resamples=199,
            )[0]
            <= 0.05
            for data in range(200)
        ]
        assert sum(small) <= binom.ppf(0.999, 200, 0.05)
        assert sum(small) > 0

    def test_groups_of_different_size(self):
        found = exchange_test(
            group(0.9, (0, 1, 2)), group(0.7, (0,), shift=5), CLASSES, rng=rng(), resamples=200
        )
        assert found[0] == pytest.approx(1 / 201)
        assert found[1] is None

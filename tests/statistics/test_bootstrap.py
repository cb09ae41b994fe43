"""Intervals: right where the bootstrap distribution is known, close to SciPy where it is not."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, bootstrap, norm
from sklearn.metrics import roc_auc_score

from glasshead.statistics import COVERAGE, interval_of_equals, resampling, root_difference
from glasshead.statistics.auc import auc, auc_difference_interval, auc_interval, resample_auc
from glasshead.statistics.bootstrap import (
    Estimate,
    intervals_beside_nulls,
    largest_mean,
    mean_difference_interval,
    mean_interval,
    mean_intervals,
    share_interval,
    tau_interval,
)
from glasshead.statistics.bootstrap_t import bootstrap_t_ends


def rng(seed=0):
    return np.random.default_rng(seed)


def test_mean_and_deviation_are_those_of_a_sample():
    estimate = mean_interval([1.0, 2.0, np.nan, 6.0], rng=rng())
    assert estimate.mean == 3.0
    assert estimate.std == pytest.approx(np.sqrt(7.0))
    assert estimate.n == 3
    assert estimate.interval == (estimate.low, estimate.high)
    assert estimate.low < 3.0 < estimate.high


@pytest.mark.parametrize(
    ("ones", "n", "level"), [(0, 20, 0.95), (3, 10, 0.95), (40, 100, 0.9), (180, 180, 0.95)]
)
def test_zeros_and_ones_have_the_exact_interval(ones, n, level):
    values = np.r_[np.ones(ones), np.zeros(n - ones)]
    exact = binomtest(ones, n).proportion_ci(level)
    estimate = mean_interval(values, rng=rng(1), level=level, within=(0, 1))
    assert estimate.interval == pytest.approx(exact, abs=1e-9)
    assert share_interval(values > 0, level).interval == pytest.approx(exact, abs=1e-9)
    wider = mean_interval(3 * values - 1, rng=rng(1), level=level, within=(-1, 2))
    assert wider.interval == pytest.approx((3 * exact.low - 1, 3 * exact.high - 1), abs=1e-9)


def test_agrees_with_a_loop_over_the_same_resamples():
    values, resamples = rng(2).exponential(size=40), 1000
    centred = (values - values.mean()) / np.abs(values - values.mean()).max()
    counts = np.concatenate(list(resampling.draw_counts(40, resamples, rng(3)))).astype(int)
    samples = [np.repeat(centred, one) for one in counts]
    ratios = sorted(sample.mean() / sample.std() for sample in samples)
    place = int(np.ceil((1 - norm.cdf(40 / 39 * norm.ppf(0.025))) * (resamples - 1)))
    low, high = bootstrap_t_ends(centred[None], 0.95, resamples, rng(3))[:, 0]
    assert low == pytest.approx(-ratios[place] * centred.std(), rel=1e-9)
    assert high == pytest.approx(-ratios[resamples - 1 - place] * centred.std(), rel=1e-9)


def test_covers_the_truth_as_often_as_it_says():
    draws = rng(5).normal(loc=7.0, size=(400, 80))
    inside = [e.low <= 7.0 <= e.high for e in mean_intervals(draws, rng=rng(6), resamples=500)]
    assert 0.90 < np.mean(inside) < 0.98


def test_too_few_examples_have_no_interval():
    nothing, one, two = mean_intervals([[np.nan] * 3, [np.nan, 5.0, np.nan], [1.0, np.nan, 3.0]], rng=rng())
    assert nothing == Estimate(None, None, None, None, 0)
    assert one == Estimate(5.0, None, None, None, 1)
    assert (nothing.interval, one.interval) == (None, None)
    assert (two.mean, two.n) == (2.0, 2)
    assert two.low < 1.0 < 3.0 < two.high  # two numbers say little
    assert mean_interval([], rng=rng()) == nothing
    assert mean_intervals(np.empty((0, 4)), rng=rng()) == []


def test_numbers_that_are_all_alike_have_no_interval_unless_their_range_is_known():
    values = np.full(50, 1e9 + 0.1)
    assert mean_interval(values, rng=rng()) == Estimate(1e9 + 0.1, 0.0, None, None, 50)
    known = mean_interval(values, rng=rng(), within=(0, 2e9))
    assert known.interval == pytest.approx(interval_of_equals(1e9 + 0.1, 50, least=0.0, most=2e9))
    assert mean_interval(values, rng=rng(), within=(0, np.inf)).interval is None


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(0, 30), share=st.sampled_from([0.0, 0.1, 0.9]))
def test_together_is_one_by_one_and_inputs_stay(seed, n, share):
    values = rng(seed).normal(size=(4, n))
    values[rng(seed + 1).random((4, n)) < share] = np.nan
    before = values.copy()
    together = mean_intervals(values, rng=rng(seed), resamples=50)
    np.testing.assert_array_equal(values, before)
    for row, estimate in zip(values, together, strict=True):
        alone = mean_interval(row, rng=rng(seed), resamples=50)
        assert alone.n == estimate.n == np.count_nonzero(~np.isnan(row))
        for one, other in zip(alone, estimate, strict=True):
            assert one == (None if other is None else pytest.approx(other, rel=1e-12, abs=1e-12))


def test_the_seed_decides():
    values = rng(7).normal(size=200)
    groups = values[:90], values[90:]
    assert mean_interval(values, rng=rng(8)) == mean_interval(values, rng=rng(8))
    assert mean_interval(values, rng=rng(8)) != mean_interval(values, rng=rng(9))
    assert auc_interval(*groups, rng=rng(8)) == auc_interval(*groups, rng=rng(8))
    assert auc_interval(*groups, rng=rng(8)) != auc_interval(*groups, rng=rng(9))
    shared = rng(8)
    assert mean_interval(values, rng=shared) != mean_interval(values, rng=shared)


def test_chunks_do_not_matter(monkeypatch):
    """One resample at a time, an uneven number, or all at once: every one is drawn, and no more."""
    values = rng(10).normal(size=101)
    whole = mean_interval(values, rng=rng(11)), auc_interval(values[:40], values[40:], rng=rng(11))
    for draws in (1, 777, 10**7):
        monkeypatch.setattr(resampling, "CHUNK_DRAWS", draws)
        counts = np.concatenate(list(resampling.draw_counts(101, 53, rng())))
        assert counts.shape == (53, 101)
        np.testing.assert_array_equal(counts.sum(axis=1), 101)
        assert mean_interval(values, rng=rng(11)).low == pytest.approx(whole[0].low, abs=1e-12)
        area = auc_interval(values[:40], values[40:], rng=rng(11))
        assert area.mean == whole[1].mean
        assert area.interval == pytest.approx(whole[1].interval, abs=0.02)


@settings(max_examples=40, deadline=None)
@given(
    positive=st.lists(st.integers(-3, 3), min_size=1, max_size=20),
    negative=st.lists(st.integers(-3, 3), min_size=1, max_size=20),
)
def test_auc_equals_sklearn_and_mirrors(positive, negative):
    estimate = auc_interval(positive, negative, rng=rng(), resamples=20)
    labels = np.r_[np.ones(len(positive)), np.zeros(len(negative))]
    assert estimate.mean == pytest.approx(roc_auc_score(labels, positive + negative), abs=1e-12)
    assert estimate.mean == pytest.approx(1 - auc_interval(negative, positive, rng=rng()).mean, abs=1e-12)
    assert (estimate.interval is None) == (min(len(positive), len(negative)) == 1)


@pytest.mark.slow
def test_auc_interval_agrees_with_scipy():
    positive, negative = np.round(rng(12).normal(0.5, 1, size=60), 1), np.round(rng(13).normal(size=80), 1)

    def area(p, q):
        return roc_auc_score(np.r_[np.ones(len(p)), np.zeros(len(q))], np.r_[p, q])

    theirs = bootstrap(
        (positive, negative), area, method="percentile", n_resamples=400, vectorized=False, rng=rng(14)
    )
    ours = auc_interval(positive, negative, rng=rng(15), resamples=5000)
    assert ours.mean == pytest.approx(area(positive, negative), abs=1e-12)
    error = theirs.standard_error
    assert ours.low == pytest.approx(theirs.confidence_interval.low, abs=0.4 * error)
    assert ours.high == pytest.approx(theirs.confidence_interval.high, abs=0.4 * error)


def test_auc_of_separated_and_of_missing_groups():
    separated = auc_interval([5.0, 6.0, np.inf], [1.0, -np.inf], rng=rng())
    assert separated[:4] == (1.0, None, pytest.approx(0.025**0.5), 1.0)  # two pairs
    assert auc_interval([], [1.0, 2.0], rng=rng()) == Estimate(None, None, None, None, 2)
    assert auc_interval([np.nan], [1.0, 2.0], rng=rng()) == Estimate(None, None, None, None, 2)
    assert auc_interval([1.5, np.nan], [1.0, 2.0], rng=rng()) == Estimate(0.5, None, None, None, 3)


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="infinities"):
        mean_interval([1.0, np.inf], rng=rng())
    with pytest.raises(ValueError, match="shape"):
        mean_intervals([1.0, 2.0], rng=rng())
    with pytest.raises(ValueError, match="vectors"):
        auc_interval([[1.0]], [1.0], rng=rng())
    for wrong in ({"level": 1.0}, {"level": 0.0}, {"resamples": 0}):
        with pytest.raises(ValueError, match="level"):
            mean_interval([1.0, 2.0], rng=rng(), **wrong)
        with pytest.raises(ValueError, match="level"):
            auc_interval([1.0, 2.0], [1.0, 2.0], rng=rng(), **wrong)


class TestDifferenceOfMeans:
    def test_of_chance_alone_none_is_claimed(self):
        """Of 200 pairs of groups of the same law about one in twenty is told apart."""
        rng = np.random.default_rng(1)
        claimed = 0
        for _ in range(200):
            one, other = rng.normal(size=40), rng.normal(size=40)
            low, high = mean_difference_interval(one, other, rng=rng)
            claimed += low > 0 or high < 0
        assert 2 <= claimed <= 22

    def test_is_about_welchs(self):
        rng = np.random.default_rng(2)
        one, other = rng.normal(1.0, 1.0, 400), rng.normal(0.0, 2.0, 400)
        low, high = mean_difference_interval(one, other, rng=rng)
        error = (one.var(ddof=1) / 400 + other.var(ddof=1) / 400) ** 0.5
        assert low == pytest.approx(one.mean() - other.mean() - 1.96 * error, abs=0.2 * error)
        assert high == pytest.approx(one.mean() - other.mean() + 1.96 * error, abs=0.2 * error)

    def test_one_is_no_group(self):
        assert mean_difference_interval(np.ones(1), np.ones(9), rng=np.random.default_rng(0)) is None


def test_the_largest_mean_is_only_called_so_where_it_is_sure():
    rng = np.random.default_rng(3)
    close = rng.normal([[1.0], [1.0], [0.1]], 1.0, (3, 30))
    assert largest_mean(close, rng=rng) is None
    assert largest_mean(np.array([[0.1] * 30, [-2.0] * 30, [1.0] * 30]), rng=rng) == 1


class TestKendallsInterval:
    def test_the_interval_covers_the_truth(self):
        """Of a normal pair with correlation ρ, τ = 2/π · asin ρ."""
        chance = np.random.default_rng(0)
        truth, covered = 2 / np.pi * np.arcsin(0.6), 0
        for _ in range(100):
            x = chance.normal(size=80)
            y = 0.6 * x + 0.8 * chance.normal(size=80)
            found = tau_interval(x, y, rng=chance, resamples=300)
            covered += found.low <= truth <= found.high
        assert 88 <= covered <= 99

    @pytest.mark.parametrize("values", [[], [1.0], [2.0, 2.0, 2.0]])
    def test_no_order_no_tau(self, values):
        found = tau_interval(np.array(values), np.array(values), rng=np.random.default_rng(0))
        assert found == (None, None, None, None, len(values))


class TestAreas:
    def test_by_ranks_and_by_counts(self, drawn):
        first, second, *_ = drawn
        ones = np.ones((1, len(first)), dtype=int), np.ones((1, len(second)), dtype=int)
        assert auc(first, second) == pytest.approx(resample_auc(first, second, *ones)[0], rel=1e-12)

    @pytest.fixture
    def drawn(self):
        chance = np.random.default_rng(5)
        first, second = chance.integers(6, size=9) / 2, chance.integers(6, size=14) / 2  # many ties
        counts = [chance.multinomial(n, np.full(n, 1 / n), size=4) for n in (9, 14)]
        return first, second, *counts

    def test_by_loops(self, drawn):
        first, second, of_first, of_second = drawn
        for row, found in enumerate(resample_auc(*drawn)):
            total = sum(
                c * d * ((p > q) + (p == q) / 2)
                for p, c in zip(first, of_first[row], strict=True)
                for q, d in zip(second, of_second[row], strict=True)
            )
            assert found == pytest.approx(total / (9 * 14), rel=1e-12)

    def test_an_interval_of_one_is_that_of_its_gain(self, drawn):
        """Against scores that tell nothing, the gain is AUC − ½."""
        first, second = np.random.default_rng(1).normal([[0.7], [0.0]], size=(2, 60))
        flat = np.zeros(60), np.zeros(60)
        gain = auc_difference_interval(flat, (first, second), rng=np.random.default_rng(0), resamples=4000)
        area = auc_interval(first, second, rng=np.random.default_rng(0), resamples=4000)
        assert gain.mean == pytest.approx(area.mean - 0.5)
        assert np.allclose(np.array(gain.interval) + 0.5, area.interval, atol=0.01)


def test_the_deviation_of_huge_numbers_does_not_overflow():
    values = np.array([1e200, -1e200, 3e200])
    estimate = mean_interval(values, rng=rng())
    assert estimate.std == pytest.approx(np.std(values / 1e200, ddof=1) * 1e200)


@pytest.mark.parametrize("value", [0.0, 1.0, -0.4])
def test_differences_that_are_all_alike_have_an_interval_that_holds_what_could_not_be_seen(value):
    """Of 30 units that are alike a share of u may differ: then none was seen with probability 0.025."""
    low, high = interval_of_equals(value, 30)
    most = binomtest(0, 30).proportion_ci(0.95).high
    assert (1 - most) ** 30 == pytest.approx(0.025)
    assert low == pytest.approx((1 - most) * value - most)
    assert high == pytest.approx((1 - most) * value + most)
    wider = interval_of_equals(value, 30, level=0.99)
    assert wider[0] <= low <= high <= wider[1]


def test_a_null_that_is_the_same_but_for_rounding_is_no_difference():
    """A tenth, added up and divided again, is not a tenth; the mean difference would never vary."""
    values = np.linspace(0.1, 0.7, 20)
    null = values + np.spacing(values)
    ((_, differences),) = intervals_beside_nulls([values], [{"random": null}], rng=rng())
    assert not (values == null).any()
    assert (differences["random"].mean, differences["random"].std) == (0.0, 0.0)
    assert differences["random"].interval is None
    ((_, differences),) = intervals_beside_nulls([values], [{"random": null - 1e-9}], rng=rng())
    assert differences["random"].interval[0] > 0


def test_a_difference_of_roots_covers_the_truth_where_a_tenth_of_the_errors_is_large():
    draws, covered, called = np.random.default_rng(0), 0, 0
    for _ in range(200):  # two models that err alike: the truth is 0
        sizes = np.where(draws.random((2, 20)) < 0.1, 6.0, 1.0)
        ours, theirs = draws.normal(size=(2, 20)) * sizes
        estimate, interval = root_difference(ours, theirs, rng=draws)
        assert estimate == pytest.approx(np.sqrt(np.mean(ours**2)) - np.sqrt(np.mean(theirs**2)))
        assert interval[0] <= estimate <= interval[1]
        covered += interval[0] <= 0 <= interval[1]
        called += interval[1] < 0
    assert covered >= COVERAGE * 200
    assert called <= 0.05 * 200


def test_a_single_pair_has_no_interval_of_the_difference_and_equal_errors_a_point():
    rng = np.random.default_rng(0)
    assert root_difference(np.array([1.0]), np.array([2.0]), rng=rng) == (-1.0, None)
    assert root_difference(np.ones(30), np.ones(30), rng=rng) == (0.0, (0.0, 0.0))
    assert root_difference(np.zeros(30), np.zeros(30), rng=rng) == (0.0, (0.0, 0.0))

"""Intervals of a mean cover it as often as they say, also where numbers are skewed, rare or bounded."""

import numpy as np
import pytest

from glasshead.statistics import (
    COVERAGE,
    METRICS,
    Predictions,
    auc_interval,
    difference_intervals,
    interval_of_equals,
    intervals_beside_nulls,
    mean_difference_interval,
    mean_interval,
    mean_intervals,
    tau_interval,
)
from glasshead.statistics.bounded_mean import bounded_ends, share_ends

SAMPLES, BATCHES = 500, 4


def least(samples):
    """What intervals are said to cover, but for the error of so few samples."""
    return COVERAGE - 2 * np.sqrt(COVERAGE * (1 - COVERAGE) / samples)


LEAST = least(SAMPLES * BATCHES)


def rare(rng, shape):
    """A tenth of the texts matter, each by its own amount."""
    return (rng.random(shape) < 0.1) * rng.uniform(0.2, 1.0, shape)


LAWS = {
    "exponential": (lambda rng, shape: rng.exponential(size=shape), 1.0, (0, np.inf)),
    "log-normal": (lambda rng, shape: rng.lognormal(size=shape), np.exp(0.5), (0, np.inf)),
    "rare": (rare, 0.06, (0, 1)),
    "zero or one": (lambda rng, shape: (rng.random(shape) < 0.1) * 1.0, 0.1, (0, 1)),
}


@pytest.mark.parametrize("known", [True, False], ids=["range known", "range not known"])
@pytest.mark.parametrize("n", [20, 50])
@pytest.mark.parametrize("law", LAWS)
def test_the_default_interval_covers_the_mean(law, n, known):
    """Of the samples that have an interval: numbers that are all alike, of no known range, have none."""
    draw, mean, within = LAWS[law]
    inside, with_interval = 0, 0
    for batch in range(BATCHES):
        rng = np.random.default_rng([batch, n])
        values = draw(rng, (SAMPLES, n))
        for estimate in mean_intervals(values, rng=rng, **({"within": within} if known else {})):
            if estimate.interval is not None:
                low, high = estimate.interval
                inside += low <= mean <= high
                with_interval += 1
                assert within[0] <= low or not known
    assert inside / with_interval > LEAST
    assert with_interval == SAMPLES * BATCHES or not known
    assert with_interval > 0.85 * SAMPLES * BATCHES


def test_of_normal_numbers_it_is_hardly_wider_than_students():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(1000, 50))
    widths = [one.high - one.low for one in mean_intervals(values, rng=rng)]
    students = 2 * 2.0096 * values.std(axis=1, ddof=1) / np.sqrt(50)
    assert 1.0 <= np.mean(widths) / np.mean(students) < 1.07


def test_paired_differences_cover_theirs():
    """Of shares and what chance would give them, half of the texts without any."""
    inside = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        values = rng.beta(0.3, 0.7, 20) * (rng.random(20) < 0.5)
        nulls = {"random": rng.beta(0.3, 0.7, 20) * (rng.random(20) < 0.2)}
        ((_, differences),) = intervals_beside_nulls([values], [nulls], rng=rng, within=(0, 1))
        inside += differences["random"].low <= 0.5 * 0.3 - 0.2 * 0.3 <= differences["random"].high
    assert inside > 200 * least(200)


@pytest.mark.parametrize("ones", [0, 1, 7, 20])
def test_the_bound_of_zeros_and_ones_is_that_of_clopper_and_pearson(ones):
    values = np.repeat([1.0, 0.0], [ones, 20 - ones])[None]
    ends = bounded_ends(values, np.array([[0.0, 1.0]]), 0.95, 200_000, np.random.default_rng(0))
    assert ends[:, 0] == pytest.approx(share_ends(ones, 20), abs=2e-3)


def test_the_bound_of_equals_is_that_of_none_that_differ():
    values = np.full((1, 30), 0.4)
    ends = bounded_ends(values, np.array([[-1.0, 1.0]]), 0.99, 400_000, np.random.default_rng(0))
    assert ends[:, 0] == pytest.approx(interval_of_equals(0.4, 30, 0.99), abs=4e-3)


def test_it_shifts_scales_and_turns_with_the_numbers():
    rng = np.random.default_rng(2)
    for values in (rng.normal(size=25), rare(rng, 25), rng.lognormal(size=9)):
        once = mean_interval(values, rng=np.random.default_rng(0), within=(-5, 30))
        moved = mean_interval(7 - 3 * values, rng=np.random.default_rng(0), within=(7 - 90, 22))
        again = mean_interval(1e6 * values + 5, rng=np.random.default_rng(0), within=(-5e6 + 5, 3e7 + 5))
        assert again.interval == pytest.approx([1e6 * end + 5 for end in once.interval], rel=1e-9)
        assert moved.interval == pytest.approx([7 - 3 * end for end in once.interval[::-1]], rel=1e-9)


def test_a_range_belongs_to_its_row():
    rng = np.random.default_rng(3)
    values = np.round(rng.random((3, 20)) * (rng.random((3, 20)) < 0.3), 1)
    ranges = [(0, 1), (-1, 1), (-np.inf, np.inf)]
    together = mean_intervals(values, rng=np.random.default_rng(0), within=ranges)
    alone = [
        mean_interval(row, rng=np.random.default_rng(0), within=r)
        for row, r in zip(values, ranges, strict=True)
    ]
    for one, other in zip(together, alone, strict=True):
        assert tuple(one) == pytest.approx(tuple(other), rel=1e-9)


def test_three_of_twenty_that_differ_leave_no_end_but_that_of_the_range():
    """One resample in 25 holds none of the three: no t can say how much those may be that were not seen."""
    values = np.repeat([0.0, 0.3], [17, 3])
    low, high = mean_interval(values, rng=np.random.default_rng(0), within=(0, 1)).interval
    bound = bounded_ends(values[None], np.array([[0.0, 1.0]]), 0.95, 100_000, np.random.default_rng(1))[:, 0]
    assert (low, high) == pytest.approx((0.0, bound[1]), abs=0.02)


@pytest.mark.parametrize("noise", [0.0, 1e-9, 1e-7])
def test_numbers_that_differ_by_rounding_are_alike(noise):
    """So that a model that computes in float32 is no surer than one that does not move at all."""
    values = noise * np.random.default_rng(0).random((1, 20))
    low, high = mean_interval(values[0], rng=np.random.default_rng(0), within=(0, 1)).interval
    assert (low, high) == pytest.approx(interval_of_equals(0.0, 20, least=0.0), abs=1e-6)
    assert low >= 0
    unknown = mean_interval(values[0], rng=np.random.default_rng(0), within=(0, np.inf))
    assert (unknown.interval is None) == (noise == 0)


def test_what_rounding_puts_outside_of_a_range_is_put_back():
    tiny = mean_interval(np.full(30, -1e-17), rng=np.random.default_rng(0), within=(0, np.inf))
    assert tiny.mean == 0.0
    single = mean_interval([1 + 1e-6, 0.5], rng=np.random.default_rng(0), within=(0, 1))
    assert single.mean == 0.75


@pytest.mark.parametrize("n", [20, 50])
@pytest.mark.parametrize("share", [0.01, 0.05, 0.2])
def test_few_that_move_are_covered_whether_the_sample_holds_one_or_none(share, n):
    """A change of up to 1 in few texts, of about nothing in the others."""
    inside = []
    for batch in range(BATCHES):
        rng = np.random.default_rng([batch, n])
        moved = rng.random((SAMPLES, n)) < share
        values = np.where(moved, rng.uniform(0.2, 1.0, moved.shape), 1e-8 * rng.random(moved.shape))
        estimates = mean_intervals(values, rng=rng, within=(0, 1))
        inside += [one.low <= 0.6 * share <= one.high for one in estimates]
    assert np.mean(inside) > LEAST


def test_a_value_outside_of_its_range_is_refused():
    for within in ((0, 1), (0, np.inf), (-np.inf, 0.5)):
        with pytest.raises(ValueError, match="outside"):
            mean_interval([-0.2, 0.7], rng=np.random.default_rng(0), within=within)
    assert mean_interval([0.3, 1 + 1e-15], rng=np.random.default_rng(0), within=(0, 1)).high <= 1 + 1e-12


def enough(inside):
    """In no fewer samples than is said, but for the error of so few."""
    return np.mean(inside) > least(len(inside))


class TestComparisons:
    def test_of_skewed_groups(self):
        inside = []
        for seed in range(400):
            rng = np.random.default_rng(seed)
            low, high = mean_difference_interval(rng.exponential(size=10), rng.exponential(size=50), rng=rng)
            inside.append(low <= 0 <= high)
        assert enough(inside)

    def test_of_groups_that_hardly_overlap(self):
        inside = []
        for seed in range(300):
            rng = np.random.default_rng(seed)
            found = auc_interval(rng.normal(2, 1, 20), rng.normal(0, 1, 100), rng=rng, resamples=300)
            inside.append(found.low <= 0.9213504 <= found.high)  # Φ(2 / √2)
        assert enough(inside)

    def test_of_accuracies_of_which_few_examples_differ(self):
        """20 examples, of which 1 and 2 are wrong in the mean, each model for itself."""
        inside = []
        for seed in range(200):
            rng = np.random.default_rng(seed)
            labels = np.ones(20, dtype=int)
            ours, theirs = (
                Predictions((0,), labels, (rng.random((1, 20)) < right).astype(int), 2)
                for right in (0.95, 0.9)
            )
            ((low, high),) = difference_intervals(ours, theirs, [METRICS["accuracy"]], rng=rng, resamples=500)
            inside.append(low <= 0.05 <= high)
            assert -1 <= low <= high <= 1
        assert enough(inside)

    def test_one_order_is_no_certainty(self):
        values = np.arange(20.0)
        assert tau_interval(values, values, rng=np.random.default_rng(0)).interval == pytest.approx(
            interval_of_equals(1.0, 10)
        )

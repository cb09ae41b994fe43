"""Intervals of shares: never a point, and a family of differences errs no more often than it says."""

import numpy as np
import pytest

from glasshead.statistics import (
    auc_interval,
    cluster_interval,
    share_difference_interval,
    share_interval,
    simultaneous_level,
)


@pytest.mark.parametrize("hits", [0, 1, 90, 170, 180])
def test_of_one_word_in_each_sentence_it_is_the_exact_interval(hits):
    right = np.arange(180) < hits
    found = cluster_interval(right.astype(float), np.ones(180))
    assert found == pytest.approx(share_interval(right).interval, abs=2e-3)
    if hits == 180:
        assert found == pytest.approx((0.0251 ** (1 / 180), 1.0), abs=1e-3)


def test_words_that_are_right_together_count_less():
    right, totals = np.repeat([1.0, 0.0], 20) * 5, np.full(40, 5.0)
    together = cluster_interval(right, totals)
    assert together == pytest.approx(share_interval(right > 0).interval, abs=0.02)
    apart = cluster_interval(np.tile([2.0, 3.0], 20), totals)
    assert apart == pytest.approx(share_interval(np.arange(200) < 100).interval, abs=0.02)
    assert cluster_interval(totals, totals)[0] == pytest.approx(0.025 ** (1 / 40))


def test_a_family_of_differences_errs_rarely():
    """Ten relations without a difference, in sentences most of whose words are right or wrong together."""
    rng = np.random.default_rng(0)
    level, families, wrong = simultaneous_level(10), 30, 0
    for _ in range(families):
        intervals = []
        for _ in range(10):
            totals = rng.integers(1, 4, 25)
            share = rng.beta(0.3, 0.7, 25)
            first, second = rng.binomial(totals, share), rng.binomial(totals, rng.permutation(share))
            intervals.append(
                share_difference_interval(
                    first.astype(float), second.astype(float), totals.astype(float), rng=rng, level=level
                )
            )
        wrong += any(low > 0 or high < 0 for low, high in intervals)
    assert wrong <= 4  # 1.5 are expected at 0.05, and more than 4 in 2 of 100 runs


def test_a_difference_that_is_there_is_found():
    rng, totals = np.random.default_rng(0), np.full(40, 2.0)
    first, second = rng.binomial(2, 0.8, 40), rng.binomial(2, 0.3, 40)
    low, high = share_difference_interval(first.astype(float), second.astype(float), totals, rng=rng)
    assert 0 < low < 0.5 < high < 0.8
    same = share_difference_interval(totals, totals, totals, rng=rng)
    assert same == pytest.approx((-(1 - 0.025 ** (1 / 40)), 1 - 0.025 ** (1 / 40)))


def test_groups_that_do_not_overlap_leave_some_doubt():
    found = auc_interval(np.arange(30) + 100.0, np.arange(20) * 1.0, rng=np.random.default_rng(0))
    assert found.interval == pytest.approx((0.025 ** (1 / 20), 1.0))
    assert auc_interval(np.zeros(20), np.ones(20), rng=np.random.default_rng(0)).interval[1] > 0.1

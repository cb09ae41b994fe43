"""Permutation tests of groups: their level where means are equal, their power, and Holm's correction."""

import numpy as np
import pytest
from scipy.stats import binom, permutation_test

from glasshead.statistics import (
    group_tests,
    holm,
    mean_interval,
    mean_intervals,
    resamples_for,
    share_interval,
    simultaneous_level,
)

TIMES = 400
MOST = binom.ppf(0.999, TIMES, 0.05) / TIMES  # what a test of level 0.05 exceeds once in a thousand


def pvalues(values, labels, **options):
    options = {"least": 20, "permutations": 199} | options
    return np.array([test.p for test in group_tests(values, labels, rng=np.random.default_rng(7), **options)])


def draws(sizes, deviations, seed=0):
    """Means are all equal; sizes and deviations are not."""
    labels = np.repeat(np.arange(len(sizes)), sizes)
    noise = np.random.default_rng(seed).normal(size=(TIMES, len(labels)))
    return noise * np.repeat(deviations, sizes), labels


@pytest.mark.parametrize(
    ("sizes", "deviations"),
    [((120, 40, 25), (1, 1, 1)), ((120, 40, 25), (0.3, 1, 2)), ((120, 25), (2, 0.3))],
)
def test_equal_means_are_seldom_told_apart_whatever_sizes_and_variances(sizes, deviations):
    assert (pvalues(*draws(sizes, deviations)) <= 0.05).mean() <= MOST


def test_shares_near_one_are_seldom_told_apart():
    labels = np.repeat([0, 1], (120, 30))
    right = (np.random.default_rng(1).random((TIMES, 150)) < 0.97).astype(float)
    assert (pvalues(right, labels) <= 0.05).mean() <= MOST


def test_a_small_group_with_another_mean_is_found():
    values, labels = draws((120, 25), (1, 1))
    assert (pvalues(values + (labels == 1), labels) <= 0.05).mean() > 0.9


def test_of_two_equal_groups_the_order_is_that_of_the_difference_of_means():
    """W is monotone in |m_1 − m_0| where sizes are equal and everything is exchangeable, so p is SciPy's."""
    values, labels = draws((12, 12), (1, 1))
    rows = values[:5]
    ours = pvalues(rows, labels, least=2, permutations=9999)
    for row, p in zip(rows, ours, strict=True):
        scipy = permutation_test(
            (row[labels == 0], row[labels == 1]),
            lambda x, y, axis: x.mean(axis) - y.mean(axis),
            n_resamples=9999,
            vectorized=True,
            rng=np.random.default_rng(3),
        )
        assert p == pytest.approx(scipy.pvalue, abs=0.03)


def test_what_is_undefined_and_what_is_too_small_is_left_out():
    values, labels = draws((40, 30, 5), (1, 1, 1))
    values = values[:2].copy()
    values[1, 41:] = np.nan
    whole, part = group_tests(values, labels, rng=np.random.default_rng(0), least=20, permutations=99)
    assert (whole.n, whole.groups) == (70, 2)
    assert (part.p, part.n, part.groups) == (None, 40, 1)


def test_what_is_constant_differs_nowhere():
    labels = np.repeat([0, 1], 30)
    assert pvalues(np.full((1, 60), 0.1 + 0.2), labels) == [1.0]


def test_a_test_does_not_depend_on_those_beside_it():
    values, labels = draws((40, 30), (1, 1))
    assert pvalues(values[:1], labels)[0] == pvalues(values[:3], labels)[0]


def test_holm():
    """The example of R's p.adjust: sorted p times m, m − 1, …, never falling, at most 1."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_simultaneous_intervals_are_wider_and_draw_more():
    assert simultaneous_level(1) == pytest.approx(0.95)
    assert simultaneous_level(5) == pytest.approx(0.99)
    assert resamples_for(0.95) == 2000
    assert resamples_for(simultaneous_level(4)) == 8000
    values = np.random.default_rng(0).normal(size=80)
    plain, corrected = (
        mean_interval(values, rng=np.random.default_rng(0), level=level, resamples=resamples_for(level))
        for level in (0.95, simultaneous_level(5))
    )
    ratio = (corrected.high - corrected.low) / (plain.high - plain.low)
    assert ratio == pytest.approx(2.576 / 1.96, rel=0.08)


@pytest.mark.slow
def test_simultaneous_intervals_of_small_groups_miss_as_rarely_as_they_say():
    rng, level = np.random.default_rng(1), simultaneous_level(8)
    estimates = mean_intervals(
        rng.normal(size=(2000, 20)), rng=rng, level=level, resamples=resamples_for(level)
    )
    missed = np.mean([not one.low <= 0 <= one.high for one in estimates])
    assert 0 < missed < 1.3 * (1 - level)


def test_a_share_of_none_has_an_exact_interval_at_any_level():
    level = simultaneous_level(8)
    none = share_interval(np.zeros(47, dtype=bool), level)
    assert none.interval == pytest.approx((0, 1 - ((1 - level) / 2) ** (1 / 47)))


def by_length_alone(seed, texts=400):
    """Numbers that fall with length, groups that go with length, and strata of like length."""
    rng = np.random.default_rng(seed)
    length = rng.integers(4, 60, texts)
    groups = (length + rng.integers(-6, 7, texts) > 30).astype(int)
    strata = np.searchsorted(np.quantile(length, np.arange(1, 16) / 16), length)
    return rng.normal(-0.05 * length, 1), groups, strata


def test_what_goes_with_length_is_no_difference_between_texts_of_like_length():
    plain, stratified = [], []
    for seed in range(60):
        values, groups, strata = by_length_alone(seed)
        rng = np.random.default_rng(seed)
        plain += [group_tests(values[None], groups, rng=rng, permutations=199)[0].p]
        stratified += [group_tests(values[None], groups, rng=rng, permutations=199, strata=strata)[0].p]
    assert np.mean(np.array(plain) <= 0.05) == 1
    assert np.mean(np.array(stratified) <= 0.05) <= 0.15  # 3 expected of 60


def test_a_difference_between_texts_of_like_length_is_found():
    values, groups, strata = by_length_alone(0)
    rng = np.random.default_rng(0)
    (test,) = group_tests((values + groups)[None], groups, rng=rng, permutations=999, strata=strata)
    assert test.p <= 0.01
    assert 0 < test.n < len(values)  # bins of one group take no part


def test_strata_of_one_group_each_decide_nothing():
    groups = np.repeat([0, 1], 50)
    rng = np.random.default_rng(0)
    (test,) = group_tests(rng.normal(size=(1, 100)), groups, rng=rng, strata=groups)
    assert (test.p, test.n, test.groups) == (None, 0, 0)


def test_one_stratum_is_none():
    values, groups, _ = by_length_alone(1)
    one, other = (
        group_tests(values[None], groups, rng=np.random.default_rng(3), permutations=199, strata=strata)
        for strata in (None, np.zeros(len(groups), dtype=int))
    )
    assert one == other

"""The interval of a mean of which only sums are kept, against SciPy's of the numbers themselves."""

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from glasshead.statistics import interval_of_mean, student_interval


@pytest.mark.parametrize("level", [0.95, 1 - 0.05 / 10_296])
def test_it_is_that_of_the_numbers(level):
    values = np.random.default_rng(0).normal(0.4, 0.1, (20, 3))
    interval = student_interval(values.sum(axis=0), (values**2).sum(axis=0), np.full(3, 20), level)
    for column, ends in zip(values.T, interval.T, strict=True):
        assert ends == pytest.approx(ttest_1samp(column, 0.0).confidence_interval(level))


def test_equal_numbers_have_no_width_and_one_number_no_interval():
    interval = student_interval(np.array([1.5, 0.5]), np.array([0.75, 0.25]), np.array([3, 1]))
    assert interval[:, 0] == pytest.approx([0.5, 0.5])
    assert np.isnan(interval[:, 1]).all()


def test_of_numbers_themselves_it_is_scipys_and_one_number_has_none():
    values = np.random.default_rng(1).normal(0.4, 0.1, 7)
    assert interval_of_mean(values) == pytest.approx(ttest_1samp(values, 0.0).confidence_interval(0.95))
    assert np.isnan(interval_of_mean(values[:1])).all()

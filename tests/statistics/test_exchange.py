"""Exchange tests beside every exchange that there is."""

import itertools

import numpy as np
import pytest

from glasshead.statistics import exchange_tails


def every_exchange(values):
    """Both tails of one table [K, N], from all K^N choices."""
    sums = np.array([sum(choice) for choice in itertools.product(*values.T)])
    observed = values[0].sum()
    return (sums >= observed - 1e-9).mean(), (sums <= observed + 1e-9).mean()


@pytest.mark.parametrize(("places", "units"), [(2, 8), (3, 6), (5, 4)])
def test_tails_are_those_of_all_exchanges(places, units):
    tables = np.random.default_rng(places).exponential(size=(4, places, units))
    tables[3] = np.round(tables[3])  # with ties
    larger, smaller = exchange_tails(tables, rng=np.random.default_rng(0), level=0.999)
    expected = np.array([every_exchange(table) for table in tables])
    np.testing.assert_allclose(np.stack([larger, smaller], axis=1), expected, atol=0.03)


def test_one_unit_that_differs_is_no_evidence_and_twelve_are():
    values = np.zeros((2, 2, 50))
    values[0, 0, 0], values[1, 0, :12] = 100.0, 0.001
    larger, smaller = exchange_tails(values, rng=np.random.default_rng(0), level=0.9999)
    assert larger[0] == pytest.approx(0.5, abs=0.01)
    assert larger[1] == pytest.approx(0.5**12, abs=2e-4)
    assert smaller == pytest.approx([1.0, 1.0])


def test_a_unit_without_a_number_takes_no_part():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(1, 3, 20))
    values[0, 1, 4] = values[0, 0, 7] = np.nan
    without = np.where(np.isnan(values).any(axis=1, keepdims=True), 0.0, values)
    tails = [exchange_tails(each, rng=np.random.default_rng(1), level=0.95) for each in (values, without)]
    np.testing.assert_array_equal(*tails)


def test_p_is_small_enough_for_any_level_and_never_zero():
    sure = np.zeros((1, 2, 60))
    sure[:, 0] = 1.0
    for level in (0.95, 0.999, 0.9999):
        larger, _ = exchange_tails(sure, rng=np.random.default_rng(0), level=level)
        assert 0 < larger[0] < (1 - level) / 2

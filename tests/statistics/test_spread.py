"""The range of numbers without strays, which a slipped decimal point does not set."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshead.statistics import typical_range

RATINGS = [1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 4.0, 5.0] * 5


@pytest.mark.parametrize("stray", [1000.0, -1000.0])
def test_one_stray_is_left_out(stray):
    assert typical_range([*RATINGS, stray]) == typical_range(RATINGS) == 4.0
    assert typical_range([1.0, 2.0, 3.0, 4.0, stray]) == 3.0


def test_what_is_not_rare_is_no_stray():
    assert typical_range([0.0] * 95 + [1.0] * 5) == 1.0  # nothing else varies
    assert typical_range(RATINGS + [1000.0] * 4) == 999.0  # one number in eleven


@pytest.mark.parametrize(("values", "expected"), [([], 0.0), ([np.nan], 0.0), ([2.0, 2.0], 0.0)])
def test_no_range(values, expected):
    assert typical_range(values) == expected


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=40), st.floats(0.5, 4.0), st.floats(-50.0, 50.0))
def test_it_moves_with_the_unit_and_not_with_the_origin(values, unit, origin):
    moved = typical_range([unit * value + origin for value in values])
    whole = np.ptp(values)
    assert 0.0 <= typical_range(values) <= whole
    assert moved <= unit * whole + 1e-6

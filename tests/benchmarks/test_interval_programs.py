"""The opponents of the benchmark answer the same question: cold programs, warm ones, and ours."""

import numpy as np
import pytest

from glasshead.bench.identifiability import WARM, random_row, solve_cold, solve_warm
from glasshead.identifiability import intervals


@pytest.mark.parametrize(("tokens", "size"), [(6, 2), (12, 5), (5, 8)])
def test_both_opponents_give_our_intervals(tokens, size):
    T, a = random_row(tokens, size, 0)
    expected = solve_cold(T, a, np.arange(tokens))
    ours = intervals(T, a)
    np.testing.assert_allclose(np.stack([ours.low, ours.high]), expected, atol=1e-8)
    for options in WARM.values():
        np.testing.assert_allclose(solve_warm(T, a, options), expected, atol=1e-8)

"""Values are compared to nine digits, however small they are."""

import numpy as np

from glasshead.audits.agreement import round_digits


def test_noise_breaks_no_tie_and_small_values_keep_their_order():
    values = np.array([[3.0, 3.0 * (1 + 1e-12), 3.1, 0.0, -2e-305, 1e-305, 5e-324]])
    mask = np.ones_like(values, dtype=bool)
    rounded = round_digits(values, mask)[0]
    assert rounded[0] == rounded[1] < rounded[2]
    assert rounded[3] == 0
    assert np.isfinite(rounded).all()
    large = round_digits(np.array([[1.23456789012e300, 1.23456789013e300, 1.3e300]]), mask[:, :3])[0]
    assert large[0] == large[1] < large[2]


def test_masked_values_are_zero():
    assert round_digits(np.array([[np.nan, 2.0]]), np.array([[False, True]])).tolist() == [[0.0, 2.0]]

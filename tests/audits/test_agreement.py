"""Values are compared to nine digits, however small they are; what holds the weight, by hand."""

import numpy as np
import pytest

from glasshead.audits.agreement import focus_of, judge_focus, round_digits
from glasshead.nouns import TEXTS
from glasshead.results import TOO_FEW_EXAMPLES


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


def test_focus_by_hand():
    """Three tokens and padding: weights −0.6, 0.2, 0.2 of importances 0, 4, −2."""
    mask = np.array([[True, True, True, False]])
    weights, importance = np.array([[-0.6, 0.2, 0.2, 9.0]]), np.array([[0.0, 4.0, -2.0, 9.0]])
    np.testing.assert_allclose(focus_of(weights, importance, mask), [(0.2 * 4 + 0.2 * 2) / 4])
    np.testing.assert_allclose(focus_of(np.eye(4)[[1]], importance, mask), [1.0])
    np.testing.assert_allclose(focus_of(weights * 1e-200, importance * 1e-200, mask), [0.3])
    for nothing in (np.zeros((1, 4)), np.where(mask, 0.0, 1.0)):
        assert np.isnan(focus_of(nothing, importance, mask)).all()
        assert np.isnan(focus_of(weights, nothing, mask)).all()
    assert np.isnan(focus_of(weights, importance, np.array([[False, True, False, False]]))).all()


@pytest.mark.parametrize(
    ("over", "words"),
    [
        ((0.1, 0.2), "more than if all had the same"),
        ((-0.2, -0.1), "less than if all had the same"),
        ((-0.1, 0.1), "not distinguishable"),
    ],
)
def test_focus_is_judged_against_uniform_weights(over, words):
    verdict = judge_focus((0.3, 0.5), {"random": (0.1, 0.2), "uniform": over}, TEXTS)
    assert words in verdict.words
    assert judge_focus((0.3, 0.5), {"random": (0.1, 0.2)}, TEXTS) == TOO_FEW_EXAMPLES

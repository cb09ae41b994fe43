"""TanhMax against its definition, and what is true of its range."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from glasshead.attention.activations.softmax import softmax
from glasshead.attention.activations.tanhmax import tanhmax
from tolerances import EXACT_MATHS

scores_rows = st.integers(1, 10).flatmap(lambda n: arrays.arrays(np.float64, n, elements=st.floats(-25, 25)))


def weights(scores):
    return tanhmax(scores, torch.ones_like(scores, dtype=torch.bool))


@given(scores=scores_rows)
def test_equation_6(scores):
    """(e^s − e^−s) / Σ (e^s + e^−s), written down as it stands."""
    expected = (np.exp(scores) - np.exp(-scores)) / (np.exp(scores) + np.exp(-scores)).sum()
    # e^s − e^−s itself loses digits near 0: an absolute error of one ulp of e^s.
    np.testing.assert_allclose(weights(torch.from_numpy(scores)).numpy(), expected, rtol=1e-9, atol=1e-15)


def test_tiny_scores_keep_their_digits():
    """φ(s) ≈ s / n: the difference of exponentials would round this to zero."""
    scores = torch.tensor([1e-12, -3e-12, 2e-12], dtype=torch.float64)
    torch.testing.assert_close(weights(scores), scores / 3, **EXACT_MATHS)


@given(scores=scores_rows)
def test_the_weights_of_a_row_add_up_to_less_than_one_in_magnitude(scores):
    row = weights(torch.from_numpy(scores))
    # Σ|a| = Σ tanh|s| · p < 1; in float64 it may round to 1 from |s| ≈ 19 on.
    assert float(row.abs().sum()) <= 1 + 1e-15
    if np.abs(scores).max() < 15:
        assert float(row.abs().sum()) < 1


def scores_of(a):
    """The inverse: with u = Σ 2 cosh s_k, e^s − e^−s = a·u gives s = asinh(a u / 2), and u is the root of
    Σ √(a_k² + 4/u²) = 1, which exists and is unique because the sum falls from ∞ to Σ|a| < 1."""
    low, high = 1e-9, 1.0
    while np.sqrt(a**2 + 4 / high**2).sum() > 1:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.sqrt(a**2 + 4 / middle**2).sum() > 1 else (low, middle)
    return np.arcsinh(a * high / 2)


@given(
    target=st.integers(1, 8).flatmap(
        lambda n: arrays.arrays(np.float64, n, elements=st.floats(-1, 1, allow_subnormal=False))
    ),
    mass=st.floats(0.01, 0.95),
)
def test_every_row_of_smaller_mass_can_be_produced(target, mass):
    total = np.abs(target).sum()
    a = np.zeros_like(target) if total < 1e-6 else target * mass / total
    np.testing.assert_allclose(weights(torch.from_numpy(scores_of(a))).numpy(), a, atol=1e-9)


@given(scores=st.integers(1, 8).flatmap(lambda n: arrays.arrays(np.float64, n, elements=st.floats(-4, 4))))
def test_by_exactly_one_row_of_scores(scores):
    """The one root leads back to the scores that the weights came from."""
    np.testing.assert_allclose(scores_of(weights(torch.from_numpy(scores)).numpy()), scores, atol=1e-8)


@given(scores=scores_rows)
def test_softmax_rows_are_its_limit_and_never_its_value(scores):
    """Proposition 2 of the paper, in the form in which it is true: add c · 1 and let c grow."""
    scores = torch.from_numpy(scores)
    goal = softmax(scores, torch.ones_like(scores, dtype=torch.bool))
    errors = [float((weights(scores + c) - goal).abs().max()) for c in (30.0, 32.0, 45.0)]
    assert errors[2] < 1e-12
    assert float(weights(scores / 5).abs().sum()) < 1 == pytest.approx(float(goal.sum()))


@given(
    scores=st.integers(1, 8).flatmap(lambda n: arrays.arrays(np.float64, n, elements=st.floats(-3, 3))),
    c=st.floats(4, 8),
)
def test_the_error_of_that_limit_shrinks_like_e_to_the_minus_2c(scores, c):
    """With S the space of scores and 1 ∈ S, z + c·1 stays in S. Dividing eq. 6 by e^c,

    tanhmax(z + c·1)_i = (e^{z_i} − ε e^{−z_i}) / (Σ e^{z_k} + ε Σ e^{−z_k}), ε = e^{−2c},

    so softmax(z)_i − tanhmax(z + c·1)_i = ε (e^{−z_i} + p_i Σ e^{−z_k}) / (Σ e^{z_k} + ε Σ e^{−z_k}):
    positive for every key and every c, and the row is short of mass one by the sum of it.
    """
    z = torch.from_numpy(scores)
    goal = softmax(z, torch.ones_like(z, dtype=torch.bool))
    small, inverse = float(np.exp(-2 * c)), torch.exp(-z)
    missing = goal - weights(z + c)
    expected = small * (inverse + goal * inverse.sum()) / (torch.exp(z).sum() + small * inverse.sum())
    torch.testing.assert_close(missing, expected, rtol=1e-6, atol=1e-15)
    assert (missing > 0).all()
    assert float(weights(z + c).abs().sum()) < 1
    # One more unit of c leaves e^−2 of the error, up to terms of order ε.
    ratio = float((goal - weights(z + c + 1)).max() / missing.max())
    assert ratio == pytest.approx(np.exp(-2), rel=0.2)


@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_the_identity_with_doubled_keys_and_values(n):
    """Softmax over scores [s, −s] and values [v, −v] gives the same output (the sign gauge in one line)."""
    torch.manual_seed(n)
    scores, values = torch.randn(n, dtype=torch.float64), torch.randn(n, 3, dtype=torch.float64)
    doubled = torch.cat([scores, -scores]).softmax(dim=0) @ torch.cat([values, -values])
    torch.testing.assert_close(weights(scores) @ values, doubled, **EXACT_MATHS)

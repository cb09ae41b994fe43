"""Ends without a bound are proven, and weights of any size keep their digits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from linear_programs import drawn

from glasshead.identifiability import FLOAT32_EPS, intervals
from glasshead.identifiability.lp import highs
from glasshead.identifiability.lp.simplex import verify_rays
from tolerances import EXACT_MATHS

inf = np.inf


@pytest.mark.parametrize("eps", [None, FLOAT32_EPS])
def test_a_small_value_still_binds(eps):
    # x + 3e-9 y = 1 + 3e-9 with x, y >= 0.
    found = intervals([[1.0, 0.0], [3e-9, 0.0]], [1.0, 1.0], kind="nonnegative", eps=eps)
    np.testing.assert_allclose([found.low, found.high], [[1, 0], [1, 1 + 1 / 3e-9]], rtol=1e-6)
    assert found.failed == {}


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_one_column_by_hand(seed):
    """Values t of one sign: 0 to a·t / t_j; of both signs, no weight has an upper end."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 8))
    t = rng.normal(size=n) * 10.0 ** rng.uniform(-9, 0, size=n)
    a = 10.0 ** rng.uniform(-3, 6) * np.maximum(rng.normal(size=n), 0)
    found = intervals(t[:, None], a, kind="nonnegative")
    both = t.min() < 0 < t.max()
    high = [inf if both else a @ t / each for each in t]
    if both:
        of_a_kind = [(np.sign(t) == -np.sign(each)).any() for each in t]
        assert all(of_a_kind)
    np.testing.assert_allclose(found.high, high, rtol=1e-6, atol=1e-6 * a.max(initial=0.0))
    assert (found.low >= 0).all()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.05]), st.sampled_from([1e-12, 1e-4, 1e7]))
def test_the_unit_of_the_weights_does_not_matter(seed, tolerance, unit):
    rng = np.random.default_rng(seed)
    T, a = drawn("nonnegative", 7, 3, rng)
    found = intervals(T, a, kind="nonnegative", tolerance=tolerance)
    scaled = intervals(T, unit * a, kind="nonnegative", tolerance=tolerance)
    np.testing.assert_allclose(scaled.high / unit, found.high, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(scaled.low / unit, found.low, rtol=1e-6, atol=1e-9)
    assert (found.low >= 0).all()


@pytest.mark.parametrize("tolerance", [0.0, 0.05])
@pytest.mark.parametrize("seed", range(20))
def test_no_weight_that_is_never_negative_has_a_negative_end(seed, tolerance):
    rng = np.random.default_rng(seed)
    T = rng.normal(size=(6, 3)) * 10.0 ** rng.uniform(-9, 0, size=(6, 1))
    a = np.abs(rng.normal(size=6))
    found = intervals(
        T, a, kind="nonnegative", tolerance=tolerance, functions=np.vstack([np.eye(6), np.ones(6)])
    )
    known = np.delete(np.arange(7), list(found.failed))
    assert len(known) > 4
    assert (found.low[known] >= 0).all()


def test_only_a_ray_proves_that_there_is_no_end():
    w = np.array([[0.0, 1.0]])
    basic, entering = np.array([[0]]), np.array([1])
    assert verify_rays(np.array([[1.0, 0.0]]), w, basic, entering).tolist() == [True]
    assert verify_rays(np.array([[1.0, -1.0]]), w, basic, entering).tolist() == [True]
    assert verify_rays(np.array([[1.0, 3e-9]]), w, basic, entering).tolist() == [False]  # x falls
    assert verify_rays(np.array([[1.0, 0.0]]), -w, basic, entering).tolist() == [False]  # falls along it
    assert verify_rays(np.array([[0.0, 1.0]]), w, basic, entering).tolist() == [False]  # no basis


def test_small_entries_bind_for_highs_too():
    values, reasons = highs.highs_maxima(np.array([[1.0, 3e-10]]), np.ones(1), np.array([[0.0, 1.0]]))
    np.testing.assert_allclose(values, 1 / 3e-10, rtol=1e-6)
    assert reasons == [""]


@pytest.mark.parametrize(
    ("made", "eps"),
    [
        (np.float16, 2.0**-10),
        (np.float32, 2.0**-23),
        (np.float64, 2.0**-52),
        (list, 2.0**-52),
        (np.int64, 2.0**-52),
    ],
)
def test_the_type_of_the_values_says_how_they_were_rounded(made, eps):
    T, a = np.array([[1, 0], [0, 2], [1, 2], [3, 1]]), [0.25, 0.25, 0.25, 0.25]
    given = T.tolist() if made is list else T.astype(made)
    found, expected = intervals(given, a), intervals(T.astype(float), np.array(a), eps=eps)
    assert found.margin == pytest.approx(expected.margin)
    np.testing.assert_allclose([found.low, found.high], [expected.low, expected.high], **EXACT_MATHS)
    assert found.high.dtype == np.float64

"""What must hold for intervals of any T and any weights."""

import importlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from linear_programs import drawn, slow_interval

from glasshead.identifiability import WEIGHT_DOMAINS, intervals
from glasshead.identifiability.lp import highs
from glasshead.identifiability.lp.tasks import argmax_may_change

DOUBLE = 2.0**-52
MODULE = importlib.import_module("glasshead.identifiability.lp.intervals")


def ends(found):
    return np.stack([found.low, found.high])


@pytest.mark.parametrize("tolerance", [0.0, 1e-1, 1e-3, 1e-6])
@pytest.mark.parametrize("kind", WEIGHT_DOMAINS)
def test_slow_twin(kind, tolerance):
    rng = np.random.default_rng(len(kind))
    for n, d in ((9, 3), (6, 8), (5, 1)):
        T, a = drawn(kind, n, d, rng)
        sums = np.vstack([np.eye(n), rng.normal(size=(2, n))])
        found = intervals(T, a, kind=kind, tolerance=tolerance, eps=DOUBLE, functions=sums)
        expected = np.array([slow_interval(T, a, kind, tolerance, each) for each in sums]).T
        np.testing.assert_allclose(ends(found), expected, atol=1e-6)
        assert found.failed == {}


def test_duplicated_tokens_are_known_by_their_sum_alone():
    rng = np.random.default_rng(0)
    T, a = drawn("simplex", 7, 6, rng)
    T[3] = T[1]
    found = intervals(T, a, eps=DOUBLE)
    width = found.high - found.low
    assert found.nullity == 1
    np.testing.assert_allclose([found.low[1], found.high[1]], [0, a[1] + a[3]], atol=1e-9)
    np.testing.assert_allclose([found.low[3], found.high[3]], [0, a[1] + a[3]], atol=1e-9)
    assert np.delete(width, [1, 3]).max() < 1e-9
    both = np.zeros((1, 7))
    both[0, [1, 3]] = 1.0
    together = intervals(T, a, eps=DOUBLE, functions=both)
    np.testing.assert_allclose(ends(together), a[[1, 3]].sum(), atol=1e-9)


def test_full_row_rank_needs_no_solver(monkeypatch):
    def never(*args):
        raise AssertionError("a solver was asked")

    monkeypatch.setattr(MODULE, "initial_vertices", never)
    monkeypatch.setattr(highs, "highs_maxima", never)
    rng = np.random.default_rng(0)
    T, a = drawn("simplex", 7, 6, rng)  # rank 6, and [T, 1] has rank 7
    found = intervals(T, a, eps=DOUBLE)
    assert (found.rank, found.nullity) == (7, 0)
    np.testing.assert_array_equal(ends(found), [a, a])
    T, a = drawn("cross", 7, 7, rng)
    np.testing.assert_array_equal(ends(intervals(T, a, kind="cross", eps=DOUBLE)), [a, a])
    with pytest.raises(AssertionError, match="a solver was asked"):
        intervals(T[:, :6], a, kind="cross", eps=DOUBLE)


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(list(WEIGHT_DOMAINS)), st.integers(0, 10**6))
def test_weights_are_inside_and_tolerance_widens(kind, seed):
    rng = np.random.default_rng(seed)
    T, a = drawn(kind, int(rng.integers(1, 9)), int(rng.integers(1, 6)), rng)
    before = np.stack([a, a])
    for tolerance in (0.0, 1e-6, 1e-3, 0.1, 0.5):
        found = ends(intervals(T, a, kind=kind, tolerance=tolerance, eps=DOUBLE))
        assert (found[0] <= before[0] + 1e-7).all()
        assert (found[1] >= before[1] - 1e-7).all()
        before = found


@settings(max_examples=15, deadline=None)
@given(st.sampled_from(list(WEIGHT_DOMAINS)), st.sampled_from([0.0, 0.01]), st.integers(0, 10**6))
def test_permuting_tokens_permutes_intervals(kind, tolerance, seed):
    rng = np.random.default_rng(seed)
    T, a = drawn(kind, 8, 4, rng)
    order = rng.permutation(8)
    found = ends(intervals(T, a, kind=kind, tolerance=tolerance, eps=DOUBLE))
    other = ends(intervals(T[order], a[order], kind=kind, tolerance=tolerance, eps=DOUBLE))
    np.testing.assert_allclose(other, found[:, order], atol=1e-7)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6))
def test_other_coordinates_change_nothing(seed):
    rng = np.random.default_rng(seed)
    T, a = drawn("simplex", 8, 4, rng)
    turned = np.linalg.qr(rng.normal(size=(4, 4))).Q
    found = ends(intervals(T, a, eps=DOUBLE))
    np.testing.assert_allclose(ends(intervals(T @ turned + 3.0, a, eps=DOUBLE)), found, atol=1e-7)
    np.testing.assert_allclose(ends(intervals(1e5 * T, a, eps=DOUBLE)), found, atol=1e-7)


@pytest.mark.parametrize("tolerance", [0.0, 0.01])
def test_tiny_weights_and_rows_without_value(tolerance):
    rng = np.random.default_rng(1)
    T, a = drawn("simplex", 10, 4, rng)
    T[[2, 5]] = 0.0
    a[[0, 2, 7]] = 1e-20
    a /= a.sum()
    found = intervals(T, a, tolerance=tolerance, eps=DOUBLE)
    expected = np.array([slow_interval(T, a, "simplex", tolerance, each) for each in np.eye(10)]).T
    np.testing.assert_allclose(ends(found), expected, atol=1e-6)
    assert found.failed == {}


def test_large_and_one_hot():
    rng = np.random.default_rng(2)
    T = rng.normal(size=(60, 8))
    corner = int(T[:, 0].argmax())
    found = intervals(T, np.eye(60)[corner], eps=DOUBLE)
    np.testing.assert_allclose(ends(found), np.stack([np.eye(60)[corner]] * 2), atol=1e-9)
    inside = np.vstack([T, T.mean(axis=0)])
    found = intervals(inside, np.eye(61)[60], eps=DOUBLE)
    assert found.low[60] < 1e-9
    assert found.failed == {}


@pytest.mark.parametrize("kind", ["simplex", "nonnegative", "below-one"])
def test_another_token_could_be_first(kind):
    rng = np.random.default_rng(3)
    seen = set()
    for _ in range(8):
        T, a = drawn(kind, 6, 3, rng)
        top = int(a.argmax())
        rivals = np.delete(np.eye(6), top, axis=0) - np.eye(6)[top]
        most = max(slow_interval(T, a, kind, 0.0, each)[1] for each in rivals)
        known = intervals(T, a, kind=kind, eps=DOUBLE)
        expected = most >= -1e-9
        assert argmax_may_change(T, a, known, kind=kind, embed_dim=3, eps=DOUBLE) == expected
        seen.add(expected)
    assert seen == {True, False}

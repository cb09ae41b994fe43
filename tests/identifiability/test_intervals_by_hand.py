"""Intervals that can be worked out on paper, and those of all vertices of a small polytope."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glasshead.identifiability import FLOAT32_EPS, column_space, intervals, rank_threshold

DOUBLE = 2.0**-52
inf = np.inf


def column(*values):
    return np.array(values, dtype=float)[:, None]


SQUARE = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
CASES = {
    # a = (t, 1 − 2t, t)
    "middle of a line": ("simplex", column(0, 1, 2), [0.25, 0.5, 0.25], [(0, 0.5), (0, 1), (0, 0.5)]),
    # a = (2t, 1 − 3t, t)
    "uneven line": ("simplex", column(0, 1, 3), [0.5, 0.25, 0.25], [(0, 2 / 3), (0, 1), (0, 1 / 3)]),
    # a + t (1, −1, −1, 1), t from −0.1 to 0.2
    "square": ("simplex", SQUARE, [0.4, 0.3, 0.2, 0.1], [(0.3, 0.6), (0.1, 0.4), (0, 0.3), (0, 0.3)]),
    "one-hot at a corner": ("simplex", SQUARE, [1, 0, 0, 0], [(1, 1), (0, 0), (0, 0), (0, 0)]),
    "one-hot inside": ("simplex", column(1, 0, 2), [1, 0, 0], [(0, 1), (0, 0.5), (0, 0.5)]),
    "no value": ("simplex", column(0, 0, 0), [0.2, 0.3, 0.5], [(0, 1)] * 3),
    "one key": ("simplex", column(7), [1], [(1, 1)]),
    "a + 2b = 3": ("nonnegative", column(1, 2), [1, 1], [(0, 3), (0, 1.5)]),
    "a row without value": ("nonnegative", column(1, 0), [1, 5], [(1, 1), (0, inf)]),
    "nothing binds": ("nonnegative", column(0, 0), [1, 0], [(0, inf), (0, inf)]),
    "a/2 + b = 0.55, a + b ≤ 1": ("below-one", column(0.5, 1), [0.5, 0.3], [(0, 0.9), (0.1, 0.55)]),
    "a + 2b = 0.5, |a| + |b| ≤ 1": ("cross", column(1, 2), [0.3, 0.1], [(-0.5, 5 / 6), (-1 / 6, 0.5)]),
    "any line": ("any", column(1, 2), [0.3, 0.1], [(-inf, inf)] * 2),
    "any number times 0": ("any", column(2, 0), [0.5, 1], [(0.5, 0.5), (-inf, inf)]),
    "one free weight": ("any", column(3), [-2], [(-2, -2)]),
    "one weight times 0": ("cross", column(0), [0.2], [(-1, 1)]),
}


@pytest.mark.parametrize("case", CASES)
def test_by_hand(case):
    kind, T, a, expected = CASES[case]
    found = intervals(T, np.array(a, dtype=float), kind=kind)
    np.testing.assert_allclose(np.stack([found.low, found.high], axis=1), expected, atol=1e-9)
    assert found.value.tolist() == a
    assert found.failed == {}


@pytest.mark.parametrize(
    ("kind", "T", "a", "expected"),
    [
        # The output, 1, may be 0.9 to 1.1.
        ("simplex", column(0, 1, 2), [0.25, 0.5, 0.25], [(0, 0.55), (0, 1), (0, 0.55)]),
        ("any", column(2, 0), [0.5, 1], [(0.45, 0.55), (-inf, inf)]),
        ("nonnegative", column(1, 1), [0.5, 0.5], [(0, 1.1), (0, 1.1)]),
        ("below-one", column(1, 1), [0.5, 0.5], [(0, 1), (0, 1)]),
        ("cross", column(2), [0.5], [(0.45, 0.55)]),
    ],
)
def test_tolerance_by_hand(kind, T, a, expected):
    found = intervals(T, np.array(a), kind=kind, tolerance=0.1)
    np.testing.assert_allclose(np.stack([found.low, found.high], axis=1), expected, atol=1e-9)


def test_ranks_by_hand():
    found = intervals(SQUARE, np.full(4, 0.25))
    assert (found.rank, found.nullity) == (3, 1)
    found = intervals(SQUARE, np.full(4, 0.25), kind="nonnegative")
    assert (found.rank, found.nullity) == (2, 2)
    seen = column_space(np.diag([4.0, 1.0, 1e-7, 0.0]), eps=FLOAT32_EPS)
    assert seen.sizes.tolist() == [4.0, 1.0]
    assert seen.dropped == 1e-7
    assert seen.floor == rank_threshold(4, 4, FLOAT32_EPS, 4.0) == 4 * 2.0**-23 * 4
    assert seen.margin == 1.0 / seen.floor
    assert column_space(np.diag([4.0, 1.0, 1e-7, 0.0]), eps=DOUBLE).sizes.tolist() == [4.0, 1.0, 1e-7]
    # As many columns as T had before it was given in other coordinates decide about the threshold.
    assert (
        column_space(np.diag([4.0, 1.0]), embed_dim=10).floor == 5 * column_space(np.diag([4.0, 1.0])).floor
    )


def lifted(kind, T, a):
    """{x ≥ 0, A x = b} and the weights as x ``read``, written out anew."""
    n = len(a)
    if kind == "simplex":
        return np.vstack([T.T, np.ones(n)]), np.append(a @ T, 1.0), np.eye(n)
    if kind == "below-one":
        A = np.vstack([np.hstack([T.T, np.zeros((T.shape[1], 1))]), np.ones(n + 1)])
        return A, np.append(a @ T, 1.0), np.eye(n + 1, n)
    A = np.vstack([np.hstack([T.T, -T.T, np.zeros((T.shape[1], 1))]), np.ones(2 * n + 1)])
    return A, np.append(a @ T, 1.0), np.vstack([np.eye(n), -np.eye(n), np.zeros((1, n))])


def vertices(A, b):
    """Every basic solution ≥ 0, by trying all sets of independent columns."""
    for size in range(1, np.linalg.matrix_rank(A) + 1):
        for columns in map(list, combinations(range(A.shape[1]), size)):
            x, _, rank, _ = np.linalg.lstsq(A[:, columns], b)
            if rank == size and np.allclose(A[:, columns] @ x, b, atol=1e-9) and x.min() > -1e-9:
                whole = np.zeros(A.shape[1])
                whole[columns] = x
                yield whole


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_brute_force_over_all_vertices(data):
    kind = data.draw(st.sampled_from(["simplex", "below-one", "cross"]))
    n = data.draw(st.integers(1, 3 if kind == "cross" else 6))
    d = data.draw(st.integers(1, 3))
    T = np.array(
        data.draw(st.lists(st.lists(st.integers(-3, 3), min_size=d, max_size=d), min_size=n, max_size=n))
    )
    shares = np.array(data.draw(st.lists(st.integers(0, 5), min_size=n, max_size=n).filter(any)), dtype=float)
    a = shares / shares.sum()
    if kind != "simplex":
        a *= data.draw(st.sampled_from([0.3, 0.9, 1.0]))
    if kind == "cross":
        a *= np.array(data.draw(st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n)))
    A, b, read = lifted(kind, T, a)
    every = np.array([x @ read for x in vertices(A, b)])
    found = intervals(T.astype(float), a, kind=kind, eps=DOUBLE)
    np.testing.assert_allclose(found.low, every.min(axis=0), atol=1e-7)
    np.testing.assert_allclose(found.high, every.max(axis=0), atol=1e-7)
    sums = every @ np.ones(n)
    whole = intervals(T.astype(float), a, kind=kind, eps=DOUBLE, functions=np.ones((1, n)))
    np.testing.assert_allclose([*whole.low, *whole.high], [sums.min(), sums.max()], atol=1e-7)

"""Divergences: SciPy's numbers, zeros, bounds, and what has none."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon
from scipy.stats import entropy

from glasshead.statistics import jensen_shannon, kl_divergence, total_variation


def rows(seed: int, *shape: int) -> np.ndarray:
    """Random distributions over the last axis."""
    return np.random.default_rng(seed).dirichlet(np.ones(shape[-1]), size=shape[:-1])


@given(seed=st.integers(0, 2**16), n=st.integers(1, 40))
def test_equals_scipy(seed: int, n: int) -> None:
    p, q = rows(seed, 3, n), rows(seed + 1, 3, n)
    assert jensen_shannon(p, q) == pytest.approx(jensenshannon(p, q, axis=-1) ** 2, abs=1e-12)
    assert kl_divergence(p, q) == pytest.approx(entropy(p, q, axis=-1), abs=1e-12)


def test_a_key_that_neither_reads_counts_for_nothing() -> None:
    p, q = rows(0, 4, 7), rows(1, 4, 7)
    padded = [np.pad(row, ((0, 0), (0, 5))) for row in (p, q)]
    for distance in (jensen_shannon, kl_divergence, total_variation):
        assert distance(*padded) == pytest.approx(distance(p, q), abs=1e-12)


def test_disjoint_rows_are_furthest_apart() -> None:
    p, q = [1.0, 0.0, 0.0], [0.0, 0.25, 0.75]
    assert jensen_shannon(p, q) == pytest.approx(np.log(2))
    assert total_variation(p, q) == pytest.approx(1.0)
    assert kl_divergence(p, q) == np.inf


def test_one_row_against_many() -> None:
    many = rows(2, 6, 5)
    uniform = np.full(5, 0.2)
    for distance in (jensen_shannon, kl_divergence, total_variation):
        assert distance(many, uniform).shape == (6,)
        assert distance(many, uniform)[3] == pytest.approx(float(distance(many[3], uniform)))


@given(seed=st.integers(0, 2**16))
def test_pinsker(seed: int) -> None:
    """TVD² ≤ ½ KL, and JSD is symmetric and at most log 2 · TVD (Lin 1991, theorem 3)."""
    p, q = rows(seed, 8, 4), rows(seed + 1, 8, 4)
    distance = total_variation(p, q)
    assert (distance**2 <= kl_divergence(p, q) / 2 + 1e-12).all()
    assert (jensen_shannon(p, q) <= np.log(2) * distance + 1e-12).all()
    assert jensen_shannon(p, q) == pytest.approx(jensen_shannon(q, p), abs=1e-12)


def test_signed_values_have_a_distance_but_no_divergence() -> None:
    p, q = [0.5, -0.5], [-0.5, 0.5]
    assert total_variation(p, q) == pytest.approx(1.0)
    for divergence in (jensen_shannon, kl_divergence):
        with pytest.raises(ValueError, match="not negative"):
            divergence(p, q)

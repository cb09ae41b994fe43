"""The farthest map with the same prediction: solvers against enumeration, random maps, and each other."""

from itertools import combinations, product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from glasshead.attention import ACTIVATIONS
from glasshead.audits.adversary.distances import jensen_shannon_terms, total_variation_terms
from glasshead.audits.adversary.same_output import farthest_same_output
from glasshead.audits.adversary.vertices import farthest_vertex
from glasshead.identifiability import AttentionRow

DISTANCES = {
    "simplex": jensen_shannon_terms,
    "below-one": total_variation_terms,
    "cross": total_variation_terms,
}
FACETS = {
    # Rows g and ends h of g·x ≤ h.
    "simplex": lambda n: (np.concatenate([-np.eye(n), np.ones((1, n)), -np.ones((1, n))]), [0] * n + [1, -1]),
    "below-one": lambda n: (np.concatenate([-np.eye(n), np.ones((1, n))]), [0] * n + [1]),
    "cross": lambda n: (np.array(list(product([1.0, -1.0], repeat=n))), [1] * 2**n),
}


def distance_of(domain, weights, others):
    terms = DISTANCES[domain](torch.from_numpy(weights), torch.from_numpy(others))
    return terms.sum(dim=-1).numpy()


def enumerated(domain, weights, polarity, low, high):
    """The largest distance over all vertices of {g·x ≤ h, low ≤ o·x ≤ high}: every n constraints that meet in
    one point that breaks none."""
    n = len(weights)
    g, h = FACETS[domain](n)
    g = np.concatenate([g, polarity[None], -polarity[None]])
    h = np.append(np.asarray(h, dtype=float), [high, -low])
    best = 0.0
    for rows in combinations(range(len(g)), n):
        matrix = g[list(rows)]
        if np.linalg.cond(matrix) > 1e9:
            continue
        point = np.linalg.solve(matrix, h[list(rows)])
        if (g @ point <= h + 1e-9).all():
            best = max(best, float(distance_of(domain, weights, point)))
    return best


def drawn(domain, n, rng, draws=None):
    """Random weights of a domain."""
    shape = (n,) if draws is None else (draws, n)
    sizes = rng.exponential(size=(*shape[:-1], n + (domain != "simplex")))
    sizes = (sizes / sizes.sum(axis=-1, keepdims=True))[..., :n]
    return sizes * rng.choice([-1.0, 1.0], shape) if domain == "cross" else sizes


def problem(domain, n, seed):
    rng = np.random.default_rng(seed)
    weights, polarity = drawn(domain, n, rng), rng.normal(size=n)
    middle, reach = float(weights @ polarity), float(rng.uniform(0.001, 0.3))
    return weights, polarity, middle - reach, middle + reach


@pytest.mark.parametrize("domain", ["simplex", "below-one"])
@given(n=st.integers(2, 6), seed=st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_two_tokens_are_as_far_as_any_vertex(domain, n, seed):
    weights, polarity, low, high = problem(domain, n, seed)
    farthest = farthest_vertex(weights, polarity, domain, (low, high), DISTANCES[domain])
    assert low - 1e-12 <= farthest @ polarity <= high + 1e-12
    assert np.count_nonzero(farthest) <= 2
    expected = enumerated(domain, weights, polarity, low, high)
    assert distance_of(domain, weights, farthest) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n", [2, 3, 4])
def test_two_signed_tokens_are_as_far_as_any_vertex(n, seed):
    weights, polarity, low, high = problem("cross", n, seed)
    farthest = farthest_vertex(weights, polarity, "cross", (low, high), total_variation_terms)
    assert low - 1e-12 <= farthest @ polarity <= high + 1e-12
    assert np.abs(farthest).sum() <= 1 + 1e-12
    expected = enumerated("cross", weights, polarity, low, high)
    assert distance_of("cross", weights, farthest) == pytest.approx(expected, abs=1e-9)


def enumerated_signed(weights, polarity, low, high):
    """The same for Σ|a| ≤ 1 as a = p − q with p, q ≥ 0 and Σ(p + q) ≤ 1, which has 2n + 1 facets, not 2ⁿ: the
    distance is convex in (p, q), so the largest is at a vertex there too."""
    n, both = len(weights), np.concatenate([polarity, -polarity])
    g = np.concatenate([-np.eye(2 * n), np.ones((1, 2 * n)), both[None], -both[None]])
    h = np.array([0.0] * 2 * n + [1, high, -low])
    best = 0.0
    for left_out in combinations(range(2 * n + 3), 3):
        rows = [row for row in range(2 * n + 3) if row not in left_out]
        if np.linalg.cond(g[rows]) > 1e9:
            continue
        point = np.linalg.solve(g[rows], h[rows])
        if (g @ point <= h + 1e-9).all():
            best = max(best, float(distance_of("cross", weights, point[:n] - point[n:])))
    return best


@given(n=st.integers(2, 6), seed=st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_two_of_up_to_six_signed_tokens_are_as_far_as_any_vertex(n, seed):
    weights, polarity, low, high = problem("cross", n, seed)
    farthest = farthest_vertex(weights, polarity, "cross", (low, high), total_variation_terms)
    expected = enumerated_signed(weights, polarity, low, high)
    assert distance_of("cross", weights, farthest) == pytest.approx(expected, abs=1e-9)
    if n < 4:
        assert expected == pytest.approx(enumerated("cross", weights, polarity, low, high), abs=1e-9)


@pytest.mark.parametrize("domain", list(DISTANCES))
@pytest.mark.parametrize("n", [3, 6, 24])
def test_none_of_100000_random_feasible_maps_is_farther(domain, n):
    weights, polarity, low, high = problem(domain, n, n)
    farthest = farthest_vertex(weights, polarity, domain, (low, high), DISTANCES[domain])
    best = distance_of(domain, weights, farthest)
    rng, tried = np.random.default_rng(1), 0
    while tried < 100_000:
        # Towards the model's own weights until they are feasible: the set is convex.
        maps = drawn(domain, n, rng, 50_000)
        change = maps @ polarity - weights @ polarity
        share = np.minimum(1.0, (high - low) / 2 / np.maximum(np.abs(change), 1e-300))[:, None]
        maps = weights + share * (maps - weights)
        assert (maps @ polarity >= low - 1e-12).all()
        assert distance_of(domain, weights, maps).max() <= best + 1e-12
        tried += len(maps)


def test_among_many_tokens_the_free_test_is_almost_vacuous():
    rng = np.random.default_rng(0)
    scores, polarity = rng.normal(size=128), rng.normal(size=128)
    weights = np.exp(scores) / np.exp(scores).sum()
    score = float(weights @ polarity)
    farthest = farthest_vertex(
        weights, polarity, "simplex", (score - 0.04, score + 0.04), jensen_shannon_terms
    )
    assert 0.68 < distance_of("simplex", weights, farthest) < np.log(2)


def row_of(T, weights, kind="simplex"):
    activation = ACTIVATIONS["tanhmax" if kind == "cross" else "softmax"]()
    n, d = T.shape
    return AttentionRow(
        0, 0, "by hand", 0, 0, 0, np.arange(n), weights, T, kind, d, 2**-52, True, weights, None, activation
    )  # fmt: skip


def same_output_vertices(row):
    """Every vertex of {x ≥ 0, Σ x = 1, xᵀ T = aᵀ T}: at most rank [T, 1] tokens carry weight."""
    n = len(row.weights)
    equations = np.concatenate([row.T, np.ones((n, 1))], axis=1).T
    ends = equations @ row.weights
    for chosen in combinations(range(n), len(equations)):
        matrix = equations[:, list(chosen)]
        if np.linalg.cond(matrix) < 1e9:
            x = np.zeros(n)
            x[list(chosen)] = np.linalg.solve(matrix, ends)
            if (x >= -1e-9).all():
                yield x


@pytest.mark.parametrize("seed", range(6))
def test_same_output_is_between_what_was_found_and_the_bound(seed):
    rng = np.random.default_rng(seed)
    n, d = 8, 3
    row = row_of(rng.normal(size=(n, d)), drawn("simplex", n, rng))
    result = farthest_same_output(row, jensen_shannon_terms, np.log(2), rng)
    found, bound, weights = result.distance, result.bound, result.weights
    truth = max(float(distance_of("simplex", row.weights, x)) for x in same_output_vertices(row))
    assert found <= truth + 1e-9 <= bound + 2e-9
    assert found > 0.9 * truth
    np.testing.assert_allclose(weights @ row.T, row.weights @ row.T, atol=1e-9)
    assert weights.min() >= 0
    assert weights.sum() == pytest.approx(1)


@pytest.mark.parametrize(
    ("kind", "distance"), [("simplex", jensen_shannon_terms), ("cross", total_variation_terms)]
)
def test_weights_that_the_output_identifies_have_no_other_map(kind, distance):
    rng = np.random.default_rng(3)
    row = row_of(rng.normal(size=(5, 9)), drawn(kind, 5, rng), kind)
    result = farthest_same_output(row, distance, 1.0, rng)
    assert (result.distance, result.bound, result.converged) == (0.0, 0.0, True)


def test_signed_weights_of_the_same_output_stay_in_the_ball():
    rng = np.random.default_rng(4)
    row = row_of(rng.normal(size=(9, 3)), drawn("cross", 9, rng), "cross")
    result = farthest_same_output(row, total_variation_terms, 1.0, rng)
    found, bound, weights = result.distance, result.bound, result.weights
    assert 0.2 < found <= bound <= 1.0
    np.testing.assert_allclose(weights @ row.T, row.weights @ row.T, atol=1e-9)
    assert np.abs(weights).sum() <= 1 + 1e-9


@given(n=st.integers(1, 20), seed=st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_distances_are_those_of_scipy(n, seed):
    from scipy.spatial.distance import jensenshannon

    rng = np.random.default_rng(seed)
    one, other = drawn("simplex", n, rng), drawn("simplex", n, rng)
    assert distance_of("simplex", one, other) == pytest.approx(jensenshannon(one, other) ** 2, abs=1e-12)
    assert distance_of("cross", one, other) == pytest.approx(np.abs(one - other).sum() / 2)

"""Solvers that fail give no number; input that makes no sense is refused."""

import importlib

import numpy as np
import pytest
from linear_programs import drawn

from glasshead.errors import InputError
from glasshead.identifiability import WEIGHT_DOMAINS, intervals
from glasshead.identifiability.lp import highs, simplex

DOUBLE = 2.0**-52
MODULE = importlib.import_module("glasshead.identifiability.lp.intervals")
BOUNDED = [kind for kind in WEIGHT_DOMAINS if WEIGHT_DOMAINS[kind].polytope is not None]


def no_vertex(A, start):
    return [None] * len(A)


def ends(found):
    return np.stack([found.low, found.high])


def counting(monkeypatch):
    asked, own = [], highs.highs_maxima

    def maxima(A, b, functions):
        asked.append(len(functions))
        return own(A, b, functions)

    monkeypatch.setattr(highs, "highs_maxima", maxima)
    return asked


@pytest.mark.parametrize("tolerance", [0.0, 0.01])
@pytest.mark.parametrize("kind", BOUNDED)
def test_highs_says_the_same(kind, tolerance, monkeypatch):
    asked = counting(monkeypatch)
    rng = np.random.default_rng(4)
    T, a = drawn(kind, 10, 4, rng)
    found = intervals(T, a, kind=kind, tolerance=tolerance, eps=DOUBLE)
    assert asked == []
    monkeypatch.setattr(MODULE, "initial_vertices", no_vertex)
    other = intervals(T, a, kind=kind, tolerance=tolerance, eps=DOUBLE)
    assert asked == [20]
    np.testing.assert_allclose(ends(other), ends(found), atol=1e-6)
    assert other.failed == {}


@pytest.mark.parametrize("kind", BOUNDED)
def test_searches_that_give_up_are_done_by_highs(kind, monkeypatch):
    asked = counting(monkeypatch)
    rng = np.random.default_rng(5)
    T, a = drawn(kind, 10, 4, rng)
    found = intervals(T, a, kind=kind, eps=DOUBLE)
    monkeypatch.setattr(simplex, "MAX_STEPS", 1)
    other = intervals(T, a, kind=kind, eps=DOUBLE)
    assert sum(asked) > 5
    np.testing.assert_allclose(ends(other), ends(found), atol=1e-6)


def test_a_basis_that_proves_nothing_has_no_value():
    # max x_1 over x_1 + x_2 = 1: the basis {x_2} is a vertex, but not the largest.
    A, b, functions = np.ones((1, 2)), np.ones(1), np.array([[1.0, 0.0], [0.0, 1.0]])
    found = simplex.verify_by_duality(A, b, functions, np.array([[1], [1]]))
    np.testing.assert_array_equal(found, [np.nan, 1.0])
    # x_1 − x_2 = 1 and the basis {x_2}: x_2 = −1.
    found = simplex.verify_by_duality(np.array([[1.0, -1.0]]), b, functions[:1], np.array([[1]]))
    assert np.isnan(found).all()


def test_no_solver_no_number(monkeypatch):
    def failing(A, b, functions):
        values = np.full(len(functions), 0.25)
        reasons = [""] * len(functions)
        values[3], reasons[3] = np.nan, "HiGHS: time limit reached"
        return values, reasons

    monkeypatch.setattr(MODULE, "initial_vertices", no_vertex)
    monkeypatch.setattr(highs, "highs_maxima", failing)
    found = intervals(np.zeros((6, 1)), np.full(6, 1 / 6))
    assert found.failed == {3: "HiGHS: time limit reached"}
    assert np.isnan([found.low[3], found.high[3]]).all()
    assert found.value[3] == 1 / 6
    assert not np.isnan(np.delete(ends(found), 3, axis=1)).any()


def test_highs_says_why():
    # x_1 + x_2 = −1 has no solution.
    values, reasons = highs.highs_maxima(np.ones((1, 2)), -np.ones(1), np.eye(2))
    assert np.isnan(values).all()
    assert reasons == ["HiGHS: infeasible", "HiGHS: infeasible"]
    # x_1 = x_2 goes on for ever, x_1 − x_2 does not.
    values, reasons = highs.highs_maxima(
        np.array([[1.0, -1.0]]), np.zeros(1), np.array([[1.0, 0.0], [1.0, -1.0]])
    )
    assert values.tolist() == [np.inf, 0.0]
    assert reasons == ["", ""]


@pytest.mark.parametrize(
    ("kind", "a", "said"),
    [
        ("simplex", [1.2, -0.2, 0.0], "a ≥ 0, Σ a = 1: one of them is -0.2"),
        ("simplex", [0.5, 0.3, 0.0], "their sum is 0.8"),
        ("nonnegative", [0.5, 0.3, -0.1], "one of them is -0.1"),
        ("below-one", [0.5, -0.3, 0.1], "one of them is -0.3"),
        ("below-one", [0.5, 0.6, 0.1], "their sizes add up to 1.2"),
        ("cross", [0.5, -0.6, 0.1], "their sizes add up to 1.2"),
    ],
)
def test_weights_that_no_activation_makes_are_refused(kind, a, said):
    with pytest.raises(InputError, match=f"not weights of the kind '{kind}'.*{said}"):
        intervals(np.array([[0.0], [1.0], [2.0]]), a, kind=kind)
    inside = np.array(a) / 10 if kind != "simplex" else np.array([0.2, 0.3, 0.5 + 5e-4])
    assert intervals([[0.0], [1.0], [2.0]], np.abs(inside), kind=kind).failed == {}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"tolerance": -0.1}, "the tolerance must be a number of at least 0, not -0.1"),
        ({"tolerance": float("nan")}, "at least 0, not nan"),
        ({"tolerance": float("inf")}, "at least 0, not inf"),
        ({"kind": "softmax"}, "unknown kind of weights 'softmax': choose from simplex"),
        ({"a": np.array([0.5, np.nan])}, "finite numbers"),
        ({"T": np.array([[np.inf], [0.0]])}, "finite numbers"),
        ({"T": np.zeros((3, 1))}, r"values \[n, d\], not \[2\] and \[3, 1\]"),
        ({"T": np.zeros((0, 1)), "a": np.zeros(0)}, "no key has no weights"),
        ({"T": np.array([["x"], ["y"]])}, "values must be finite numbers"),
        ({"T": np.array([[None], ["y"]], dtype=object)}, "values must be finite numbers"),
        ({"T": np.array([[1j], [0]])}, "values must be finite numbers"),
        ({"T": [[1.0], [1.0, 2.0]]}, "values must be finite numbers"),
        ({"a": "half"}, "weights must be finite numbers"),
        ({"functions": [1.0, 0.0]}, r"functions must be \[L, 2\].*not \[2\]"),
        ({"functions": np.eye(3)}, r"not \[3, 3\]"),
        ({"functions": [[np.nan, 1.0]]}, "functions must be finite numbers"),
        ({"functions": [[1j, 1.0]]}, "functions must be finite numbers"),
        ({"functions": "all"}, "functions must be finite numbers"),
        ({"eps": -1e-7}, "eps must be a machine epsilon.*not -1e-07"),
        ({"eps": 0.0}, "not 0.0"),
        ({"eps": float("nan")}, "not nan"),
        ({"eps": "float32"}, "not 'float32'"),
        ({"embed_dim": -1}, "`embed_dim` must be a whole number of at least 1, not -1"),
        ({"embed_dim": 0}, "not 0"),
        ({"embed_dim": float("inf")}, "not inf"),
        ({"embed_dim": "wide"}, "not 'wide'"),
        ({"tolerance": "small"}, "not 'small'"),
        ({"kind": ["simplex"]}, "unknown kind of weights"),
    ],
)
def test_refused(changed, message):
    given = {"T": np.zeros((2, 1)), "a": np.full(2, 0.5)} | changed
    with pytest.raises(InputError, match=message):
        intervals(given.pop("T"), given.pop("a"), **given)


@pytest.mark.parametrize("size", [1e200, 1e-200])
@pytest.mark.parametrize("kind", WEIGHT_DOMAINS)
def test_the_size_of_values_and_sums_does_not_matter(kind, size):
    T, a = drawn(kind, 6, 2, np.random.default_rng(6))
    functions = np.random.default_rng(7).normal(size=(4, 6))
    found = intervals(T, a, kind=kind, functions=functions, tolerance=0.01)
    other = intervals(size * T, a, kind=kind, functions=size * functions, tolerance=0.01)
    assert (other.rank, other.failed) == (found.rank, {})
    np.testing.assert_allclose(ends(other) / size, ends(found), atol=1e-9)

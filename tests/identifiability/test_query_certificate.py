"""The certificate by first derivatives agrees with a search for other queries."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from scipy.optimize import least_squares

from glasshead.attention import ACTIVATIONS
from glasshead.identifiability.query_certificate import (
    EQUAL,
    FOLD,
    OUTPUT,
    activation_jacobian,
    certify,
    query_certificate,
)

DOUBLE = 2.0**-52
SOFTMAX = ACTIVATIONS["softmax"]()


def certified(T, K, q, activation=SOFTMAX, eps=DOUBLE, **given):
    return certify(T, K @ q, K, activation, eps=eps, **given)


def weights(activation, scores):
    s = torch.as_tensor(scores)
    return activation.weights(s, torch.ones_like(s, dtype=torch.bool)).numpy()


def searched(T, K, q, activation, rho, starts=12):
    """The least change of the output, over ρ, of queries whose weights are ρ away; from many starts.

    ``rho`` is in units of what a query moves that changes by 1, where that moves the weights least.
    """
    rng = np.random.default_rng(0)
    own = weights(activation, K @ q)
    moved = activation_jacobian(activation, K @ q) @ K
    sizes = np.linalg.svd(moved, compute_uv=False)
    rho *= sizes[sizes > 1e-9 * sizes[0]].min()
    hidden = np.linalg.svd(np.vstack([T.T @ moved, 1e-6 * np.eye(len(q))]))[2][::-1]

    def residuals(change):
        step = (weights(activation, K @ (q + change)) - own) / rho
        return np.append(T.T @ step, 10 * (np.linalg.norm(step) - 1))

    found = []
    for start in range(starts):
        along = hidden[start % len(q)] * (-1) ** (start // len(q)) + 0.1 * rng.normal(size=len(q))
        size = np.linalg.norm(moved @ along)
        along *= rho / max(size, 1e-3 * rho)
        found.append(np.linalg.norm(least_squares(residuals, along, xtol=1e-15, ftol=1e-15, gtol=1e-15).fun))
    return min(found)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_slopes_of_every_activation(name):
    activation = ACTIVATIONS[name]()
    low, high = activation.domain
    scores = np.random.default_rng(0).uniform(low, high, 7)
    allowed = torch.ones(7, dtype=torch.bool)
    expected = torch.func.jacrev(lambda s: activation.weights(s, allowed))(torch.tensor(scores))
    np.testing.assert_allclose(activation_jacobian(activation, scores), expected, rtol=1e-12, atol=1e-14)


def test_slopes_by_formula():
    scores = np.random.default_rng(1).normal(size=6)
    a = weights(SOFTMAX, scores)
    np.testing.assert_allclose(activation_jacobian(SOFTMAX, scores), np.diag(a) - np.outer(a, a), atol=1e-15)
    a, all_of_it = weights(ACTIVATIONS["tanhmax"](), scores), np.cosh(scores) / np.cosh(scores).sum()
    found = activation_jacobian(ACTIVATIONS["tanhmax"](), scores)
    np.testing.assert_allclose(found, np.diag(all_of_it) - np.outer(a, a), atol=1e-15)


@pytest.mark.parametrize("n", [3, 5, 8])
@pytest.mark.parametrize("head_dim", [1, 2, 4, 9])
@pytest.mark.parametrize("width", [1, 3, 6])
def test_generic_heads(n, head_dim, width):
    rng = np.random.default_rng(100 * n + 10 * head_dim + width)
    T, K, q = rng.normal(size=(n, width)), rng.normal(size=(n, head_dim)), rng.normal(size=head_dim)
    found = certified(T, K, q)
    assert found.rank == min(head_dim, n - 1)
    # Rows of [T, 1] beyond its rank can move unseen: T itself shows as many directions as its columns.
    assert found.output_rank == min(found.rank, width)
    assert found.verdict == ("unique" if found.rank <= width else "not unique")
    assert found.proven
    assert found.reason == ""


UNIQUE = {
    "generic softmax": (6, 2, 3, "softmax"),
    "generic tanhmax": (6, 3, 4, "tanhmax"),
    "generic sigmoid": (5, 2, 2, "sigmoid"),
    "square": (4, 3, 3, "softmax"),
}


@pytest.mark.parametrize("case", UNIQUE)
def test_unique_weights_have_no_others_nearby(case):
    n, head_dim, width, name = UNIQUE[case]
    rng = np.random.default_rng(2)
    T, K, q = rng.normal(size=(n, width)), rng.normal(size=(n, head_dim)), rng.normal(size=head_dim)
    activation = ACTIVATIONS[name]()
    found = certified(T, K, q, activation)
    assert (found.verdict, found.proven) == ("unique", True)
    least = found.smallest * np.linalg.norm(T, 2)
    assert searched(T, K, q, activation, rho=0.002) == pytest.approx(least, rel=0.1)


def duplicates(rng):
    """Tokens 0 and 1 have equal values and different keys: their shares can be exchanged."""
    T = rng.normal(size=(5, 3))
    T[1] = T[0]
    K = np.zeros((5, 3))
    K[:, :2] = rng.normal(size=(5, 2))
    return T, K + rng.normal(size=(5, 3)), rng.normal(size=3)


NOT_UNIQUE = {
    "more queries than values": ("softmax", lambda rng: (rng.normal(size=(8, 2)), rng.normal(size=(8, 4)))),
    "signed": ("tanhmax", lambda rng: (rng.normal(size=(6, 2)), rng.normal(size=(6, 3)))),
    "no value": ("softmax", lambda rng: (np.zeros((4, 2)), rng.normal(size=(4, 2)))),
    "sigsoftmax": ("sigsoftmax", lambda rng: (rng.normal(size=(7, 1)), rng.normal(size=(7, 2)))),
}


@pytest.mark.parametrize("case", NOT_UNIQUE)
def test_weights_that_are_not_unique_have_others_nearby(case):
    name, made = NOT_UNIQUE[case]
    rng = np.random.default_rng(3)
    T, K = made(rng)
    q, activation = rng.normal(size=K.shape[1]), ACTIVATIONS[name]()
    found = certified(T, K, q, activation)
    assert (found.verdict, found.proven) == ("not unique", True)
    assert found.output_rank < found.rank
    assert searched(T, K, q, activation, rho=0.02) < 1e-7


def test_first_order_alone_proves_no_other_weights():
    # T is turned until one direction of the weights is hidden at this query, but at no other.
    rng = np.random.default_rng(4)
    T, K, q = rng.normal(size=(6, 3)), rng.normal(size=(6, 2)), rng.normal(size=2)
    moved = activation_jacobian(SOFTMAX, K @ q) @ K
    direction = moved @ rng.normal(size=2)
    direction /= np.linalg.norm(direction)
    T -= np.outer(direction, direction @ T)
    found = certified(T, K, q)
    assert (found.verdict, found.reason) == ("undetermined", FOLD)
    assert (found.rank, found.output_rank, found.proven) == (2, 1, False)
    large, small = (searched(T, K, q, SOFTMAX, rho) for rho in (0.02, 0.002))
    assert small > 1e-5  # the output does change, by the square of the change of the weights
    assert small == pytest.approx(large / 10, rel=0.2)


@pytest.mark.parametrize("eps", [DOUBLE, 2.0**-23])
def test_at_a_fold_first_order_decides_nothing(eps):
    """a₂ = 1 / (1 + 2 cosh q) is largest at q = 0: weights move there unseen, and no other query has the
    output."""
    T, K = np.array([[0.0], [1.0], [0.0]]), np.array([[-1.0], [0.0], [1.0]])
    found = certified(T, K, np.zeros(1), eps=eps)
    assert (found.verdict, found.reason) == ("undetermined", FOLD)
    assert (found.rank, found.output_rank) == (1, 0)
    outputs = [weights(SOFTMAX, K[:, 0] * q)[1] for q in (1e-3, -1e-3, 0.1, -0.1, 3.0)]
    assert max(outputs) < 1 / 3
    found = certified(T, K, np.array([0.5]), eps=eps)
    assert (found.verdict, found.proven) == ("unique", True)


@pytest.mark.parametrize("eps", [DOUBLE, 2.0**-23])
def test_equal_keys_are_fixed_and_not_saturated(eps):
    rng = np.random.default_rng(12)
    T, K = rng.normal(size=(6, 2)), np.tile(rng.normal(size=3), (6, 1))
    q, bias = rng.normal(size=3), rng.normal(size=6)
    for name in ("softmax", "sigsoftmax", "sigmoid"):
        found = certified(T, K, q, ACTIVATIONS[name](), eps=eps)
        assert (found.verdict, found.proven, found.reason) == ("fixed", True, EQUAL), name
    # A bias tells them apart, and no query changes that under softmax alone.
    assert certify(T, K @ q + bias, K, SOFTMAX, eps=eps).verdict == "fixed"
    assert certify(T, K @ q + bias, K, ACTIVATIONS["sigmoid"](), eps=eps).verdict != "fixed"
    for size in (1, 30, -30):  # far from zero TanhMax is flat, yet the query −q turns every weight round
        row = certify(T, np.full(6, float(size)), K, ACTIVATIONS["tanhmax"](), eps=eps)
        assert row.verdict != "fixed", size
    assert certify(T, -np.ones(6), K, ACTIVATIONS["relu"](), eps=eps).verdict == "undetermined"


def test_a_hidden_direction_of_linear_weights_is_hidden_everywhere():
    activation = ACTIVATIONS["dot-product"]()
    rng = np.random.default_rng(5)
    T, K, q = rng.normal(size=(6, 3)), rng.normal(size=(6, 2)), rng.normal(size=2)
    direction = K @ rng.normal(size=2)
    direction /= np.linalg.norm(direction)
    T -= np.outer(direction, direction @ T)
    found = certified(T, K, q, activation)
    assert (found.verdict, found.proven, found.output_rank) == ("not unique", True, 1)
    assert searched(T, K, q, activation, rho=0.5) < 1e-9


def test_equal_values_with_keys_of_their_own():
    # Intervals know only the sum of both tokens; three query numbers cannot exchange them unseen.
    T, K, q = duplicates(np.random.default_rng(6))
    found = certified(T, K, q)
    assert (found.verdict, found.rank, found.output_rank) == ("unique", 3, 3)
    found = certified(T[:3], K[:3, :2], q[:2])  # two tokens to tell apart, and two ways to move
    assert (found.verdict, found.rank, found.output_rank) == ("not unique", 2, 1)
    assert searched(T[:3], K[:3, :2], q[:2], SOFTMAX, rho=0.02) < 1e-7


def test_the_rank_that_a_query_has_by_accident_proves_nothing():
    # With s = 0 the sum over tokens of sigmoid' s moves as for softmax: one direction of keys is lost there.
    rng = np.random.default_rng(7)
    T, K = rng.normal(size=(5, 3)), np.column_stack([np.ones(5), rng.normal(size=5)])
    activation = ACTIVATIONS["sigmoid"]()
    found = certified(T, K, np.zeros(2), activation)
    assert (found.verdict, found.rank, found.reason) == ("undetermined", 1, FOLD)
    found = certified(T, K, np.array([0.1, 0.5]), activation)
    assert (found.verdict, found.rank, found.proven) == ("unique", 2, True)
    # For softmax it is lost everywhere.
    found = certified(T, K, np.zeros(2))
    assert (found.verdict, found.rank, found.proven) == ("unique", 1, True)


@pytest.mark.parametrize("eps", [DOUBLE, 2.0**-23])
def test_saturated_rows_are_undetermined(eps):
    rng = np.random.default_rng(8)
    T, K, q = rng.normal(size=(6, 4)), rng.normal(size=(6, 2)), rng.normal(size=2)
    found = certified(T, K, 1e4 * q, eps=eps)
    assert found.verdict == "undetermined"
    assert "saturated" in found.reason
    dead = certify(T, -np.ones(6), K, ACTIVATIONS["relu"](), eps=eps)
    assert "saturated" in dead.reason
    # No slope at all: keys of zeros, or scores that a position's ReLU cuts off at this query only.
    assert certify(T, np.zeros(6), np.zeros((6, 2)), SOFTMAX, eps=eps).verdict == "undetermined"
    assert certified(T[:1], K[:1], q, eps=eps).verdict == "fixed"


@pytest.mark.parametrize("eps", [DOUBLE, 2.0**-23])
@pytest.mark.parametrize("scale", [2, 8, 15, 25, 60, 800])
def test_peaked_rows_with_more_queries_than_values_are_never_unique(scale, eps):
    verdicts = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        T, K, q = rng.normal(size=(40, 8)), rng.normal(size=(40, 32)), rng.normal(size=32)
        verdicts.append(certified(T, K, q * scale / (K @ q).std(), eps=eps).verdict)
    assert "unique" not in verdicts
    assert set(verdicts) == {"not unique"} or scale > 2


def test_two_dominant_keys_hide_how_the_others_move():
    rng = np.random.default_rng(0)
    K, scores = rng.normal(size=(10, 6)), np.full(10, -22.0)
    scores[:2] = 0.0
    single = 2.0**-23
    T = rng.normal(size=(10, 2))
    found = certify(T, scores, K, SOFTMAX, eps=single)
    assert (found.verdict, found.rank, found.output_rank) == ("undetermined", 1, 1)
    assert found.reason.startswith("partly saturated")
    assert certify(T, scores, K, SOFTMAX, eps=DOUBLE).verdict == "not unique"  # there they can be measured
    # An output that gives all weights away needs no moves.
    found = certify(rng.normal(size=(10, 9)), scores, K, SOFTMAX, eps=single)
    assert (found.verdict, found.rank, found.reason) == ("fixed", 1, OUTPUT)
    # Weights that are rounded to zero.
    scores[2:] = -2000.0
    assert certify(T, scores, K, SOFTMAX, eps=DOUBLE).reason.startswith("partly saturated")
    # Keys that lack a direction, and scores that a ReLU cuts off, are no saturation.
    K = np.outer(rng.normal(size=10), rng.normal(size=6))
    assert certify(T, scores, K, SOFTMAX, eps=DOUBLE).verdict == "unique"
    dead = certify(T, scores + 1.0, rng.normal(size=(10, 6)), ACTIVATIONS["relu"](), eps=DOUBLE)
    assert (dead.verdict, dead.rank) == ("unique", 2)


def test_ranks_within_rounding_are_undetermined():
    rng = np.random.default_rng(9)
    T, K, q = rng.normal(size=(6, 4)), rng.normal(size=(6, 2)), rng.normal(size=2)
    K[:, 1] = K[:, 0] + 1e-5 * K[:, 1]
    found = certified(T, K, q, eps=2.0**-23)
    assert (found.verdict, found.reason[:14]) == ("undetermined", "there is no cl")
    assert certified(T, K, q).verdict == "unique"
    K, T = rng.normal(size=(6, 2)), np.outer(rng.normal(size=6), rng.normal(size=4)) + 5e-6 * T
    found = certified(T, K, q, eps=2.0**-23)
    assert (found.verdict, found.reason[:10]) == ("undetermined", "some chang")
    assert certified(T, K, q).verdict == "unique"


def test_margins():
    rng = np.random.default_rng(10)
    T, K, q = rng.normal(size=(6, 4)), rng.normal(size=(6, 2)), rng.normal(size=2)
    found = certified(T, K, q)
    moved = activation_jacobian(SOFTMAX, K @ q) @ K
    ranges = [
        np.linalg.norm(T.T @ each) / np.linalg.norm(each) for each in (rng.normal(size=(4000, 2)) @ moved.T)
    ]
    assert found.smallest * np.linalg.norm(T, 2) == pytest.approx(min(ranges), rel=1e-3)
    assert found.gap == np.inf
    other = certified(1e6 * T, K, q)
    assert other.smallest == pytest.approx(found.smallest)
    assert other.verdict == found.verdict


def test_a_recorded_row():
    rng = np.random.default_rng(11)
    T, K, q = rng.normal(size=(6, 4)), rng.normal(size=(6, 2)), rng.normal(size=2)
    row = SimpleNamespace(T=T, scores=K @ q, score_jacobian=K, activation=SOFTMAX, embed_dim=4, eps=DOUBLE)
    assert query_certificate(row) == certified(T, K, q)
    row.score_jacobian = None
    found = query_certificate(row)
    assert (found.verdict, found.reason) == ("undefined", "no query: every token has its own score")

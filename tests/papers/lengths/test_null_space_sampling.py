"""Alternative weights meet their constraints, stay within the intervals, and change no output of a model."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from families import FAMILIES
from glasshead.errors import InputError
from glasshead.huggingface import plug
from glasshead.identifiability import WEIGHT_DOMAINS, intervals
from glasshead.papers.lengths.null_space_sampling import (
    MAX_STEP,
    left_null_basis,
    sample_null_logits,
    sample_null_rows,
)
from glasshead.trace import intervene, record, replace

DOUBLE = 2.0**-52
KINDS = {
    "simplex": lambda s: np.exp(s) / np.exp(s).sum(axis=-1, keepdims=True),
    "nonnegative": lambda s: np.maximum(s, 0),
    "below-one": lambda s: np.sinh(abs(s)) / np.cosh(s).sum(axis=-1, keepdims=True),
    "cross": lambda s: np.sinh(s) / np.cosh(s).sum(axis=-1, keepdims=True),
    "any": lambda s: s / s.shape[-1],
}
OF_ACTIVATION = {"softmax": "simplex", "relu": "nonnegative", "tanhmax": "cross", "dot-product": "any"}


def check_constraints(kind, T, A, made):
    """P1 to P3 of Bhardwaj et al. (2021), or what replaces them."""
    scale = np.abs(made).max()
    assert np.abs(made @ T).max() <= 1e-6 * scale * np.linalg.norm(T, 2)
    after = A + made
    if kind == "simplex":
        assert np.abs(made.sum(axis=-1)).max() <= 1e-6 * scale
    if kind in ("simplex", "below-one"):
        assert after[np.broadcast_to(A > 0, after.shape)].min() > 0
    if kind == "nonnegative":
        assert after.min() >= 0
    if kind == "below-one":
        assert after.sum(axis=-1).max() < 1
    if kind == "cross":
        assert np.abs(after).sum(axis=-1).max() < 1
    assert not made[np.broadcast_to(A == 0, made.shape)].any()


def test_the_kinds_are_those_of_intervals():
    assert list(MAX_STEP) == list(WEIGHT_DOMAINS) == list(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_constraints(kind):
    rng = np.random.default_rng(0)
    T = rng.normal(size=(12, 4))
    A = KINDS[kind](rng.normal(size=(6, 12)) + 2)
    made = sample_null_rows(T, A, 5, rng, kind=kind, eps=DOUBLE)
    assert made.shape == (5, 6, 12)
    check_constraints(kind, T, A, made)
    assert np.abs(made).max(axis=2).min() > 1e-4
    assert np.abs(np.diff(made, axis=0)).max(axis=2).min() > 1e-4  # every one is another


@settings(max_examples=20, deadline=None)
@given(st.sampled_from(list(KINDS)), st.integers(0, 10**6))
def test_never_outside_of_the_intervals(kind, seed):
    rng = np.random.default_rng(seed)
    T, a = rng.normal(size=(8, 4)), KINDS[kind](1.5 * rng.normal(size=8))
    T[3] = T[2]
    found = intervals(T, a, kind=kind, eps=DOUBLE)
    others = a + sample_null_rows(T, a[None], 200, rng, kind=kind, share=0.999, eps=DOUBLE)[:, 0]
    assert (others >= found.low - 1e-8).all()
    assert (others <= found.high + 1e-8).all()


@pytest.mark.parametrize("kind", ["simplex", "nonnegative", "below-one", "cross"])
def test_they_reach_the_ends_where_there_is_one_direction(kind):
    rng = np.random.default_rng(1)
    T, a = rng.normal(size=(6, 5 - WEIGHT_DOMAINS[kind].sums_to_one)), KINDS[kind](rng.normal(size=6) + 2)
    if kind == "nonnegative":  # bounded, and smaller than the longest step
        T[:, 0], a = np.abs(T[:, 0]), a / 20
    found = intervals(T, a, kind=kind, eps=DOUBLE)
    assert found.nullity == 1
    others = a + sample_null_rows(T, a[None], 200, rng, kind=kind, share=1 - 1e-9, eps=DOUBLE)[:, 0]
    np.testing.assert_allclose(others.min(axis=0), found.low, atol=1e-6)
    np.testing.assert_allclose(others.max(axis=0), found.high, atol=1e-6)


def test_the_edge_of_the_cross_by_bisection():
    rng = np.random.default_rng(2)
    a = KINDS["cross"](2 * rng.normal(size=9))
    steps = rng.normal(size=(30, 9))
    expected = [brentq(lambda x, step=step: np.abs(a + x * step).sum() - 1, 0, 100) for step in steps]
    np.testing.assert_allclose(MAX_STEP["cross"](a, steps), expected, rtol=1e-9)
    assert MAX_STEP["cross"](a, np.zeros((1, 9))).tolist() == [0.0]


def test_rows_with_nothing_to_choose_stay():
    rng = np.random.default_rng(3)
    T = rng.normal(size=(7, 3))
    A = np.stack([np.eye(7)[2], np.array([0.25, 0.25, 0.25, 0.25, 0, 0, 0]), np.full(7, 1 / 7), np.zeros(7)])
    made = sample_null_rows(T, A, 3, rng, eps=DOUBLE)
    assert not made[:, [0, 1, 3]].any()  # one key, and four keys of which [T, 1] has rank 4
    assert made[:, 2].any(axis=1).all()
    assert not sample_null_rows(rng.normal(size=(7, 9)), A, 3, rng, eps=DOUBLE).any()


def test_left_null_space_of_duplicated_tokens():
    T = np.random.default_rng(4).normal(size=(5, 4))
    T[4] = T[1]
    (direction,) = left_null_basis(T, centred=True, eps=DOUBLE)
    np.testing.assert_allclose(np.abs(direction), np.array([0, 1, 0, 0, 1]) / np.sqrt(2), atol=1e-12)
    assert direction[1] == pytest.approx(-direction[4])


@pytest.mark.parametrize("activation", OF_ACTIVATION)
@torch.no_grad()
def test_a_model_computes_the_same(activation):
    model = plug(FAMILIES["bert"].build(), activation).double()
    given = FAMILIES["bert"].inputs([14, 11])
    with record(model) as trace:
        expected = model(**given)[0]
    rng = np.random.default_rng(5)
    seen = trace[1]
    values, weights = seen.projected_values.numpy(), seen.weights.numpy()
    edited = weights.copy()
    for text, head in np.ndindex(2, 2):
        T, A = values[text, head], weights[text, head]
        (step,) = sample_null_rows(T, A, 1, rng, kind=OF_ACTIVATION[activation], eps=DOUBLE)
        check_constraints(OF_ACTIVATION[activation], T, A, step)
        edited[text, head] += step
    assert np.abs(edited - weights).max() > 0.01
    with intervene(model, replace({1: torch.tensor(edited)}), layers=[1]):
        found = model(**given)[0]
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-11)
    # Without the null space it is another output.
    with intervene(model, replace({1: torch.tensor(edited[..., ::-1].copy())}), layers=[1]):
        assert (model(**FAMILIES["bert"].inputs([14, 14]))[0] - expected).abs().max() > 1e-3


def low_rank(rows, n, rank, rng):
    return rng.normal(size=(rows, rank)) @ rng.normal(size=(rank, n))


@pytest.mark.parametrize(("rank", "head_dim"), [(3, 3), (2, 3), (0, 3), (3, 20), (12, 12)])
def test_logits_of_proposition_3_3(rank, head_dim):
    rng = np.random.default_rng(6)
    T, logits = rng.normal(size=(12, 5)), low_rank(12, 12, rank, rng)
    made = sample_null_logits(T, logits, head_dim, 4, rng, eps=DOUBLE)
    assert made.shape == (4, 12, 12)
    for step in made:
        sizes = np.linalg.svd(logits + step, compute_uv=False)
        assert sizes[head_dim:].max(initial=0.0) <= 1e-6 * sizes[0]
        assert np.abs(step @ T).max() <= 1e-6 * np.linalg.norm(step, 2) * np.linalg.norm(T, 2)
        assert np.linalg.norm(step, 2) > 1.0


def test_logits_with_nearly_equal_rows():
    # The first rows are no basis: rows have to be chosen.
    rng = np.random.default_rng(7)
    T, logits = rng.normal(size=(10, 4)), low_rank(10, 10, 3, rng)
    logits[:3] = logits[0] * (1 + 1e-9 * np.arange(3)[:, None])
    for step in sample_null_logits(T, logits, 3, 4, rng, eps=DOUBLE):
        sizes = np.linalg.svd(logits + step, compute_uv=False)
        assert sizes[3] <= 1e-6 * sizes[0]
        assert np.abs(step @ T).max() <= 1e-6 * np.linalg.norm(step, 2)


def test_logits_without_left_null_space_stay():
    rng = np.random.default_rng(8)
    assert not sample_null_logits(rng.normal(size=(6, 8)), low_rank(6, 6, 3, rng), 3, 2, rng).any()


@torch.no_grad()
def test_a_model_of_logits_computes_the_same():
    # The activation dot-product takes logits over the number of keys as weights.
    model = plug(FAMILIES["bert"].build(), "dot-product").double()
    given = FAMILIES["bert"].inputs([14])
    with record(model) as trace:
        expected = model(**given)[0]
    rng = np.random.default_rng(9)
    seen, edited = trace[0], []
    for T, logits in zip(seen.projected_values[0].numpy(), seen.scores[0].numpy(), strict=True):
        (step,) = sample_null_logits(T, logits, 8, 1, rng, eps=DOUBLE)
        sizes = np.linalg.svd(logits + step, compute_uv=False)
        assert sizes[8] <= 1e-6 * sizes[0]
        assert np.abs(step).max() > 0.1
        edited.append(torch.tensor((logits + step) / 14))
    with intervene(model, replace({0: torch.stack(edited)[None]}), layers=[0]):
        found = model(**given)[0]
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"kind": "softmax"}, "unknown kind of weights 'softmax': choose from simplex"),
        ({"share": 1.0}, "between 0 and 1, not 1.0"),
        ({"share": 0.0}, "between 0 and 1, not 0.0"),
        ({"A": np.array([[0.5, 0.6, -0.1]])}, "below 0 are not of the kind 'simplex', a ≥ 0, Σ a = 1"),
        ({"A": np.array([[0.5, 0.5, np.nan]])}, "finite"),
        ({"A": np.full(3, 1 / 3)}, r"weights \[rows, n\] need values \[n, d\], not \[3\] and \[3, 2\]"),
        ({"T": np.zeros((2, 2))}, r"not \[1, 3\] and \[2, 2\]"),
    ],
)
def test_refused(changed, message):
    given = {"T": np.zeros((3, 2)), "A": np.full((1, 3), 1 / 3)} | changed
    with pytest.raises(InputError, match=message):
        sample_null_rows(given.pop("T"), given.pop("A"), 1, np.random.default_rng(0), **given)


def test_logits_refused():
    rng = np.random.default_rng(0)
    with pytest.raises(InputError, match="the logits have rank 5, more than keys of size 3 allow"):
        sample_null_logits(np.zeros((6, 2)), low_rank(6, 6, 5, rng), 3, 1, rng)
    with pytest.raises(InputError, match=r"logits \[rows, n\] need values"):
        sample_null_logits(np.zeros((5, 2)), low_rank(6, 6, 5, rng), 3, 1, rng)

"""The least rank of logits: reached at c = −â_1, never below, at most n − 1, and what it speaks of."""

import numpy as np
import pytest
import torch

from families import FAMILIES
from glasshead.attention import AttentionInputs, ElementwiseRatio, Mask, Mechanism, mechanism
from glasshead.errors import InputError
from glasshead.huggingface import plug
from glasshead.papers.lengths.logit_rank import (
    least_rank,
    least_ranks,
    obtainable,
    reason_against_call,
    reason_against_mechanism,
)
from glasshead.trace import record

DOUBLE = 2.0**-52


def head(n, head_dim, rng):
    """Softmax weights [n, n] of queries and keys of size d_k."""
    s = rng.normal(size=(n, head_dim)) @ rng.normal(size=(head_dim, n)) / np.sqrt(head_dim)
    return np.exp(s) / np.exp(s).sum(axis=1, keepdims=True)


def rank(logits):
    return np.linalg.matrix_rank(logits, tol=1e-9)


@pytest.mark.parametrize("head_dim", [1, 2, 5])
def test_weights_that_a_head_made_are_obtainable(head_dim):
    weights = head(12, head_dim, np.random.default_rng(0))
    assert least_rank(weights, DOUBLE) == head_dim
    assert obtainable(weights, head_dim, DOUBLE)
    assert not obtainable(weights, head_dim - 1, DOUBLE)


def test_the_first_column_is_the_best_constant():
    rng = np.random.default_rng(1)
    weights = head(10, 4, rng)
    logits = np.log(weights)
    least = least_rank(weights, DOUBLE)
    assert rank(logits - logits[:, :1]) == least
    others = [rank(logits + rng.normal(size=(10, 1))) for _ in range(20)]
    inside = [rank(logits - logits @ shares) for shares in rng.dirichlet(np.ones(10), size=(20,))[..., None]]
    assert set(others) == {least + 1}
    assert set(inside) == {least}


def test_no_rank_is_above_keys_less_one():
    # Bhardwaj et al. (2021) call these matrices full-row rank; one column is lost to the constant.
    weights = np.random.default_rng(2).dirichlet(np.ones(9), size=9)
    assert least_rank(weights, DOUBLE) == 8
    assert obtainable(weights, 8, DOUBLE)
    assert not obtainable(weights, 7, DOUBLE)
    assert least_rank(np.full((9, 9), 1 / 9), DOUBLE) == 0
    assert least_rank(np.ones((4, 1)), DOUBLE) == 0


def test_some_rows_have_no_higher_rank():
    weights = head(12, 5, np.random.default_rng(3))
    assert [least_rank(weights[:rows], DOUBLE) for rows in (1, 3, 5, 8, 12)] == [1, 3, 5, 5, 5]


@torch.no_grad()
def test_weights_of_a_model_in_single_precision():
    model = plug(FAMILIES["bert"].build(hidden_size=24, num_attention_heads=4), "softmax")  # d_k = 6
    with record(model) as trace:
        model(**FAMILIES["bert"].inputs([30]))
    for seen in trace:
        assert reason_against_call(seen.call) is None
        ranks = [least_rank(each.double().numpy()) for each in seen.weights[0]]
        assert ranks == [6, 6, 6, 6]


def test_alternatives_beyond_the_reach_of_the_keys():
    rng = np.random.default_rng(4)
    T, weights = rng.normal(size=(20, 6)), head(20, 4, rng)
    found = least_ranks(T, weights, 4, 40, rng, eps=DOUBLE)
    assert found.ranks.tolist() == [19] * 40
    assert (found.own, found.head_dim, found.obtainable) == (4, 4, 0.0)
    # Keys as large as the text is long allow all of them.
    assert least_ranks(T, weights, 19, 3, rng, eps=DOUBLE).obtainable == 1.0
    # One key fewer to choose from than [T, 1] has rank: no alternative but the weights themselves.
    only = least_ranks(T[:7], head(7, 4, rng), 4, 3, rng, eps=DOUBLE)
    assert only.ranks.tolist() == [4] * 3
    assert only.obtainable == 1.0


@pytest.mark.parametrize(
    "weights", [np.array([[0.5, 0.5, 0.0]]), np.full(3, 1 / 3), np.array([[0.5, np.nan]])]
)
def test_refused(weights):
    with pytest.raises(InputError, match="weights \\[rows, n\\] must be above 0: leave masked keys out"):
        least_rank(weights)


class Sharp(ElementwiseRatio):
    """A softmax of twice the scores."""

    paper = "a test"

    def g(self, s):
        return torch.exp(2 * s)

    h = g


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("softmax", None),
        ("sigmoid", "the logarithm of sigmoid weights is not the score"),
        ("sigsoftmax", "the logarithm of sigsoftmax weights"),
        ("tanhmax", "the logarithm of tanhmax weights"),
        ("relu", "the logarithm of relu weights"),
        ("dot-product", "the logarithm of dot-product weights"),
        ("cosformer", "the logarithm of cosformer weights"),
        ("shaw", "the scores of shaw depend on the places"),
        ("tener", "the scores of tener depend on the places"),
        ("transformer-xl", "the scores of transformer-xl depend on the places"),
        ("distance-aware", "the scores of distance-aware depend on the places"),
        ({"position": {"name": "distance-aware", "adjust": "late-add"}}, "depend on the places"),
    ],
)
def test_what_it_speaks_of(name, said):
    found = reason_against_mechanism(mechanism(name, num_heads=2, head_dim=4))
    assert found is None if said is None else said in found


def test_what_counts_is_what_an_activation_does():
    assert reason_against_mechanism(Mechanism(Sharp(), mechanism("softmax").position, {})) is None
    rng = np.random.default_rng(5)
    scores = torch.tensor(rng.normal(size=(9, 3)) @ rng.normal(size=(3, 9)))
    weights = Sharp().weights(scores, torch.ones(9, 9, dtype=torch.bool))
    assert least_rank(weights.numpy(), DOUBLE) == 3


def test_calls_with_rows_of_their_own():
    q, k = torch.randn(2, 2, 2, 5, 4).unbind()
    plain, padding = mechanism("softmax"), torch.tensor([[True] * 5, [True] * 3 + [False] * 2])
    assert reason_against_call(AttentionInputs.of(plain, q, k, k)) is None
    assert reason_against_call(AttentionInputs.of(plain, q, k, k, mask=padding)) is None
    assert reason_against_call(AttentionInputs.of(plain, q[:, :, :3], k, k)) is None
    causal = AttentionInputs.of(plain, q, k, k, is_causal=True)
    assert "rows attend to different keys" in reason_against_call(causal)
    assert reason_against_call(causal.rows(slice(2, 3))) is None
    band = Mask(5, 5, attn_mask=torch.eye(5, dtype=torch.bool)[None, None])
    assert "rows attend to different keys" in reason_against_call(
        AttentionInputs.of(plain, q, k, k, mask=band)
    )
    assert "bias" in reason_against_call(AttentionInputs.of(plain, q, k, k).add_bias(torch.zeros(1, 2, 5, 5)))
    assert "tanhmax weights" in reason_against_call(AttentionInputs.of(mechanism("tanhmax"), q, k, k))


def test_weights_that_lost_digits_are_refused():
    rng = np.random.default_rng(12)
    scores = rng.normal(size=(12, 8)) @ rng.normal(size=(8, 12))
    scores *= 45 / np.abs(scores).max()
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights = weights / weights.sum(axis=1, keepdims=True)
    assert weights.min() > np.finfo(np.float32).tiny
    assert least_rank(weights.astype(np.float32)) == least_rank(weights, DOUBLE) == 8
    weights **= 92 / -np.log(weights.min())  # larger scores
    weights /= weights.sum(axis=1, keepdims=True)
    single = weights.astype(np.float32)
    assert 0 < single.min() < np.finfo(np.float32).tiny
    with pytest.raises(
        InputError, match=r"weights below 1.2e-38 have lost digits.*compute the weights in float64"
    ):
        least_rank(single)
    assert least_rank(weights, DOUBLE) == 8

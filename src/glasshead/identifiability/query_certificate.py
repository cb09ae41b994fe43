"""Given the keys: could this head have done the same with other weights, from another query nearby?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import torch

from glasshead.arrays import Floats
from glasshead.attention import Activation
from glasshead.identifiability.attention_row import AttentionRow
from glasshead.identifiability.lp.rank import FLOAT32_EPS, column_space, rank_threshold

KeyVerdict = Literal["unique", "not unique", "fixed", "undetermined", "undefined"]
FLOAT64_EPS = 2.0**-52
SAME_SCORE = 1e-9  # weights that differ by less are the same
MIN_MARGIN = 10.0  # a singular value above its threshold by less than this factor leaves a rank open
OUTPUT = "the output alone fixes every weight: there are no more keys than its rank"
EQUAL = "equal keys: a query changes all scores alike, so no weight changes"
FOLD = "undetermined to first order: nearby queries have a higher rank"
NEARBY = 0.1  # the largest change of a score between a query and the other one that is looked at


@dataclass(frozen=True)
class QueryCertificate:
    """Whether another query near this one gives the same output with other weights, to first order.

    ``rank`` is that of J S (the directions in which weights can move) and ``output_rank`` that of Tᵀ J S
    (those that the output shows). ``gap`` is the smallest singular value of J S that counts over the largest
    one that does not (∞: there is none), ``smallest`` the least change of the output per change of the
    weights, relative to ‖T‖₂. "fixed": no query whatever gives other weights with this output. ``proven`` is
    true where ranks do not change nearby, so that first order decides; otherwise the verdict is
    "undetermined". ``reason`` says why a verdict is neither "unique" nor "not unique", and is "" for these.
    """

    verdict: KeyVerdict
    rank: int = 0
    output_rank: int = 0
    gap: float = math.nan
    smallest: float = math.nan
    proven: bool = False
    reason: str = ""


def certify(
    T: Floats,
    scores: Floats,
    score_jacobian: Floats,
    activation: Activation,
    *,
    embed_dim: int | None = None,
    eps: float = FLOAT32_EPS,
) -> QueryCertificate:
    """Compare rank(Tᵀ J S) with rank(J S), where J = ∂a/∂s [n, n] and S = ∂s/∂q [n, d_k], the
    ``score_jacobian``.

    A change δ of the query moves the weights by J S δ and the output by Tᵀ J S δ, up to second order. With
    an orthonormal basis Q of the range of J S, both ranks are equal if and only if Tᵀ Q has no singular
    value 0.

    What that proves, with F(q) the weights of a query q:

    - Equal ranks, "unique": no δ moves the weights and not the output, to first order. If rank(J S) is the
      same at all queries nearby, F depends on so many coordinates of q alone, Tᵀ F is an immersion in them,
      and no other query in some neighbourhood has the same output with other weights. If the rank is
      higher nearby, weights may move in second order unseen.
    - Lower rank(Tᵀ J S), "not unique": some δ moves the weights and not the output, to first order. If
      rank(Tᵀ J S) is the same at all queries nearby, the queries of equal output form a manifold, and a
      curve in it leaves along δ: other weights, same output. If the rank is higher nearby, second order may
      forbid that.

    Where the rank in question is higher nearby, at a fold, first order decides nothing: "undetermined". So
    for K = (−1, 0, 1), T = (0, 1, 0) at q = 0 under softmax, where a₂ = 1 / (1 + 2 cosh q) is largest: the
    one direction of the weights is hidden, and yet no other query has this output.

    A rank cannot fall within some neighbourhood, and (for analytic activations and scores) is the largest
    possible at almost every query. ``proven`` therefore means: at a random query nearby the rank in question
    is not higher. Scores are taken to be linear in the query over that distance, as dot products are, and all
    positions of ours up to the kinks of a ReLU.

    Nothing is said about queries far away, nor about whether the network could have made such a query: of d_k
    numbers for each row, all are free. Generic T and K pass whenever min(d_k, n − 1) ≤ rank T (n in place of
    n − 1 where rows need not sum to one), so a pass is not a merit of a model.

    T is [n, d], ``scores`` s [n], of the keys that the row may attend to, which are taken as they are;
    ``embed_dim`` is d_e and ``eps`` the machine epsilon of the type in which T was computed. Singular values
    count as zero up to max(n, d_k) · eps · ‖J S‖₂ for J S, and up to max(n, d_e) · eps · ‖T‖₂ for Tᵀ Q. A row
    is "undetermined" if some that count are less than ten times that, or if it is saturated:
    ‖J S‖₂ ≤ max(n, d_k) · eps · ‖S‖₂. It is *partly* saturated if J S has a higher rank once every row of J
    is scaled to length 1: then some moves are too small to count, and not because the keys lack them. Such a
    row is never "unique" for what its other moves show; where [T, 1] (T, where rows need not sum to one) has
    rank n, no other weights give this output at all, and it is "fixed". So is a row of equal keys, which is
    not saturation: all rows of S are equal (up to eps · ‖S‖₂), and scores that grow or shrink alike leave its
    weights as they are. Rows of zeros in S are no such case: a position with a ReLU may cut all scores off at
    this query only.
    """
    n, head_dim = score_jacobian.shape
    norms = SpectralNorms(
        float(np.linalg.norm(T, 2)), float(np.linalg.norm(score_jacobian, 2)), embed_dim or T.shape[1]
    )
    if shifts_scores_uniformly(activation, scores, score_jacobian, eps):
        return QueryCertificate("fixed", proven=True, reason=EQUAL)
    ranks = jacobian_ranks(T, activation_jacobian(activation, scores), score_jacobian, norms, eps)
    if ranks.most <= rank_threshold(n, head_dim, eps, norms.score_jacobian):
        return QueryCertificate(
            "undetermined", reason="saturated: no query nearby changes the weights measurably"
        )
    numbers = ranks.rank, ranks.output_rank, ranks.gap, ranks.smallest
    if ranks.unclear:
        return QueryCertificate("undetermined", *numbers, reason=ranks.unclear)
    if ranks.output_rank == ranks.rank < weight_rank(activation, scores, score_jacobian, eps):
        if output_fixes_weights(T, activation, norms.embed_dim, eps):
            return QueryCertificate("fixed", *numbers, proven=True, reason=OUTPUT)
        return QueryCertificate(
            "undetermined",
            *numbers,
            reason=("partly saturated: small weights change too little to be measured"),
        )
    step = score_jacobian @ np.random.default_rng(0).normal(size=head_dim)
    other = activation_jacobian(activation, scores + NEARBY / np.abs(step).max() * step)
    nearby = jacobian_ranks(T, other, score_jacobian, norms, eps)
    shows_all = ranks.output_rank == ranks.rank
    if nearby.rank > ranks.rank if shows_all else nearby.output_rank > ranks.output_rank:
        return QueryCertificate("undetermined", *numbers, reason=FOLD)
    return QueryCertificate("unique" if shows_all else "not unique", *numbers, proven=True)


def query_certificate(row: AttentionRow) -> QueryCertificate:
    """The certificate of a recorded row; "undefined" where no query made its scores (pooled models)."""
    if row.score_jacobian is None:
        return QueryCertificate("undefined", reason="no query: every token has its own score")
    return certify(
        row.T, row.scores, row.score_jacobian, row.activation, embed_dim=row.embed_dim, eps=row.eps
    )


def activation_jacobian(activation: Activation, scores: Floats) -> Floats:
    """J = ∂a/∂s [n, n] of one row, in float64: diag(a) − a aᵀ for softmax."""
    n = len(scores)
    # Row i of n equal rows is asked for weight i alone: one backward pass gives all of J.
    copies = torch.tensor(scores, dtype=torch.float64).repeat(n, 1).requires_grad_()
    with torch.enable_grad():
        weights = activation.weights(copies, torch.ones(n, n, dtype=torch.bool))
    (score_jacobian,) = torch.autograd.grad(weights.diagonal().sum(), copies)
    return np.asarray(score_jacobian.numpy(), dtype=np.float64)


def shifts_scores_uniformly(
    activation: Activation, scores: Floats, score_jacobian: Floats, eps: float
) -> bool:
    """Whether a query moves all scores alike, and scores that move alike leave the weights as they are."""
    distance = float(np.linalg.norm(score_jacobian - score_jacobian.mean(axis=0), 2))
    if distance > eps * float(np.linalg.norm(score_jacobian, 2)):
        return False
    if (
        not score_jacobian.any()
    ):  # equal keys, or a position that cuts all scores off at this query, but not at others
        return False
    step = 1.0 + np.abs(scores).max()  # either way past zero, where TanhMax is not flat
    rows = torch.tensor(np.stack([scores, scores + step, scores - step]), dtype=torch.float64)
    own, *others = activation.weights(rows, torch.ones_like(rows, dtype=torch.bool))
    return all(bool((own - other).abs().max() <= SAME_SCORE) for other in others)


def weight_rank(activation: Activation, scores: Floats, score_jacobian: Floats, eps: float) -> int:
    """The rank of J S with every row of J at length 1: how many ways weights can move, however little.

    Rows of J that a normalised activation rounds to zero, a_i (e_i − a) with a_i → 0, count as e_i.
    """
    n, head_dim = score_jacobian.shape
    J = activation_jacobian(activation, scores)
    lengths = np.linalg.norm(J, axis=1, keepdims=True)
    # Denormal numbers have no direction left either.
    lost = lengths < np.finfo(np.float64).tiny / FLOAT64_EPS
    scaled = np.where(lost, float(activation.normalised) * np.eye(n), J / np.where(lost, 1.0, lengths))
    sizes = np.linalg.svd(scaled @ score_jacobian, compute_uv=False)
    count = int((sizes > rank_threshold(n, head_dim, eps, float(sizes[0]))).sum())
    return min(count, n - activation.rows_sum_to_one)


def output_fixes_weights(T: Floats, activation: Activation, embed_dim: int, eps: float) -> bool:
    """Whether the output allows no other weights, whatever the scores: [T, 1], or T, clearly has rank n."""
    space = column_space(T, embed_dim=embed_dim, eps=eps, centred=activation.rows_sum_to_one)
    return len(space.sizes) + activation.rows_sum_to_one == len(T) and space.margin >= MIN_MARGIN


class SpectralNorms(NamedTuple):
    """‖T‖₂, ‖S‖₂ and d_e."""

    T: float
    score_jacobian: float
    embed_dim: int


class JacobianRanks(NamedTuple):
    """The ranks of J S and of Tᵀ J S with their margins.

    ``most`` is ‖J S‖₂; ``unclear`` says which rank is open, and is "" if none is.
    """

    rank: int
    output_rank: int
    most: float
    gap: float
    smallest: float
    unclear: str


def jacobian_ranks(
    T: Floats, J: Floats, score_jacobian: Floats, norms: SpectralNorms, eps: float
) -> JacobianRanks:
    """The ranks of J S and of its output, on an orthonormal basis of its range."""
    n, head_dim = score_jacobian.shape
    left, sizes, _ = np.linalg.svd(J @ score_jacobian, full_matrices=False)
    # What float64 rounds of J S, which turns its range a little; J is made of numbers of the order of 1.
    rounded = rank_threshold(
        n, head_dim, FLOAT64_EPS, max(1.0, float(np.linalg.norm(J))) * norms.score_jacobian
    )
    floor = max(rank_threshold(n, head_dim, eps, float(sizes[0])), rounded)
    rank = int((sizes > floor).sum())
    outputs = np.linalg.svd(T.T @ left[:, :rank], compute_uv=False)
    turned = rounded / float(sizes[rank - 1]) if rank else 0.0
    least = rank_threshold(n, norms.embed_dim, eps, norms.T) + turned * norms.T
    unclear = ""
    if is_unclear_rank(sizes, floor):
        unclear = "there is no clear border between directions in which weights can and cannot move"
    elif is_unclear_rank(outputs, least):
        unclear = "some changes of the weights change the output hardly more than rounding"
    below = float(sizes[rank]) if rank < len(sizes) else 0.0
    return JacobianRanks(
        rank=rank,
        output_rank=int((outputs > least).sum()),
        most=float(sizes[0]),
        gap=float(sizes[rank - 1]) / below if rank and below > 0 else math.inf,
        smallest=float(outputs[-1]) / norms.T if norms.T > 0 and 0 < rank == len(outputs) else 0.0,
        unclear=unclear,
    )


def is_unclear_rank(sizes: Floats, floor: float) -> bool:
    """Whether some singular value stands out of rounding, but hardly."""
    return bool(((sizes > floor) & (sizes < MIN_MARGIN * floor)).any())

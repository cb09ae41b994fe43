"""Could query and key vectors of size d_k have made these softmax weights? The rank of their logits says."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from glasshead.arrays import Floats
from glasshead.attention import AttentionInputs, Mechanism
from glasshead.errors import InputError
from glasshead.identifiability import FLOAT32_EPS, rank_threshold
from glasshead.papers.lengths.null_space_sampling import sample_null_rows

BATCH = 16  # alternatives of one head that are in memory together


def least_rank(weights: Floats, eps: float = FLOAT32_EPS) -> int:
    """min over c of rank(log(A) + c 1ᵀ): the lowest rank of logits whose softmax is A [rows, n].

    The logits of a softmax are known up to a constant c_i per row. Their columns â_k + c then span at least
    the differences of the columns, and exactly these for c = −â_1: the least rank is the dimension of the
    affine span of the columns of log(A), which is at most n − 1. Singular values up to
    max(rows, n) · ``eps`` · ‖·‖₂ count as zero.

    The rows are all d_s query rows of one head, over the keys that all of them see; of fewer rows the least
    rank can only be lower, so that too high a rank is one for the whole head.

    Raises:
        InputError: unless every weight is above 0: the logarithm of 0 is not a logit; if one is below the
            smallest normal number of the type of that ``eps``, where numbers lose digits and so their logit.

    Source: Bhardwaj et al. (2021), eq. 9 and figures 3 and 4.
    """
    if weights.ndim != 2 or not (weights > 0).all() or not np.isfinite(weights).all():
        raise InputError(
            "weights [rows, n] must be above 0: leave masked keys out, and keep alternatives inside the "
            "domain"
        )
    least = smallest_normal(eps)
    if weights.min(initial=math.inf) < least:
        raise InputError(
            f"weights below {least:.1e} have lost digits in the type that they were computed in, and with "
            "them their logits: leave these keys out, or compute the weights in float64"
        )
    logits = np.log(np.asarray(weights, dtype=np.float64))
    sizes = np.linalg.svd(logits - logits[:, :1], compute_uv=False)
    rows, n = weights.shape
    return int((sizes > rank_threshold(rows, n, eps, float(sizes.max(initial=0.0)))).sum())


def smallest_normal(eps: float) -> float:
    """The smallest positive normal number of the floating-point type with this machine epsilon, or a finer
    one's."""
    types = (np.float16, np.float32, np.float64)
    return float(next((np.finfo(dtype).tiny for dtype in types if np.finfo(dtype).eps <= eps), 0.0))


def obtainable(weights: Floats, head_dim: int, eps: float = FLOAT32_EPS) -> bool:
    """P4: whether some queries and keys of size d_k give these softmax weights, least rank ≤ d_k.

    Source: Bhardwaj et al. (2021), constraint P4.
    """
    return least_rank(weights, eps) <= head_dim


@dataclass(frozen=True)
class LeastRanks:
    """The least ranks of the logits of many alternatives [count] of one head, beside that of its ``own``
    weights and d_k, the ``head_dim``."""

    ranks: NDArray[np.int64]
    own: int
    head_dim: int

    @property
    def obtainable(self) -> float:
        """The share of the alternatives that the head could have made with some queries and keys."""
        return float((self.ranks <= self.head_dim).mean())


def least_ranks(
    T: Floats,
    A: Floats,
    head_dim: int,
    count: int,
    rng: np.random.Generator,
    *,
    embed_dim: int | None = None,
    eps: float = FLOAT32_EPS,
) -> LeastRanks:
    """The least rank of log(A + Ã) for ``count`` alternatives Ã of the softmax weights A [rows, n].

    Source: Bhardwaj et al. (2021), figure 5.
    """
    ranks = [
        least_rank(A + step, eps)
        for start in range(0, count, BATCH)
        for step in sample_null_rows(T, A, min(BATCH, count - start), rng, embed_dim=embed_dim, eps=eps)
    ]
    return LeastRanks(np.array(ranks, dtype=np.int64), least_rank(A, eps), head_dim)


def reason_against_mechanism(mechanism: Mechanism) -> str | None:
    """Why the rank of logits says nothing about this mechanism; None where it does.

    It speaks of softmax over dot products of size d_k. Queries and keys that were rotated beforehand are
    still dot products.
    """
    activation, position = mechanism.activation, mechanism.position
    if not activation.rows_sum_to_one or activation.log_nonlinear:
        return f"the logarithm of {mechanism.name} weights is not the score up to a constant per row"
    if position.needs_positions or position.changes_weights:
        return f"the scores of {mechanism.name} depend on the places of the tokens: they are not dot products"
    return None


def reason_against_call(call: AttentionInputs) -> str | None:
    """Why it says nothing about a call with its mask and bias: keys may be hidden from all rows alone."""
    if call.bias is not None:
        return "the model adds a bias to the scores: they are not dot products"
    allowed = call.mask.allowed(call.q.device)
    if not bool((allowed == allowed[:, :, :1]).all()):
        return "its rows attend to different keys (as in causal models), so hidden scores are unknown"
    return reason_against_mechanism(call.mechanism)

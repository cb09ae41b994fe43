"""Other weights with the same output: Ã with (A + Ã) T = A T, as drawings of what intervals bound."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import qr, solve_triangular

from glasshead.arrays import Floats
from glasshead.errors import InputError
from glasshead.identifiability import FLOAT32_EPS, WEIGHT_DOMAINS, column_space, rank_threshold

COEFFICIENT_RANGE = 10.0  # combinations are drawn from U[−10, 10] (Bhardwaj et al. 2021, section 3.2.2)


def left_null_basis(
    T: Floats, *, centred: bool, embed_dim: int | None = None, eps: float = FLOAT32_EPS
) -> Floats:
    """An orthonormal basis [dimension, n] of LN(T), or of LN([T, 1]) if ``centred``.

    ``embed_dim`` is d_e and ``eps`` the machine epsilon of the type in which T was computed (`column_space`).
    """
    n = len(T)
    directions = column_space(T, embed_dim=embed_dim, eps=eps, centred=centred).basis
    spanned = np.concatenate([np.full((n, 1), n**-0.5), directions], axis=1) if centred else directions
    complete = np.linalg.qr(spanned, mode="complete").Q
    return complete[:, spanned.shape[1] :].T


def sample_null_rows(
    T: Floats,
    A: Floats,
    count: int,
    rng: np.random.Generator,
    *,
    kind: str = "simplex",
    share: float = 0.9,
    embed_dim: int | None = None,
    eps: float = FLOAT32_EPS,
) -> Floats:
    """Ã [count, rows, n]: for each row of A [rows, n] random steps within its feasible set, Ã T = 0.

    A step is a combination of an orthonormal basis of LN([T, 1]), with coefficients from U[−10, 10]; of LN(T)
    where rows of this ``kind`` (`WEIGHT_DOMAINS`) need not sum to one. It is shortened to ``share`` of the
    way to the edge of the feasible set, if it is longer, so that A + Ã lies strictly inside: positive
    weights stay above 0, Σ |a| below 1. A key without weight (masked, underflown, below a ReLU) stays
    without. Where nothing is left to choose, as in a one-hot row, Ã is 0.

    Raises:
        InputError: on an unknown kind, a share outside of (0, 1), shapes that do not fit, or weights that
            are not of this kind.

    Source: Brunner et al. (2019); Bhardwaj et al. (2021), constraints P1 to P3.
    """
    check_sampling(T, A, kind, share)
    samples = np.zeros((count, *A.shape))
    # Rows that attend to the same keys share a basis.
    patterns, which = np.unique(A != 0, axis=0, return_inverse=True)
    for number, keys in enumerate(patterns):
        if not keys.any():
            continue
        basis = left_null_basis(
            T[keys], centred=WEIGHT_DOMAINS[kind].sums_to_one, embed_dim=embed_dim, eps=eps
        )
        for row in np.flatnonzero(which.ravel() == number):
            steps = rng.uniform(-COEFFICIENT_RANGE, COEFFICIENT_RANGE, (count, len(basis))) @ basis
            length = np.minimum(1.0, share * MAX_STEP[kind](A[row, keys], steps))
            samples[:, row, keys] = length[:, None] * steps
    return samples


def check_sampling(T: Floats, A: Floats, kind: str, share: float) -> None:
    """Raise InputError unless alternatives can be drawn for these."""
    if kind not in MAX_STEP:
        raise InputError(f"unknown kind of weights {kind!r}: choose from {', '.join(MAX_STEP)}")
    if not 0 < share < 1:
        raise InputError(f"the step must be between 0 and 1, not {share}")
    if A.ndim != 2 or T.ndim != 2 or len(T) != A.shape[1]:
        raise InputError(f"weights [rows, n] need values [n, d], not {list(A.shape)} and {list(T.shape)}")
    if not (np.isfinite(T).all() and np.isfinite(A).all()):
        raise InputError("weights and values must be finite numbers")
    if kind not in ("cross", "any") and (A < 0).any():
        raise InputError(f"weights below 0 are not of the kind {kind!r}, {WEIGHT_DOMAINS[kind].describe}")


def max_step_nonnegative(a: Floats, steps: Floats) -> Floats:
    """The largest λ with a + λ step ≥ 0, for every step."""
    ratios = np.full(steps.shape, np.inf)
    np.divide(a, -steps, out=ratios, where=steps < 0)
    return ratios.min(axis=1, initial=np.inf)


def max_step_sub_simplex(a: Floats, steps: Floats) -> Floats:
    """The largest λ with a + λ step ≥ 0 and Σ (a + λ step) ≤ 1."""
    growth = steps.sum(axis=1)
    room = np.full(len(steps), np.inf)
    np.divide(max(1.0 - a.sum(), 0.0), growth, out=room, where=growth > 0)
    return np.minimum(max_step_nonnegative(a, steps), room)


def max_step_l1_ball(a: Floats, steps: Floats) -> Floats:
    """The largest λ with Σ |a + λ step| ≤ 1, by Newton's method from beyond the edge.

    The sum is convex and made of straight pieces, so the method comes down to the edge and ends there.
    """
    size = np.abs(steps).sum(axis=1)
    lengths = np.divide(1.0 + np.abs(a).sum(), size, out=np.zeros(len(steps)), where=size > 0)
    for _ in range(len(a) + 1):
        at = a + lengths[:, None] * steps
        over = np.abs(at).sum(axis=1) - 1.0
        slope = (np.sign(at) * steps).sum(axis=1)
        beyond = (over > 0) & (slope > 0)
        lengths = lengths - np.divide(over, slope, out=np.zeros(len(steps)), where=beyond)
    return np.maximum(lengths, 0.0)


def max_step_unbounded(a: Floats, steps: Floats) -> Floats:
    """No edge."""
    return np.full(len(steps), np.inf)


MAX_STEP: dict[str, Callable[[Floats, Floats], Floats]] = {
    "simplex": max_step_nonnegative,
    "nonnegative": max_step_nonnegative,
    "below-one": max_step_sub_simplex,
    "cross": max_step_l1_ball,
    "any": max_step_unbounded,
}
"""(a [n], steps [L, n]) → how far a can go along each step within the range of its kind [L]."""


def sample_null_logits(
    T: Floats,
    logits: Floats,
    head_dim: int,
    count: int,
    rng: np.random.Generator,
    *,
    embed_dim: int | None = None,
    eps: float = FLOAT32_EPS,
) -> Floats:
    """Ã [count, rows, n] with Ã T = 0 and rank(A_l + Ã) ≤ d_k, for logits A_l [rows, n] of rank ≤ d_k.

    The d_k most independent rows of A_l (by pivoted QR) get rows of LN(T), drawn as in `sample_null_rows`;
    every other row of Ã is the combination of those that the same row of A_l is.

    Raises:
        InputError: if the logits have a rank above ``head_dim`` d_k, or shapes do not fit.

    Source: Bhardwaj et al. (2021), proposition 3.3 and its proof.
    """
    if logits.ndim != 2 or T.ndim != 2 or len(T) != logits.shape[1]:
        raise InputError(f"logits [rows, n] need values [n, d], not {list(logits.shape)} and {list(T.shape)}")
    basis = left_null_basis(T, centred=False, embed_dim=embed_dim, eps=eps)
    _, R, order = qr(logits.T, mode="economic", pivoting=True)
    floor = rank_threshold(len(logits), len(T), eps, float(np.linalg.norm(logits, 2)))
    rank = int((np.abs(np.diagonal(R)) > floor).sum())
    if rank > head_dim:
        raise InputError(
            f"the logits have rank {rank}, more than keys of size {head_dim} allow: use scores without "
            "bias, position or mask"
        )
    pivots, others = order[:head_dim], order[head_dim:]
    samples = np.zeros((count, *logits.shape))
    drawn = rng.uniform(-COEFFICIENT_RANGE, COEFFICIENT_RANGE, (count, len(pivots), len(basis)))
    samples[:, pivots] = drawn @ basis
    if rank and len(others):
        combined = solve_triangular(R[:rank, :rank], R[:rank, head_dim:]).T
        samples[:, others] = combined @ samples[:, order[:rank]]
    return samples

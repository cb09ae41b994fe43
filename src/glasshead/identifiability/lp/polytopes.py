"""Which weights an activation can produce, and those among them that give the same output, as a polytope."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from glasshead.arrays import Floats
from glasshead.identifiability.lp.rank import ColumnSpace

ROUNDING = 1e-6  # weights miss their range, and their interval, by no more
SUM_TOLERANCE = 1e-3  # how much the sum of many weights may miss 1, half precision included


@dataclass(frozen=True)
class Polytope:
    """{x ≥ 0, A x = A start}, and the weights that x means: a = x ``to_weights`` [variables, n]."""

    A: Floats
    start: Floats
    to_weights: Floats


def probability_simplex(a: Floats, space: ColumnSpace, slack: float) -> Polytope:
    """a ≥ 0, Σ a = 1: all that a softmax can produce, and its edge."""
    n = len(a)
    return build_polytope(a, np.eye(n), np.full((1, n), n**-0.5), space, slack)


def nonnegative(a: Floats, space: ColumnSpace, slack: float) -> Polytope:
    """a ≥ 0: all that a ReLU can produce."""
    return build_polytope(a, np.eye(len(a)), np.empty((0, len(a))), space, slack)


def sub_simplex(a: Floats, space: ColumnSpace, slack: float) -> Polytope:
    """a ≥ 0, Σ a ≤ 1: TanhMax of scores that are never negative, and its edge."""
    n = len(a)
    start = np.append(a, max(1.0 - a.sum(), 0.0))
    return build_polytope(start, np.eye(n + 1, n), np.full((1, n + 1), (n + 1) ** -0.5), space, slack)


def l1_ball(a: Floats, space: ColumnSpace, slack: float) -> Polytope:
    """Σ |a| ≤ 1: all that TanhMax can produce, and its edge; a = p − q with p, q ≥ 0."""
    n = len(a)
    start = np.concatenate([np.maximum(a, 0), np.maximum(-a, 0), [max(1.0 - np.abs(a).sum(), 0.0)]])
    to_weights = np.concatenate([np.eye(n), -np.eye(n), np.zeros((1, n))])
    return build_polytope(start, to_weights, np.full((1, 2 * n + 1), (2 * n + 1) ** -0.5), space, slack)


def build_polytope(
    start: Floats, to_weights: Floats, always: Floats, space: ColumnSpace, slack: float
) -> Polytope:
    """The rows ``always`` hold, and the output stays: Uᵀ a′ = Uᵀ a, or −δ ≤ σ_k u_k · (a′ − a) ≤ δ for every
    direction k of the output where it may move by ``slack`` δ."""
    rows = (to_weights @ space.basis).T
    if slack <= 0:
        return Polytope(np.concatenate([always, rows]), start, to_weights)
    # u·x + up = its value + h and up + down = 2h, with h = δ/σ; rows are made smaller where h is large.
    half = slack / space.sizes
    scale = np.maximum(half, 1.0)
    half = half / scale
    r, n = rows.shape
    A = np.zeros((len(always) + 2 * r, n + 2 * r))
    A[: len(always), :n] = always
    A[len(always) : len(always) + r, :n] = rows / scale[:, None]
    A[len(always) :, n:] = np.block([[np.eye(r), np.zeros((r, r))], [np.eye(r), np.eye(r)]])
    return Polytope(
        A,
        np.concatenate([start, half, half]),
        np.concatenate([to_weights, np.zeros((2 * r, to_weights.shape[1]))]),
    )


@dataclass(frozen=True)
class WeightDomain:
    """What an activation can produce: ``describe`` says it in words; its polytope is None for anything.

    ``bounded``: no weight is beyond 1. ``signed``: a weight may be negative.
    """

    describe: str
    sums_to_one: bool
    bounded: bool
    signed: bool
    polytope: Callable[[Floats, ColumnSpace, float], Polytope] | None

    def domain_violation(self, a: Floats) -> str | None:
        """Why the activation cannot have produced the weights a [n]; None if it can, up to rounding."""
        total, size = float(a.sum()), float(np.abs(a).sum())
        if not self.signed and a.min() < -ROUNDING * max(1.0, float(a.max())):
            return f"one of them is {a.min():.3g}"
        if self.sums_to_one and abs(total - 1) > SUM_TOLERANCE:
            return f"their sum is {total:.4g}"
        if self.bounded and size > 1 + SUM_TOLERANCE:
            return f"their sizes add up to {size:.4g}"
        return None

    def unit(self, a: Floats) -> float:
        """What the weights are measured in, so that rounding is relative: 1, or the largest weight."""
        return 1.0 if self.bounded else float(np.abs(a).max(initial=0.0)) or 1.0


WEIGHT_DOMAINS = {
    "simplex": WeightDomain("a ≥ 0, Σ a = 1", True, True, False, probability_simplex),
    "nonnegative": WeightDomain("a ≥ 0", False, False, False, nonnegative),
    "below-one": WeightDomain("a ≥ 0, Σ a < 1", False, True, False, sub_simplex),
    "cross": WeightDomain("Σ |a| < 1", False, True, True, l1_ball),
    "any": WeightDomain("any number", False, False, True, None),
}

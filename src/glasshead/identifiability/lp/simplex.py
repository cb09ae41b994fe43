"""The largest values of many linear functions over polytopes: a simplex method for many searches at once.

The searches of a polytope start at one vertex, and all walk side by side, so that a step of all of them is a
handful of array operations. What comes out is checked afterwards: `verify_by_duality` computes each answer
anew from its basis, with the dual numbers that prove it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

from glasshead.arrays import Floats, Integers
from glasshead.checkpoints import checkpoint

MIN_GAIN = 1e-9  # a smaller gain per unit is rounding: functions and variables are of the order of 1
MIN_PIVOT = 1e-8  # a smaller pivot would blow up the inverse
RAY_TOLERANCE = 1e-12  # a ray may lead out of the polytope by no more per unit: rounding
PROOF_TOLERANCE = 1e-7  # how much a certified basis may miss its bounds
MAX_ELEMENTS = 80_000  # of all inverses of the searches that walk together: what a core keeps close
MAX_ELEMENTS_OF_MANY = 4 * MAX_ELEMENTS  # with the A of each, where they walk in polytopes of their own
MAX_STEPS = 5_000  # steps after which a search is given up


@dataclass(frozen=True)
class Vertex:
    """A vertex of {x ≥ 0, A x = b}: x_B = B⁻¹ b ≥ 0 for the basic variables, 0 for all others.

    ``inverse`` is B⁻¹ [m, m], ``x`` [m] the values of the basic variables.
    """

    basic: Integers
    inverse: Floats
    x: Floats


def initial_vertices(A: Floats, start: Floats) -> list[Vertex | None]:
    """A vertex of each polytope {x ≥ 0, A x = A start}, reached from a point of it; None if rounding leads
    out of the polytope. A [P, m, n], each of full row rank, and ``start`` [P, n]."""
    count, m, _ = A.shape
    rows = np.arange(count)
    # Large variables first: they are basic in the end, and far from their bounds on the way.
    scaled = A * np.sqrt(np.maximum(start, 1e-30))[:, None, :]
    order = np.stack([qr(one, mode="r", pivoting=True)[1] for one in scaled]).astype(np.int64)
    basic = order[:, :m].copy()
    inverse = invert(take_columns(A, basic))
    x = np.take_along_axis(start, basic, axis=1)
    for free in order[:, m:].T:
        value = start[rows, free]
        step = np.matmul(inverse, A[rows, :, free][:, :, None])[:, :, 0]
        # Lowering the free variable by t raises x by t · step.
        ratios = np.full(x.shape, np.inf)
        np.divide(x, -step, out=ratios, where=step < -MIN_PIVOT)
        row = ratios.argmin(axis=1)
        length = np.minimum(ratios[rows, row], value)
        x += length[:, None] * step
        blocked = np.flatnonzero(length < value)  # a basic variable is zero first: they change places
        if len(blocked):
            at = row[blocked]
            x[blocked, at] = (value - length)[blocked]
            step = step[blocked]
            leaving = inverse[blocked, at] / step[np.arange(len(at)), at][:, None]
            step[np.arange(len(at)), at] -= 1.0
            inverse[blocked] -= step[:, :, None] * leaving[:, None, :]
            basic[blocked, at] = free[blocked]
    inverse = invert(take_columns(A, basic))
    x = np.matmul(inverse, np.matmul(A, start[:, :, None]))[:, :, 0]
    inside = np.isfinite(inverse).all(axis=(1, 2)) & (x.min(axis=1, initial=0.0) >= -PROOF_TOLERANCE)
    return [
        Vertex(basic[one], inverse[one], np.maximum(x[one], 0.0)) if inside[one] else None
        for one in range(count)
    ]


def take_columns(A: Floats, variables: Integers) -> Floats:
    """Some columns of every A [P, m, n], in the order of ``variables`` [P, k]: [P, m, k]."""
    return np.asarray(np.take_along_axis(A, variables[:, None, :], axis=2))


def invert(B: Floats) -> Floats:
    """The inverse of every B [P, m, m]; NaN if there is none."""
    try:
        return np.asarray(np.linalg.inv(B), dtype=np.float64)
    except np.linalg.LinAlgError:
        if len(B) == 1:
            return np.full_like(B, np.nan)
        return np.concatenate([invert(one[None]) for one in B])


@dataclass(frozen=True)
class SimplexBatchResult:
    """Where each search ended: the largest value [L] (∞: there seems to be none), its basis [L, m], the
    variable [L] that was to enter, and whether it ``ended`` [L] at all."""

    value: Floats
    basic: Integers
    entering: Integers
    ended: NDArray[np.bool_]

    def some(self, rows: slice) -> SimplexBatchResult:
        """Some of the searches."""
        return SimplexBatchResult(self.value[rows], self.basic[rows], self.entering[rows], self.ended[rows])


def maximise(
    A: Floats, starts: Sequence[Vertex], functions: Floats, polytope: Integers | None = None
) -> SimplexBatchResult:
    """max Σ_i w_i x_i for every row w of ``functions`` [L, n], over one of the polytopes ``A`` [P, m, n], its
    number in ``polytope`` [L] (0, unless given).

    Dantzig 1951, in the revised form: B⁻¹ and the dual numbers y = B⁻ᵀ w_B change by one row at each step.
    """
    (count, m, n), total = A.shape, len(functions)
    polytope = np.zeros(total, dtype=np.int64) if polytope is None else polytope
    first_basic, first_inverse, first_x = (
        np.stack([getattr(start, name) for start in starts]) for name in ("basic", "inverse", "x")
    )
    result = SimplexBatchResult(
        value=np.full(total, np.nan),
        basic=first_basic[polytope],
        entering=np.zeros(total, dtype=np.int64),
        ended=np.zeros(total, dtype=bool),
    )
    shared = count == 1
    together = MAX_ELEMENTS // m**2 if shared else MAX_ELEMENTS_OF_MANY // (m * (m + n))
    active = min(max(together, 8), total)
    owner, steps = np.empty(active, dtype=np.int64), np.empty(active, dtype=np.int64)
    inverse, x, dual = np.empty((active, m, m)), np.empty((active, m)), np.empty((active, m))
    basic, weights = np.empty((active, m), dtype=np.int64), np.empty((active, n))
    # What each search reads of its own polytope; one polytope is multiplied with all of them at once.
    own = np.empty((0 if shared else active, m, n))
    state = [owner, steps, inverse, x, dual, basic, weights, *([] if shared else [own])]
    # Memory that every step writes into: to ask for it anew would cost more than the step.
    change, costs, ratios = np.empty((active, m, m)), np.empty((active, n)), np.empty((active, m))
    columns = np.ascontiguousarray(A[0].T)
    begun = 0

    def begin(slots: Integers) -> None:
        """Start as many searches as there are left; the slots that stay empty are given to the last ones."""
        nonlocal begun, active
        fresh, empty = np.split(slots, [total - begun])
        ours = np.arange(begun, begun + len(fresh))
        begun += len(fresh)
        which = polytope[ours]
        inverse[fresh], x[fresh], basic[fresh] = first_inverse[which], first_x[which], first_basic[which]
        owner[fresh], steps[fresh], weights[fresh] = ours, 0, functions[ours]
        worth = np.take_along_axis(functions[ours], first_basic[which], axis=1)
        dual[fresh] = np.matmul(worth[:, None, :], first_inverse[which])[:, 0]
        if not shared:
            own[fresh] = A[which]
        for slot in empty[::-1]:
            active -= 1
            for each_of in state:
                each_of[slot] = each_of[active]

    begin(np.arange(active))
    while active:
        checkpoint()
        some, order = slice(active), np.arange(active)
        # Reduced costs w − Aᵀ y.
        if shared:
            np.matmul(dual[some], A[0], out=costs[some])
        else:
            np.matmul(dual[some, None, :], own[some], out=costs[some, None, :])
        np.subtract(weights[some], costs[some], out=costs[some])
        costs[order[:, None], basic[some]] = -np.inf  # what is basic cannot enter
        entering = costs[some].argmax(axis=1)
        gain = costs[order, entering]
        column = columns[entering] if shared else own[order, :, entering]
        step = np.matmul(inverse[some], column[:, :, None])[:, :, 0]
        ratios[some] = np.inf
        np.divide(x[some], step, out=ratios[some], where=step > MIN_PIVOT)
        length = ratios[some].min(axis=1)
        over = np.flatnonzero((gain <= MIN_GAIN) | ~np.isfinite(length) | (steps[some] >= MAX_STEPS))
        # Among the bounds that are met first the one with the largest pivot.
        rows = np.where(ratios[some] <= length[:, None] + 1e-12, step, 0.0).argmax(axis=1)
        pivots = step[order, rows]
        if len(over):
            ours = owner[over]
            here_now = np.take_along_axis(weights[over], basic[over], axis=1)
            result.value[ours] = np.where(gain[over] <= MIN_GAIN, (here_now * x[over]).sum(axis=1), np.inf)
            result.basic[ours], result.entering[ours] = basic[over], entering[over]
            result.ended[ours] = steps[over] < MAX_STEPS
            length[over], gain[over], pivots[over] = 0.0, 0.0, 1.0  # they go nowhere, and are replaced below
        x[some] -= length[:, None] * step
        x[order, rows] = length
        np.maximum(x[some], 0.0, out=x[some])
        leaving = inverse[order, rows] / pivots[:, None]
        dual[some] += gain[:, None] * leaving
        step[order, rows] -= 1.0
        np.einsum("si,sj->sij", step, leaving, out=change[some])
        inverse[some] -= change[some]
        basic[order, rows] = entering
        steps[some] += 1
        if len(over):
            begin(over)
    return result


def verify_by_duality(A: Floats, b: Floats, functions: Floats, basic: Integers) -> Floats:
    """The values of the functions [L, n] at vertices given by their bases [L, m], from A and b alone.

    NaN where x is not ≥ 0, or where the dual numbers y, with A_Bᵀ y = w_B, do not prove w ≤ Aᵀ y.
    """
    values = np.full(len(functions), np.nan)
    size = max(MAX_ELEMENTS // len(A) ** 2, 1)
    for start in range(0, len(functions), size):
        some = slice(start, start + size)
        transposed = A.T[basic[some]]  # [L, m, m]: A_Bᵀ of every basis
        worth = np.take_along_axis(functions[some], basic[some], axis=1)
        try:
            x = np.linalg.solve(transposed.transpose(0, 2, 1), b[None, :, None])[:, :, 0]
            y = np.linalg.solve(transposed, worth[:, :, None])[:, :, 0]
        except np.linalg.LinAlgError:  # no basis at all: nothing is proven
            continue
        beyond = (functions[some] - y @ A).max(axis=1, initial=0.0)
        proven = (x.min(axis=1, initial=0.0) >= -PROOF_TOLERANCE) & (beyond <= PROOF_TOLERANCE)
        values[some] = np.where(proven, (worth * x).sum(axis=1), np.nan)
    return values


def verify_rays(A: Floats, functions: Floats, basic: Integers, entering: Integers) -> NDArray[np.bool_]:
    """Whether each function w [L, n] grows for ever along the ray d of its entering variable, with d ≥ 0,
    A d = 0 and w · d > 0: d is 1 for that variable and −B⁻¹ A_entering for the basic ones."""
    proven: NDArray[np.bool_] = np.zeros(len(functions), dtype=bool)
    for one, (w, basis, variable) in enumerate(zip(functions, basic, entering, strict=True)):
        try:
            d = -np.linalg.solve(A[:, basis], A[:, variable])
        except np.linalg.LinAlgError:
            continue
        largest = max(1.0, float(np.abs(d).max(initial=0.0)))
        proven[one] = (
            d.min(initial=0.0) >= -RAY_TOLERANCE * largest and w[variable] + w[basis] @ d > MIN_GAIN * largest
        )
    return proven

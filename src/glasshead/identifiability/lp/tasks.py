"""Intervals as a process of its own computes them: plain arrays in and out, nothing heavy to import."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasshead.arrays import Floats
from glasshead.identifiability.lp.intervals import (
    SAME_WEIGHT,
    IntervalProgram,
    Intervals,
    interval_program,
    maximise_all,
    maximise_each,
)
from glasshead.identifiability.lp.polytopes import WEIGHT_DOMAINS
from glasshead.identifiability.lp.rank import column_space

SMALL_PROGRAM = 4096  # elements of A: larger programs fill a core by themselves
RIVALS_AT_ONCE = 4  # rivals whose programs are solved at once


class IntervalTask(NamedTuple):
    """One row: T and a, what is known of them, and the keys whose intervals are wanted."""

    T: Floats
    a: Floats
    kind: str
    embed_dim: int
    eps: float
    tolerance: float
    keys: NDArray[np.int64]


class IntervalAnswer(NamedTuple):
    """The intervals, and whether another token could have the largest weight (None: not known)."""

    intervals: Intervals
    argmax_may_change: bool | None


def solve_all(tasks: list[IntervalTask]) -> list[IntervalAnswer]:
    """The answer to every task; small programs of one shape are solved together."""
    intervals_of: dict[int, Intervals] = {}
    groups: dict[tuple[bool, tuple[int, ...]], dict[int, IntervalProgram]] = {}
    for number, (T, a, kind, embed_dim, eps, tolerance, keys) in enumerate(tasks):
        functions = np.eye(len(a))[keys]
        program = interval_program(
            T, a, kind=kind, embed_dim=embed_dim, eps=eps, tolerance=tolerance, functions=functions
        )
        if isinstance(program, Intervals):
            intervals_of[number] = program
        elif program.maxima[0].size > SMALL_PROGRAM:  # at once, since it takes memory
            intervals_of[number] = program.solve()
        else:
            group = program.variables_are_weights, program.maxima[0].shape
            groups.setdefault(group, {})[number] = program
    for (variables_are_weights, _), programs in groups.items():
        maxima = maximise_each([program.maxima for program in programs.values()], variables_are_weights)
        for (number, program), answer in zip(programs.items(), maxima, strict=True):
            intervals_of[number] = program.conclude(*answer)
    return [answer_of(task, intervals_of[number]) for number, task in enumerate(tasks)]


def answer_of(task: IntervalTask, intervals: Intervals) -> IntervalAnswer:
    """The intervals of a task with what they say of the largest weight."""
    T, a, kind, embed_dim, eps, tolerance, _ = task
    may_change = argmax_may_change(
        T, a, intervals, kind=kind, embed_dim=embed_dim, eps=eps, tolerance=tolerance
    )
    return IntervalAnswer(intervals, may_change)


def argmax_may_change(
    T: Floats, a: Floats, known: Intervals, *, kind: str, embed_dim: int, eps: float, tolerance: float = 0.0
) -> bool | None:
    """Whether some other token k can have a′_k ≥ a′_j, where j has the largest weight now.

    One linear program for each rival, max a′_k − a′_j, the likeliest first. ``known`` are the intervals of
    all weights of the row, or of the largest. None where weights have signs, or no solver has an answer.
    """
    domain = WEIGHT_DOMAINS[kind]
    if domain.polytope is None or kind == "cross":
        return None
    if len(a) < 2 or (known.nullity <= 0 and tolerance <= 0):
        return False
    top = int(a.argmax())
    space = column_space(T, embed_dim=embed_dim, eps=eps, centred=domain.sums_to_one)
    unit = domain.unit(a)
    polytope = domain.polytope(a / unit, space, tolerance * float(np.linalg.norm(a @ T)) / unit)
    high = known.high if len(known.high) == len(a) else a
    rivals = np.array([k for k in np.argsort(-high, kind="stable") if k != top])
    if len(known.high) == len(a) and not np.isnan(known.high).any():
        rivals = rivals[high[rivals] >= known.low[top] - SAME_WEIGHT * unit]
    unknown = False
    for start in range(0, len(rivals), RIVALS_AT_ONCE):
        batch = rivals[start : start + RIVALS_AT_ONCE]
        functions = np.eye(len(a))[batch] - np.eye(len(a))[top]
        values, failed = maximise_all(polytope.A, polytope.start, functions @ polytope.to_weights.T, False)
        if (values >= -SAME_WEIGHT).any():
            return True
        unknown |= bool(failed)
    return None if unknown else False

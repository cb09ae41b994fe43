"""Intervals as a process of its own computes them: plain arrays in and out, nothing heavy to import."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasshead.identifiability.lp.argmax import argmax_may_change
from glasshead.identifiability.lp.intervals import Intervals, intervals
from glasshead.identifiability.lp.simplex import Floats


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


def solve(tasks: list[IntervalTask]) -> list[IntervalAnswer]:
    """The answer to every task."""
    return [solve_task(task) for task in tasks]


def solve_task(task: IntervalTask) -> IntervalAnswer:
    """The answer to one."""
    T, a, kind, embed_dim, eps, tolerance, keys = task
    functions = np.eye(len(a))[keys]
    row_intervals = intervals(
        T, a, kind=kind, embed_dim=embed_dim, eps=eps, tolerance=tolerance, functions=functions
    )
    may_change = argmax_may_change(
        T, a, row_intervals, kind=kind, embed_dim=embed_dim, eps=eps, tolerance=tolerance
    )
    return IntervalAnswer(row_intervals, may_change)

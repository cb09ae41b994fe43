"""Intervals as a process of its own computes them: plain arrays in and out, nothing heavy to import."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasshead.identifiability.lp.argmax import another_first
from glasshead.identifiability.lp.intervals import Intervals, intervals
from glasshead.identifiability.lp.simplex import Floats


class IntervalTask(NamedTuple):
    """One row: T and a, what is known of them, and the keys whose intervals are wanted."""

    T: Floats
    a: Floats
    kind: str
    width: int
    eps: float
    tolerance: float
    query: NDArray[np.int64]


class IntervalAnswer(NamedTuple):
    """The intervals, and whether another token could have the largest weight (None: not known)."""

    intervals: Intervals
    another_first: bool | None


def solve(tasks: list[IntervalTask]) -> list[IntervalAnswer]:
    """The answer to every task."""
    return [answer(task) for task in tasks]


def answer(task: IntervalTask) -> IntervalAnswer:
    """The answer to one."""
    T, a, kind, width, eps, tolerance, asked = task
    functions = np.eye(len(a))[asked]
    found = intervals(T, a, kind=kind, width=width, eps=eps, tolerance=tolerance, functions=functions)
    rivals = another_first(T, a, found, kind=kind, width=width, eps=eps, tolerance=tolerance)
    return IntervalAnswer(found, rivals)

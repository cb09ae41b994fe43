"""Intervals as a process of its own computes them: plain arrays in and out, nothing heavy to import."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasshead.identifiability.lp.argmax import another_first
from glasshead.identifiability.lp.intervals import Intervals, intervals
from glasshead.identifiability.lp.simplex import Floats


class Task(NamedTuple):
    """One row: T and a, what is known of them, and the keys whose intervals are wanted."""

    T: Floats
    a: Floats
    kind: str
    width: int
    eps: float
    tolerance: float
    asked: NDArray[np.int64]


class Answer(NamedTuple):
    """The intervals, and whether another token could have the largest weight (None: not known)."""

    intervals: Intervals
    another_first: bool | None


def solve(tasks: list[Task]) -> list[Answer]:
    """The answer to every task."""
    return [answer(task) for task in tasks]


def answer(task: Task) -> Answer:
    """The answer to one."""
    T, a, kind, width, eps, tolerance, asked = task
    functions = np.eye(len(a))[asked]
    found = intervals(T, a, kind=kind, width=width, eps=eps, tolerance=tolerance, functions=functions)
    rivals = another_first(T, a, found, kind=kind, width=width, eps=eps, tolerance=tolerance)
    return Answer(found, rivals)

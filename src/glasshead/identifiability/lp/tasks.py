"""Intervals as a process of its own computes them: plain arrays in and out, nothing heavy to import."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasshead.identifiability.lp.argmax import argmax_may_change
from glasshead.identifiability.lp.intervals import (
    IntervalProgram,
    Intervals,
    interval_program,
    maximise_each,
)
from glasshead.identifiability.lp.simplex import Floats

SMALL = 4096  # elements of A: larger programs fill a core by themselves


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
    """The answer to every task; small programs of one shape are solved together."""
    results = [
        interval_program(
            T, a, kind=kind, embed_dim=embed_dim, eps=eps, tolerance=tolerance, functions=np.eye(len(a))[keys]
        )
        for T, a, kind, embed_dim, eps, tolerance, keys in tasks
    ]
    programs = {number: one for number, one in enumerate(results) if isinstance(one, IntervalProgram)}
    groups: dict[tuple[object, ...], list[int]] = {}
    for number, program in programs.items():
        shape = program.maxima[0].shape
        alone = () if np.prod(shape) <= SMALL else (number,)
        groups.setdefault((program.variables_are_weights, shape, *alone), []).append(number)
    for (variables_are_weights, *_), members in groups.items():
        maxima = maximise_each([programs[number].maxima for number in members], bool(variables_are_weights))
        for number, answer in zip(members, maxima, strict=True):
            results[number] = programs[number].conclude(*answer)
    return [
        answer_of(task, found)
        for task, found in zip(tasks, results, strict=True)
        if isinstance(found, Intervals)  # all are by now
    ]


def answer_of(task: IntervalTask, found: Intervals) -> IntervalAnswer:
    """The intervals of a task with what they say of the largest weight."""
    T, a, kind, embed_dim, eps, tolerance, _ = task
    may_change = argmax_may_change(T, a, found, kind=kind, embed_dim=embed_dim, eps=eps, tolerance=tolerance)
    return IntervalAnswer(found, may_change)

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
    found: dict[int, Intervals] = {}
    groups: dict[tuple[bool, tuple[int, ...]], dict[int, IntervalProgram]] = {}
    for number, (T, a, kind, embed_dim, eps, tolerance, keys) in enumerate(tasks):
        functions = np.eye(len(a))[keys]
        program = interval_program(
            T, a, kind=kind, embed_dim=embed_dim, eps=eps, tolerance=tolerance, functions=functions
        )
        if isinstance(program, Intervals):
            found[number] = program
        elif program.maxima[0].size > SMALL:  # at once, since it takes memory
            found[number] = program.solve()
        else:
            group = program.variables_are_weights, program.maxima[0].shape
            groups.setdefault(group, {})[number] = program
    for (variables_are_weights, _), programs in groups.items():
        maxima = maximise_each([program.maxima for program in programs.values()], variables_are_weights)
        for (number, program), answer in zip(programs.items(), maxima, strict=True):
            found[number] = program.conclude(*answer)
    return [answer_of(task, found[number]) for number, task in enumerate(tasks)]


def answer_of(task: IntervalTask, found: Intervals) -> IntervalAnswer:
    """The intervals of a task with what they say of the largest weight."""
    T, a, kind, embed_dim, eps, tolerance, _ = task
    may_change = argmax_may_change(T, a, found, kind=kind, embed_dim=embed_dim, eps=eps, tolerance=tolerance)
    return IntervalAnswer(found, may_change)

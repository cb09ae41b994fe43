"""Intervals of many rows of many heads, spread over processes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from glasshead.errors import ParameterError
from glasshead.identifiability.attention_row import AttentionRow
from glasshead.identifiability.lp.tasks import IntervalAnswer, IntervalTask, solve_all

TASKS_PER_PART = 16  # rows that a process gets at a time
TASKS_ALONE = 64  # where there is one process: small programs walk together


@dataclass(frozen=True)
class IntervalOptions:
    """Which weights of each row get an interval: all, or the ``top`` largest.

    ``tolerance`` is that of `intervals`; ``processes`` share the work.

    Raises:
        InputError: on a tolerance below 0, or fewer than one weight.
    """

    top: int | None = None
    tolerance: float = 0.0
    processes: int = 1

    def __post_init__(self) -> None:
        if self.top is not None and self.top < 1:
            raise ParameterError("top", f"is at least 1, not {self.top}")
        if not 0 <= self.tolerance < np.inf:
            raise ParameterError("tolerance", f"is a number of at least 0, not {self.tolerance}")

    def keys(self, row: AttentionRow) -> NDArray[np.int64]:
        """The keys whose intervals are wanted, in order."""
        n = len(row.weights)
        if self.top is None or self.top >= n:
            return np.arange(n)
        return np.sort(np.argsort(-np.abs(row.weights), kind="stable")[: self.top])

    def task(self, row: AttentionRow) -> IntervalTask:
        """The row as a process takes it."""
        return IntervalTask(
            row.T, row.weights, row.kind, row.embed_dim, row.eps, self.tolerance, self.keys(row)
        )


def solve_parallel(tasks: Sequence[IntervalTask], processes: int = 1) -> Iterator[IntervalAnswer]:
    """The answer to each task, in order; workers stay for the next call."""
    size = TASKS_ALONE if processes == 1 else TASKS_PER_PART
    parts = [list(tasks[start : start + size]) for start in range(0, len(tasks), size)]
    if processes == 1 or len(parts) < 2:
        solved = map(solve_all, parts)
    else:
        from joblib import Parallel, delayed

        solved = Parallel(n_jobs=processes, return_as="generator")(delayed(solve_all)(part) for part in parts)
    for part in solved:
        yield from part

"""Intervals of many rows of many heads, spread over processes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from glasshead.identifiability.lp.tasks import IntervalAnswer, IntervalTask, solve_all
from glasshead.parent_process import end_with_parent

TASKS_PER_PART = 16  # rows that a process gets at a time
TASKS_ALONE = 64  # where there is one process: small programs walk together


def solve_parallel(tasks: Sequence[IntervalTask], processes: int = 1) -> Iterator[IntervalAnswer]:
    """The answer to each task, in order; workers stay for the next call."""
    size = TASKS_ALONE if processes == 1 else TASKS_PER_PART
    parts = [list(tasks[start : start + size]) for start in range(0, len(tasks), size)]
    if processes == 1 or len(parts) < 2:
        solved = map(solve_all, parts)
    else:
        from joblib import Parallel, delayed

        driver = os.getpid()
        solved = Parallel(n_jobs=processes, return_as="generator")(
            delayed(solve_part)(part, driver) for part in parts
        )
    for part in solved:
        yield from part


def solve_part(tasks: list[IntervalTask], driver: int) -> list[IntervalAnswer]:
    """Solve some tasks, in a process that ends with its ``driver``."""
    if os.getpid() != driver:
        end_with_parent(driver)
    return solve_all(tasks)

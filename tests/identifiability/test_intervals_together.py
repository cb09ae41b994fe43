"""Rows that are solved together, many polytopes in one walk, have the intervals that each has by itself."""

import numpy as np
import pytest
from linear_programs import drawn, slow_interval

from glasshead.identifiability import WEIGHT_DOMAINS
from glasshead.identifiability.lp import simplex, tasks
from glasshead.identifiability.lp.tasks import IntervalTask, solve_all

DOUBLE = 2.0**-52
SHAPES = ((9, 3), (9, 3), (9, 3), (6, 8), (5, 1), (1, 4), (7, 2), (9, 3), (5, 0))


def tasks_of(kinds, tolerance=0.0):
    rng = np.random.default_rng(0)
    made = []
    for kind in kinds:
        for n, d in SHAPES:
            T, a = drawn(kind, n, d, rng)
            keys = np.arange(n) if n < 7 else rng.permutation(n)[:5]
            made.append(IntervalTask(T, a, kind, max(d, 1), DOUBLE, tolerance, keys))
    return made


def assert_equal(ours, theirs):
    for name in ("value", "low", "high"):
        np.testing.assert_allclose(
            getattr(ours.intervals, name), getattr(theirs.intervals, name), atol=1e-8, rtol=1e-8
        )
    assert (ours.intervals.rank, ours.intervals.nullity) == (theirs.intervals.rank, theirs.intervals.nullity)
    assert ours.intervals.failed == theirs.intervals.failed == {}
    assert ours.argmax_may_change == theirs.argmax_may_change


@pytest.mark.parametrize("slots", [1, 10**6])
@pytest.mark.parametrize("tolerance", [0.0, 1e-2])
def test_together_is_one_by_one(monkeypatch, slots, tolerance):
    """Whether few searches walk at a time, so that slots pass from one polytope to the next, or all."""
    monkeypatch.setattr(simplex, "MAX_ELEMENTS_OF_MANY", slots)
    made = tasks_of(WEIGHT_DOMAINS, tolerance)
    together = solve_all(made)
    for task, ours in zip(made, together, strict=True):
        (alone,) = solve_all([task])
        assert_equal(ours, alone)


def test_together_is_the_slow_twin():
    made = tasks_of(["cross", "simplex"])
    for task, answer in zip(made, solve_all(made), strict=True):
        functions = np.eye(len(task.a))[task.keys]
        expected = [slow_interval(task.T, task.a, task.kind, 0.0, each) for each in functions]
        np.testing.assert_allclose(
            np.stack([answer.intervals.low, answer.intervals.high], axis=1), expected, atol=1e-6
        )


def test_large_programs_are_solved_by_themselves(monkeypatch):
    sizes = []
    several = tasks.maximise_each
    monkeypatch.setattr(
        tasks, "maximise_each", lambda some, *rest: sizes.append(len(some)) or several(some, *rest)
    )
    made = tasks_of(["simplex"])
    together = solve_all(made)
    assert max(sizes) >= 4
    sizes.clear()
    monkeypatch.setattr(tasks, "SMALL_PROGRAM", 1)
    for one, other in zip(together, solve_all(made), strict=True):
        assert_equal(one, other)
    assert sizes == []

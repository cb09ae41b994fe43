"""How two audits, or two groups of runs, differ: plain values, no torch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

METRIC_NAMES = {"accuracy": "accuracy", "macro_f1": "macro-F1", "rmse": "RMSE", "mae": "MAE"}
"""The metrics of a run, and what pages call them."""


@dataclass(frozen=True)
class SeedTest:
    """Student's t over seeds; ``paired`` by seed, or Welch's."""

    t: float
    degrees: float
    p: float
    paired: bool


@dataclass(frozen=True)
class Difference:
    """One quantity of ``one`` minus that of ``other``, over the ``n`` examples that both have.

    Both are ranks among what is compared. ``interval`` is the paired bootstrap 95 % interval, None where
    there are too few examples.
    """

    name: str
    one: int
    other: int
    estimate: float
    interval: tuple[float, float] | None
    n: int
    verdict: str


@dataclass(frozen=True)
class RunDifference(Difference):
    """The same of a metric of two groups of runs, with its tests over seeds and over examples.

    Where a test was not possible there is a word on why, in ``untested`` and ``unexchanged``.
    """

    seed_test: SeedTest | None
    untested: str
    exchange: float | None
    unexchanged: str


@dataclass(frozen=True)
class RunGroup:
    """One folder: its seeds, and the values of every metric, one per seed, by split.

    ``only_class`` holds the seeds whose model predicts one class only, with that class.
    """

    name: str
    facts: Mapping[str, Any]
    seeds: tuple[int, ...]
    metrics: Mapping[str, Mapping[str, Sequence[float]]]
    only_class: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Floor:
    """Always guessing one thing, in words, and its metrics by split."""

    guess: str
    metrics: Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class Comparison:
    """Groups of runs on the same data, their differences on ``n`` examples of one split, and their floor."""

    data: str
    split: str
    n: int
    groups: Sequence[RunGroup]
    differences: Sequence[RunDifference]
    resamples: int
    floor: Floor

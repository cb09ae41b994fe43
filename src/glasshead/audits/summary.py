"""From one number per example to an estimate with its doubt."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from glasshead.audits.context import Floats
from glasshead.results import PairedDifference
from glasshead.statistics import mean_intervals

Interval = tuple[float, float]
FEW = 20  # a percentile bootstrap of fewer units is too narrow to decide anything
Nulls = Mapping[str, Floats | None]


@dataclass(frozen=True)
class StatSummary:
    """Mean, standard deviation and bootstrap interval over the defined units, and the paired difference from
    each null."""

    estimate: float | None
    std: float | None
    interval: Interval | None
    null: dict[str, float | None]
    n: int
    over_null: dict[str, PairedDifference] = field(default_factory=dict)

    @property
    def judged(self) -> Interval | None:
        """The interval on which a verdict may rest: None if it comes from too few units."""
        return self.interval if self.n >= FEW else None

    @property
    def over(self) -> dict[str, Interval | None]:
        """The same of the paired difference from each null."""
        return {name: has_enough(each) for name, each in self.over_null.items()}

    @property
    def numbers(self) -> dict[str, Any]:
        """The fields of a Finding."""
        names = ("estimate", "std", "interval", "null", "n", "over_null")
        return {name: getattr(self, name) for name in names}


def null_column(column: str, null: str) -> str:
    """The column of the examples that holds the null of another one."""
    return f"{column}.null.{null}"


def has_enough(difference: PairedDifference | None) -> Interval | None:
    """The interval on which a verdict may rest: None if it comes from too few units."""
    return difference.interval if difference is not None and difference.n >= FEW else None


def mean_or_none(values: Floats | None) -> float | None:
    """The mean of what is defined."""
    defined = np.array([]) if values is None else values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else None


def summarise(
    values: Sequence[Floats], nulls: Sequence[Nulls], *, rng: np.random.Generator
) -> list[StatSummary]:
    """Summarise statistics of the same units, each with its nulls; NaNs are units without the statistic.

    One bootstrap serves them all, so intervals of different statistics rest on the same resamples.
    """
    pairs = [(row, name, each) for row, null in enumerate(nulls) for name, each in null.items()]
    paired = [(row, name, each) for row, name, each in pairs if each is not None]
    differences = [values[row] - each for row, _, each in paired]
    estimates = mean_intervals(np.stack([*values, *differences]), rng=rng)
    over: list[dict[str, PairedDifference]] = [{} for _ in values]
    for (row, name, _), each in zip(paired, estimates[len(values) :], strict=True):
        if each.mean is not None:
            over[row][name] = PairedDifference(each.mean, each.interval, each.n)
    return [
        StatSummary(
            estimate=estimate.mean,
            std=estimate.std,
            interval=estimate.interval,
            null={name: mean_or_none(null) for name, null in nulls[row].items()},
            n=estimate.n,
            over_null=over[row],
        )
        for row, estimate in enumerate(estimates[: len(values)])
    ]

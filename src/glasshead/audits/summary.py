"""From one number per example to an estimate with its doubt."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from glasshead.audits.context import Floats
from glasshead.results import PairedDifference
from glasshead.statistics import defined_mean, intervals_beside_nulls

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
        return {name: judged_interval(each) for name, each in self.over_null.items()}

    @property
    def numbers(self) -> dict[str, Any]:
        """The fields of a Finding."""
        names = ("estimate", "std", "interval", "null", "n", "over_null")
        return {name: getattr(self, name) for name in names}


def null_column(column: str, null: str) -> str:
    """The column of the examples that holds the null of another one."""
    return f"{column}.null.{null}"


def judged_interval(difference: PairedDifference | None) -> Interval | None:
    """The interval on which a verdict may rest: None if it comes from too few units."""
    return difference.interval if difference is not None and difference.n >= FEW else None


def summarise(
    values: Sequence[Floats], nulls: Sequence[Nulls], *, rng: np.random.Generator
) -> list[StatSummary]:
    """Summarise statistics of the same units, each with its nulls; NaNs are units without the statistic."""
    judged = intervals_beside_nulls(values, nulls, rng=rng)
    return [
        StatSummary(
            estimate=estimate.mean,
            std=estimate.std,
            interval=estimate.interval,
            null={name: defined_mean(values) for name, values in null.items()},
            n=estimate.n,
            over_null={
                name: PairedDifference(each.mean, each.interval, each.n) for name, each in beside.items()
            },
        )
        for (estimate, beside), null in zip(judged, nulls, strict=True)
    ]

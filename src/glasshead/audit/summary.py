"""From one number per example to an estimate with its doubt."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from glasshead.audit.bootstrap import mean_intervals
from glasshead.audit.subject import Floats

Interval = tuple[float, float]
FEW = 20  # a percentile bootstrap of fewer units is too narrow to decide anything
Nulls = Mapping[str, Floats | None]


@dataclass(frozen=True)
class Summary:
    """Mean, standard deviation and bootstrap interval over the defined units; ``over`` holds the interval of
    the paired difference from each null, ``pairs`` over how many units."""

    estimate: float | None
    std: float | None
    interval: Interval | None
    null: dict[str, float | None]
    n: int
    over: dict[str, Interval | None]
    pairs: dict[str, int] = field(default_factory=dict)

    @property
    def judged(self) -> Interval | None:
        """The interval on which a verdict may rest: None if it comes from too few units."""
        return self.interval if self.n >= FEW else None

    @property
    def numbers(self) -> dict[str, Any]:
        """The fields of a Finding."""
        names = ("estimate", "std", "interval", "null", "n")
        return {name: getattr(self, name) for name in names}


def mean_or_none(values: Floats | None) -> float | None:
    """The mean of what is defined."""
    defined = np.array([]) if values is None else values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else None


def summarise(values: Sequence[Floats], nulls: Sequence[Nulls], *, rng: np.random.Generator) -> list[Summary]:
    """Summarise statistics of the same units, each with its nulls; NaNs are units without the statistic.

    One bootstrap serves them all, so intervals of different statistics rest on the same resamples.
    """
    pairs = [(row, name, each) for row, null in enumerate(nulls) for name, each in null.items()]
    paired = [(row, name, each) for row, name, each in pairs if each is not None]
    differences = [values[row] - each for row, _, each in paired]
    estimates = mean_intervals(np.stack([*values, *differences]), rng=rng)
    over: list[dict[str, Interval | None]] = [{} for _ in values]
    counts: list[dict[str, int]] = [{} for _ in values]
    for (row, name, _), difference in zip(paired, estimates[len(values) :], strict=True):
        over[row][name], counts[row][name] = difference.interval, difference.n
    return [
        Summary(
            estimate=estimate.mean,
            std=estimate.std,
            interval=estimate.interval,
            null={name: mean_or_none(null) for name, null in nulls[row].items()},
            n=estimate.n,
            over=over[row],
            pairs=counts[row],
        )
        for row, estimate in enumerate(estimates[: len(values)])
    ]

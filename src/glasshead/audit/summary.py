"""From one number per example to an estimate with its doubt."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from glasshead.audit.bootstrap import mean_interval
from glasshead.audit.subject import Floats

Interval = tuple[float, float]
Nulls = dict[str, Floats | None]


@dataclass(frozen=True)
class Summary:
    """Mean, standard deviation and bootstrap interval over the defined units; ``over_chance`` is the
    interval of the paired difference from the random null."""

    estimate: float | None
    std: float | None
    interval: Interval | None
    null: dict[str, float | None]
    n: int
    over_chance: Interval | None

    @property
    def numbers(self) -> dict[str, Any]:
        """The fields of a Finding."""
        names = ("estimate", "std", "interval", "null", "n")
        return {name: getattr(self, name) for name in names}


def mean_or_none(values: Floats | None) -> float | None:
    """The mean of what is defined."""
    defined = np.array([]) if values is None else values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else None


def summarise(values: Floats, *, nulls: Nulls, rng: np.random.Generator) -> Summary:
    """Summarise one statistic and its nulls; NaNs are units for which it does not exist."""
    result = mean_interval(values, rng=rng)
    chance = nulls.get("random")
    difference = None if chance is None else mean_interval(values - chance, rng=rng)
    return Summary(
        estimate=result.mean,
        std=result.std,
        interval=result.interval,
        null={name: mean_or_none(null) for name, null in nulls.items()},
        n=result.n,
        over_chance=None if difference is None else difference.interval,
    )

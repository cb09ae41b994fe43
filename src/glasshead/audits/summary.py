"""From one number per example to an estimate with its doubt."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from glasshead.audits.context import Floats
from glasshead.audits.slices import Group
from glasshead.results import MIN_UNITS, Finding, PairedDifference, Verdict
from glasshead.statistics import LEVEL, defined_mean, intervals_beside_nulls, share_interval

Interval = tuple[float, float]
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
    def reliable_interval(self) -> Interval | None:
        """The interval on which a verdict may rest: None if it comes from too few units."""
        return self.interval if self.n >= MIN_UNITS else None

    @property
    def reliable_differences(self) -> dict[str, Interval | None]:
        """The same of the paired difference from each null."""
        return {null: reliable_interval(difference) for null, difference in self.over_null.items()}

    def finding(
        self,
        audit: str,
        statistic: str,
        verdict: Verdict,
        *,
        group: Group,
        citation: str,
        against: str = "",
        undefined: Mapping[str, int] | None = None,
        significant_fraction: float | None = None,
    ) -> Finding:
        """These numbers as a finding of an audit."""
        return Finding(
            audit=audit,
            statistic=statistic,
            against=against,
            group=group.name,
            estimate=self.estimate,
            std=self.std,
            interval=self.interval,
            null=self.null,
            n=self.n,
            undefined=dict(undefined or {}),
            significant_fraction=significant_fraction,
            citation=citation,
            over_null=self.over_null,
            by=group.by,
            level=group.level,
            **verdict.fields,
        )


def slice_column(by: str) -> str:
    """The column of the examples that says in which slice each is."""
    return f"slice.{by}"


def null_column(column: str, null: str) -> str:
    """The column of the examples that holds the null of another one."""
    return f"{column}.null.{null}"


def reliable_interval(difference: PairedDifference | None) -> Interval | None:
    """The interval on which a verdict may rest: None if it comes from too few units."""
    return difference.interval if difference is not None and difference.n >= MIN_UNITS else None


def with_exact_interval(summary: StatSummary, values: Floats, level: float) -> StatSummary:
    """A share of units, 0 or 1 each or NaN, with the interval of Clopper and Pearson: the bootstrap of units
    that are all alike is a point."""
    known = values[~np.isnan(values)]
    return replace(summary, interval=share_interval(known > 0.5, level).interval)


def summarise(
    values: Sequence[Floats], nulls: Sequence[Nulls], *, rng: np.random.Generator, level: float = LEVEL
) -> list[StatSummary]:
    """Summarise statistics of the same units, each with its nulls; NaNs are units without the statistic."""
    estimates = intervals_beside_nulls(values, nulls, rng=rng, level=level)
    return [
        StatSummary(
            estimate=estimate.mean,
            std=estimate.std,
            interval=estimate.interval,
            null={name: defined_mean(values) for name, values in null.items()},
            n=estimate.n,
            over_null={
                name: PairedDifference(difference.mean, difference.interval, difference.n)
                for name, difference in differences.items()
            },
        )
        for (estimate, differences), null in zip(estimates, nulls, strict=True)
    ]

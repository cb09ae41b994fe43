"""Summaries of one number per example: an estimate with its doubt."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from glasshead.arrays import AnyFloats
from glasshead.audits.slices import Group
from glasshead.results import MIN_UNITS, Finding, Interval, PairedDifference, Verdict
from glasshead.statistics import LEVEL, interval_of_equals, intervals_beside_nulls, nan_mean, share_interval

Nulls = Mapping[str, AnyFloats | None]


@dataclass(frozen=True)
class StatSummary:
    """Mean, standard deviation and bootstrap interval over the defined units, and the paired difference from
    each null; or a ``bound`` with its ``limit``, as a `Finding` has them."""

    estimate: float | None
    std: float | None
    interval: Interval | None
    null: dict[str, float | None]
    n: int
    over_null: dict[str, PairedDifference] = field(default_factory=dict)
    bound: Literal["", "lower", "upper"] = ""
    limit: float | None = None

    @property
    def reliable_interval(self) -> Interval | None:
        """The interval on which a verdict may rest: None if it comes from too few units."""
        return self.interval if self.n >= MIN_UNITS else None

    @property
    def reliable_differences(self) -> dict[str, Interval | None]:
        """The interval of the paired difference from each null, where there are enough examples."""
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
            bound=self.bound,
            limit=self.limit,
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


def with_exact_intervals(
    summary: StatSummary, values: AnyFloats, nulls: Nulls, level: float = LEVEL
) -> StatSummary:
    """A mean of shares, 0 to 1 for each unit or NaN, whose intervals are no points where units are all alike,
    as those of the bootstrap are: of units that are 0 or 1 that of Clopper and Pearson, which bounds others
    that are alike too."""
    known = values[~np.isnan(values)]
    over_null = dict(summary.over_null)
    for name, null in nulls.items():
        if name in over_null and null is not None:
            over_null[name] = with_exact_difference(over_null[name], values - null, level)
    binary = bool(np.isin(known, (0.0, 1.0)).all())
    interval = share_interval(known > 0.5, level).interval if binary else summary.interval
    if not binary and len(known) > 1 and np.ptp(known) == 0:
        interval = interval_of_equals(float(known[0]), len(known), level, least=0.0)
    return replace(summary, interval=interval, over_null=over_null)


def with_exact_difference(
    difference: PairedDifference, changes: AnyFloats, level: float = LEVEL
) -> PairedDifference:
    """A mean difference of shares [N]; where all are alike, with the interval that this allows."""
    known = changes[~np.isnan(changes)]
    if len(known) < 2 or np.ptp(known) > 0:
        return difference
    return replace(difference, interval=interval_of_equals(float(known[0]), len(known), level))


def summarise(
    values: Sequence[AnyFloats], nulls: Sequence[Nulls], *, rng: np.random.Generator, level: float = LEVEL
) -> list[StatSummary]:
    """Summarise statistics of the same units, each with its nulls; NaNs are units without the statistic."""
    estimates = intervals_beside_nulls(values, nulls, rng=rng, level=level)
    return [
        StatSummary(
            estimate=estimate.mean,
            std=estimate.std,
            interval=estimate.interval,
            null={name: nan_mean(values) for name, values in null.items()},
            n=estimate.n,
            over_null={
                name: PairedDifference(difference.mean, difference.interval, difference.n)
                for name, difference in differences.items()
            },
        )
        for (estimate, differences), null in zip(estimates, nulls, strict=True)
    ]

"""Summaries of one number per example: an estimate with its doubt."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from glasshead.arrays import AnyFloats, Flags
from glasshead.audits.slices import Group
from glasshead.nouns import Nouns
from glasshead.results import MIN_UNITS, Finding, Interval, PairedDifference, Verdict
from glasshead.statistics import (
    LEVEL,
    UNKNOWN,
    Estimate,
    Range,
    are_alike,
    intervals_beside_nulls,
    nan_mean,
)

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


def nulls_of(table: Mapping[str, AnyFloats], column: str, members: Flags) -> dict[str, AnyFloats]:
    """The nulls of a column of a table, by name, in a group of the rows."""
    start = null_column(column, "")
    return {
        name.removeprefix(start): values[members] for name, values in table.items() if name.startswith(start)
    }


def all_same(same: AnyFloats | None) -> bool:
    """Whether two explanations are one in every text where they are any (`same_numbers`)."""
    known = np.zeros(0) if same is None else same[~np.isnan(same)]
    return bool(len(known) and (known == 1).all())


def few_tokens(nouns: Nouns) -> str:
    """Why weights of an input could not be others, or have no order."""
    return f"fewer than two {nouns.tokens}"


def reliable_interval(difference: PairedDifference | None) -> Interval | None:
    """The interval on which a verdict may rest: None if it comes from too few units."""
    return difference.interval if difference is not None and difference.n >= MIN_UNITS else None


def summarise(
    values: Sequence[AnyFloats],
    nulls: Sequence[Nulls],
    *,
    rng: np.random.Generator,
    level: float = LEVEL,
    within: Range | None,
    counts: bool | Sequence[bool] = False,
) -> list[StatSummary]:
    """Summarise statistics of the same units, each with its nulls; NaNs are units without the statistic.

    ``within`` is the least and the most that a statistic can be, for all [2] or for each [S, 2]
    (`mean_intervals`), or None where that is not known, and intervals keep within it. Where all units have
    one value the interval is that value, as it nearly is where they nearly have: but for what ``counts``, a
    share, which gets the exact one.
    """
    ranges = np.broadcast_to(UNKNOWN if within is None else np.asarray(within), (len(values), 2))
    estimates = intervals_beside_nulls(values, nulls, rng=rng, level=level, within=ranges)
    summaries = []
    rows = zip(estimates, values, nulls, ranges, np.broadcast_to(counts, len(values)), strict=True)
    for (estimate, differences), own, by_null, ends, is_count in rows:
        width = np.ptp(ends)
        over_null = {
            name: PairedDifference(
                difference.mean,
                interval_of(difference, own - np.asarray(by_null[name]), (-width, width), counts=is_count),
                difference.n,
            )
            for name, difference in differences.items()
        }
        interval = interval_of(estimate, own, ends, counts=is_count)
        # Of the units that have the statistic: the two stand beside each other.
        null = {
            name: None if numbers is None else nan_mean(np.where(np.isnan(own), np.nan, numbers))
            for name, numbers in by_null.items()
        }
        summaries.append(StatSummary(estimate.mean, estimate.std, interval, null, estimate.n, over_null))
    return summaries


def interval_of(estimate: Estimate, values: AnyFloats, within: Interval, *, counts: bool) -> Interval | None:
    """The interval of a mean of units of this range; where all are alike the mean itself, but of what
    ``counts``."""
    one_value = not counts and bool(are_alike(np.array([values], dtype=np.float64), np.array([within]))[0])
    return estimate.point if one_value else estimate.interval_or_point

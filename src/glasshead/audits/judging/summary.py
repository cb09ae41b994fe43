"""Summaries of one number per example: an estimate with its interval."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from scipy.special import stdtrit

from glasshead.arrays import AnyFloats, Flags
from glasshead.audits.judging.slices import Group
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
    share_ends,
)

Nulls = Mapping[str, AnyFloats | None]
Shifts = Mapping[str, Sequence[float]]
"""By how much float32 differs from halves in some inputs, by `floor_key`; what is missing is not known."""
FEWEST_SHIFTS = 3
"""From so many numbers on a deviation is known."""


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
    floor: float | None = None

    def above(
        self, floor: float | None, over_nulls: Mapping[str, float | None], within: Interval
    ) -> StatSummary:
        """With intervals that are wider by the noise of half precision; None where that is not known."""
        width = within[1] - within[0]
        over = {
            null: replace(one, interval=wider(one.interval, own, (-width, width)), floor=own)
            for null, one in self.over_null.items()
            for own in [over_nulls.get(null)]
        }
        return replace(self, interval=wider(self.interval, floor, within), over_null=over, floor=floor)

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
            floor=self.floor,
            **verdict.fields,
        )


def floor_key(statistic: str, against: str, null: str = "") -> str:
    """The name of a mean, or of its difference from a null."""
    return "|".join((statistic, against, null))


def floor_of(shifts: Sequence[float], level: float, width: float, *, rooted: bool = False) -> float | None:
    """By how much halves may have moved a mean over inputs, each by at most ``width``; None: unknown.

    |mean| + t·s/√n of the n shifts, with the quantile t of Student's distribution. Where some inputs did not
    change it is at least the mean |shift| of those that did, or ``width`` if none did, times the exact upper
    end for their share (Clopper and Pearson 1934). A root of a mean of squares (``rooted``) moves by at most
    the root of the mean square of the shifts.
    """
    n = len(shifts)
    if n < FEWEST_SHIFTS:
        return None
    values = np.square(shifts) if rooted else np.asarray(shifts, dtype=float)
    sizes = np.abs(values[values != 0])
    error = stdtrit(n - 1, (1 + level) / 2) * values.std(ddof=1) / math.sqrt(n)
    floor = abs(values.mean()) + error
    if len(sizes) < n:
        size = sizes.mean() if len(sizes) else width
        floor = max(floor, size * share_ends(len(sizes), n, level)[1])
    if not math.isfinite(floor):
        return None
    return float(math.sqrt(floor) if rooted else floor)


def wider(interval: Interval | None, floor: float | None, within: Interval) -> Interval | None:
    """An interval extended by the floor at both ends, within its range; None if the floor is unknown."""
    if interval is None or floor is None:
        return None
    return max(interval[0] - floor, within[0]), min(interval[1] + floor, within[1])


def added(*floors: float | None) -> float | None:
    """The noise floor of a difference; None if one is unknown."""
    known = [floor for floor in floors if floor is not None]
    return sum(known) if len(known) == len(floors) else None


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
    """Why the weights of an input have no alternatives, or no order."""
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

    ``within`` is the smallest and largest possible value of a statistic, for all [2] or for each [S, 2]
    (`mean_intervals`), or None where that is not known; intervals stay within it. If all units have one
    value the interval is that value, except for a share (``counts``), which gets the exact interval.
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

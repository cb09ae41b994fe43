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
    Range,
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
) -> list[StatSummary]:
    """Summarise statistics of the same units, each with its nulls; NaNs are units without the statistic.

    ``within`` is the least and the most that a statistic can be, for all [2] or for each [S, 2]
    (`mean_intervals`), or None where that is not known. Intervals keep within it, and those of units that are
    all alike are points without it.
    """
    estimates = intervals_beside_nulls(
        values, nulls, rng=rng, level=level, within=UNKNOWN if within is None else within
    )
    return [
        StatSummary(
            estimate=estimate.mean,
            std=estimate.std,
            interval=estimate.interval_or_point,
            null={name: nan_mean(values) for name, values in null.items()},
            n=estimate.n,
            over_null={
                name: PairedDifference(difference.mean, difference.interval_or_point, difference.n)
                for name, difference in differences.items()
            },
        )
        for (estimate, differences), null in zip(estimates, nulls, strict=True)
    ]

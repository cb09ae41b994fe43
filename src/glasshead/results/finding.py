"""One number of an audit, with its interval and its nulls."""

from dataclasses import dataclass, field
from typing import Literal

from glasshead.results.verdict import Reason, Status


@dataclass(frozen=True)
class PairedDifference:
    """The mean of a statistic minus its null over the ``n`` units that have both, with its bootstrap
    ``interval``, of the level of its finding."""

    estimate: float | None
    interval: tuple[float, float] | None
    n: int


@dataclass(frozen=True)
class Finding:
    """One audited number with its doubt: n, interval, null, and what it means in words.

    ``estimate`` is a mean over ``n`` units (examples, or token types) with standard deviation ``std`` and an
    ``interval`` of that ``level`` (by bootstrap; exact for shares); ``null`` holds the same statistic where
    it must mean nothing (random or uniform weights). ``undefined`` counts the units that were left out, by
    reason. ``over_null`` holds the paired difference from each null, on which a verdict about that null
    rests. ``status`` says whether the number is evidence and ``reason`` why it is none (`Verdict`). ``by`` is
    what the group is a slice by; empty for groups that every audit has. Intervals of slices have a higher
    level than 95 %, which is corrected for the number of slices.

    What a search reached is no estimate but a ``bound``: the mean is at least (``"lower"``) or at most
    (``"upper"``) this. It has no ``interval``; ``limit`` is what the mean over more such units is at least,
    or at most, with that confidence. Its nulls are bounds of the same kind, so no difference from them is
    known. ``inputs_needed`` is about how many inputs would decide what the verdict leaves open, where that
    can be said; above 100,000 it takes more than these.
    """

    audit: str
    statistic: str
    against: str
    group: str
    estimate: float | None
    std: float | None
    interval: tuple[float, float] | None
    null: dict[str, float | None]
    n: int
    undefined: dict[str, int]
    significant_fraction: float | None
    citation: str
    verdict: str
    over_null: dict[str, PairedDifference] = field(default_factory=dict)
    status: Status = field(kw_only=True)
    reason: Reason = ""
    by: str = ""
    level: float = 0.95
    bound: Literal["", "lower", "upper"] = ""
    limit: float | None = None
    inputs_needed: int | None = None

    @property
    def name(self) -> str:
        """The name by which ``--fail-under`` and ``compare`` know this finding."""
        return ".".join(part for part in (self.quantity, self.group) if part)

    @property
    def quantity(self) -> str:
        """The name without the group: what the number is about."""
        return ".".join(part for part in (self.audit, self.statistic, self.against) if part)

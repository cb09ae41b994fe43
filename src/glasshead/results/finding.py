"""One number of an audit, with its interval and its nulls."""

from dataclasses import dataclass, field
from typing import Literal

from glasshead.results.verdict import Reason, Status


@dataclass(frozen=True)
class PairedDifference:
    """The mean of a statistic minus its null over the ``n`` units that have both, with its bootstrap
    ``interval`` at the level of its finding, which includes its ``floor``."""

    estimate: float | None
    interval: tuple[float, float] | None
    n: int
    floor: float | None = None


@dataclass(frozen=True)
class Finding:
    """One audited number: estimate, n, interval, null, and a verdict in words.

    ``estimate`` is a mean over ``n`` units (examples, or token types) with standard deviation ``std`` and an
    ``interval`` of that ``level`` (by bootstrap; exact for shares); ``null`` holds the same statistic for
    meaningless numbers (random or uniform weights). ``undefined`` counts the units that were left out, by
    reason. ``over_null`` holds the paired difference from each null, on which a verdict about that null
    rests. ``status`` says whether the number is evidence and ``reason`` why not (`Verdict`). ``by`` is what
    the group is a slice by; empty for groups that every audit has. Intervals of slices have a level above
    95 %, as a correction for the number of slices.

    The result of a search is not an estimate but a ``bound``: the mean is at least (``"lower"``) or at most
    (``"upper"``) this. It has no ``interval``; ``limit`` bounds the mean over more such units, from below
    or above, with that confidence. Its nulls are bounds of the same kind, so differences from them are
    unknown. ``inputs_needed`` is about how many inputs would decide what the verdict leaves open, if that
    is known; above 100,000 it takes more than these. ``floor`` is the smallest detectable change of the
    estimate in half precision (bfloat16, float16), measured against float32: ``interval`` is wider by as
    much at both ends. None: there is none, or it is unknown and there is no interval.
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
    floor: float | None = None

    @property
    def name(self) -> str:
        """The name by which ``--fail-under`` and ``compare`` know this finding."""
        return ".".join(part for part in (self.quantity, self.group) if part)

    @property
    def quantity(self) -> str:
        """The name without the group: what the number is about."""
        return ".".join(part for part in (self.audit, self.statistic, self.against) if part)

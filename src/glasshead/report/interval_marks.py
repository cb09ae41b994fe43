"""Numbers with what they are compared with, as marks on one line: a dot, its whiskers, and open marks."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from glasshead.report.findings_in_words import nulls
from glasshead.report.number_format import finite, number
from glasshead.report.text_spans import doubt
from glasshead.report.weight_intervals import spoken_range
from glasshead.results import Attribution, Difference, Finding

DIAMOND, SQUARE, RING = "m-3.5 0l3.5-4.5l3.5 4.5l-3.5 4.5z", "m-3-3h6v6h-6z", ""
"""The shapes of open marks."""


@dataclass(frozen=True)
class IntervalMark:
    """What stands on one line: a dot with its interval, a band of one standard deviation, and open marks.

    ``span`` is the range of a weight, whose ends may be infinite; ``open`` are places and shapes of open
    marks; a ``hollow`` dot is one that may be zero or has no range.
    """

    spoken: str
    estimate: float | None = None
    interval: Sequence[float] | None = None
    std: float | None = None
    span: Sequence[float] | None = None
    open: Sequence[tuple[float, str]] = field(default_factory=tuple)
    hollow: bool = False
    maybe_zero: bool = False
    zero: bool = True


def finding_mark(finding: Finding) -> IntervalMark | None:
    """The estimate with its interval, its standard deviation and each null; None where it is undefined."""
    estimate = finite(finding.estimate)
    if estimate is None:
        return None
    shapes = [
        (amount, DIAMOND if name == "random" else SQUARE)
        for name, value in finding.null.items()
        if (amount := finite(value)) is not None
    ]
    spoken = spoken_interval(estimate, finding.interval, finding.level)
    if finding.bound:
        spoken = f"{finding.bound} bound {number(estimate)}"
    if finding.null:
        spoken += f"; null: {nulls(finding)}"
    return IntervalMark(spoken, estimate, finding.interval, finite(finding.std), open=shapes)


def difference_mark(difference: Difference) -> IntervalMark:
    """A difference with its interval, about zero."""
    spoken = spoken_interval(difference.estimate, difference.interval, difference.level)
    return IntervalMark(spoken, difference.estimate, difference.interval)


def range_mark(attribution: Attribution, token: int) -> IntervalMark:
    """A weight with all that it could be; hollow where that may be zero, or is not known."""
    amount, ends = finite(attribution.scores[token]), attribution.interval(token)
    maybe_zero = doubt(attribution, token) == "maybe"
    spoken = (
        f"{number(attribution.scores[token], plus=attribution.signed)}, {spoken_range(attribution, token)}"
    )
    return IntervalMark(spoken, amount, span=ends, hollow=maybe_zero or ends is None, maybe_zero=maybe_zero)


def seeds_mark(values: Sequence[float]) -> IntervalMark:
    """A ring for every value, and a dot for their mean."""
    rings = [(value, RING) for value in values] if len(values) > 1 else []
    return IntervalMark(", ".join(map(number, values)), sum(values) / len(values), open=rings, zero=False)


def null_mark(value: float) -> IntervalMark:
    """An open square for what must mean nothing."""
    return IntervalMark(number(value), open=[(value, SQUARE)], zero=False)


def spoken_interval(estimate: float | None, bounds: Sequence[float] | None, level: float = 0.95) -> str:
    """A number with its interval, for those who do not see it."""
    spoken = number(estimate)
    return (
        spoken
        if bounds is None
        else f"{spoken}, {100 * level:.4g} % interval {number(bounds[0])} to {number(bounds[1])}"
    )

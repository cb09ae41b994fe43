"""Numbers on one line of a table, drawn: a dot with its whiskers on an axis, and what it is compared with."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from glasshead.report.findings_in_words import nulls
from glasshead.report.number_format import finite, number
from glasshead.results import Difference, Finding

WIDTH, HEIGHT, EDGE = 132, 20, 7
DIAMOND, SQUARE, RING = "m-3.5 0l3.5-4.5l3.5 4.5l-3.5 4.5z", "m-3-3h6v6h-6z", ""
Limits = tuple[float, float]


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


def draw(mark: IntervalMark, limits: Limits) -> Markup:
    """The mark as inline SVG, between the limits of its axis."""
    low, high = widen(limits)
    parts = [Markup('<path class="axis" d="M{} 10H{}"/>').format(EDGE, WIDTH - EDGE)]
    if mark.zero and low <= 0 <= high:
        parts.append(Markup('<path class="zero" d="M{} 4V16"/>').format(x_of(0.0, limits)))
    if mark.estimate is not None and mark.std is not None:
        ends = (x_of(mark.estimate + sign * mark.std, limits) for sign in (-1, 1))
        parts.append(Markup('<path class="std" d="M{} 10H{}"/>').format(*ends))
    for value, shape in mark.open:
        x = x_of(value, limits)
        parts.append(
            Markup('<path class="null" d="M{} 10{}"/>').format(x, shape)
            if shape != RING
            else Markup('<circle class="null" cx="{}" cy="10" r="3.2"/>').format(x)
        )
    if mark.span is not None:
        kind = "range maybe" if mark.maybe_zero else "range"
        ends = (x_of(end, limits) for end in mark.span)
        parts.append(Markup('<path class="{}" d="M{} 10H{}"/>').format(kind, *ends))
        parts.append(Markup('<path class="whisker" d="{}"/>').format(caps(mark.span, limits)))
    if mark.interval is not None and all(map(math.isfinite, mark.interval)):
        line = "M{} 10H{}".format(*(x_of(end, limits) for end in mark.interval))
        parts.append(Markup('<path class="whisker" d="{}{}"/>').format(line, caps(mark.interval, limits)))
    if mark.estimate is not None:
        kind = "estimate hollow" if mark.hollow else "estimate"
        dot = Markup('<circle class="{}" cx="{}" cy="10" r="2.7"/>')
        parts.append(dot.format(kind, x_of(mark.estimate, limits)))
    frame = Markup('<svg class="dot" viewBox="0 0 {} {}" width="{}" height="{}" role="img" aria-label="{}">')
    return frame.format(WIDTH, HEIGHT, WIDTH, HEIGHT, mark.spoken) + Markup("").join(parts) + Markup("</svg>")


def caps(bounds: Sequence[float], limits: Limits) -> str:
    """The ends of a line: upright, or an arrow head that points outwards where one is infinite."""
    low, high = (x_of(end, limits) for end in bounds)
    edge = WIDTH - EDGE
    left = f"M{EDGE + 4} 6L{EDGE} 10L{EDGE + 4} 14" if bounds[0] == -math.inf else f"M{low} 5V15"
    right = f"M{edge - 4} 6L{edge} 10L{edge - 4} 14" if bounds[1] == math.inf else f"M{high} 5V15"
    return left + right


def finding_mark(finding: Finding, limits: Limits) -> Markup:
    """The estimate with its interval, its standard deviation and each null."""
    estimate = finite(finding.estimate)
    if estimate is None:
        return Markup('<span class="void">undefined</span>')
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
    return draw(IntervalMark(spoken, estimate, finding.interval, finite(finding.std), open=shapes), limits)


def difference_mark(difference: Difference, limits: Limits) -> Markup:
    """A difference with its interval, about zero."""
    spoken = spoken_interval(difference.estimate, difference.interval, difference.level)
    return draw(IntervalMark(spoken, difference.estimate, difference.interval), limits)


def seeds_mark(values: Sequence[float], limits: Limits) -> Markup:
    """A ring for every value, and a dot for their mean."""
    rings = [(value, RING) for value in values] if len(values) > 1 else []
    mean = sum(values) / len(values)
    return draw(IntervalMark(", ".join(map(number, values)), mean, open=rings, zero=False), limits)


def null_mark(value: float, limits: Limits) -> Markup:
    """An open square for what must mean nothing."""
    return draw(IntervalMark(number(value), open=[(value, SQUARE)], zero=False), limits)


def axis(limits: Limits, digits: int = 2) -> Markup:
    """The ends of an axis and zero, in significant digits, as a header above the marks."""
    low, high = widen(limits)
    ends = {low: "start", high: "end"}
    if low < 0 < high:
        room = 26 / (WIDTH - 2 * EDGE) * (high - low)
        ends = {value: anchor for value, anchor in ends.items() if abs(value) >= room} | {0.0: "middle"}
    label = Markup('<text x="{}" y="14" text-anchor="{}">{}</text>')
    texts = Markup("").join(
        label.format(
            {"start": "1", "end": str(WIDTH - 1)}.get(anchor, x_of(value, limits)),
            anchor,
            ("−" if value < 0 else "") + f"{abs(value):.{digits}g}",
        )
        for value, anchor in ends.items()
    )
    frame = Markup('<svg class="ticks" viewBox="0 0 {} {}" width="{}" height="{}" aria-hidden="true">')
    return frame.format(WIDTH, HEIGHT, WIDTH, HEIGHT) + texts + Markup("</svg>")


def x_of(value: float, limits: Limits) -> str:
    """Where a number stands across; what lies beyond the axis stands at its end."""
    low, high = widen(limits)
    share = (value - low) / (high - low)
    return f"{EDGE + (WIDTH - 2 * EDGE) * min(1.0, max(0.0, share)):.1f}"


def widen(limits: Limits) -> Limits:
    """Limits that are not one number."""
    low, high = limits
    return (low, high) if high > low else (low - 1.0, low + 1.0)


def spoken_interval(estimate: float | None, bounds: Sequence[float] | None, level: float = 0.95) -> str:
    """A number with its interval, for those who do not see it."""
    spoken = number(estimate)
    return (
        spoken
        if bounds is None
        else f"{spoken}, {100 * level:.4g} % interval {number(bounds[0])} to {number(bounds[1])}"
    )

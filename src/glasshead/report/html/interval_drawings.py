"""The marks of numbers as inline SVG, and the axis above them."""

import math
from collections.abc import Sequence

from markupsafe import Markup

from glasshead.report.interval_marks import RING, IntervalMark

WIDTH, HEIGHT, EDGE = 132, 20, 7
Limits = tuple[float, float]


def draw(mark: IntervalMark | None, limits: Limits) -> Markup:
    """The mark as inline SVG, between the limits of its axis; a word where there is no number."""
    if mark is None:
        return Markup('<span class="void">undefined</span>')
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

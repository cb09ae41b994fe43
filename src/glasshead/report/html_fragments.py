"""Small pieces of HTML and SVG made in Python: a highlighted text, a dot with its whiskers, a scale.

Everything that came from outside goes through markupsafe; `Markup.format` escapes its arguments.
"""

import math
from collections.abc import Mapping, Sequence

from markupsafe import Markup, escape

from glasshead.escaping import visible
from glasshead.report.number_format import DASH, count, finite, interval, number
from glasshead.report.text_spans import described, strength, stretches, strongest
from glasshead.report.weight_intervals import counted
from glasshead.results import Attribution, Finding

WIDTH, HEIGHT, EDGE = 132, 20, 7
DIAMOND, SQUARE = "m-3.5 0l3.5-4.5l3.5 4.5l-3.5 4.5z", "m-3-3h6v6h-6z"


def highlighted(attribution: Attribution, scale: float) -> Markup:
    """The whole text, each token coloured by its number; red is positive, blue is negative.

    Where weights have ranges, a token that may be zero is hatched, and each carries beside the strength of
    its weight (``--a``) that of the least it can have (``--least``), for the page's switch.
    """
    shown = visible(attribution.text)
    pieces, focus = [], "0"
    for stretch in stretches(attribution):
        piece = shown[stretch.start : stretch.end]
        if stretch.token is None:
            pieces.append(escape(piece))
            continue
        share = strength(attribution.colours[stretch.token], scale)
        kind = "p" if share > 0 else "n" if share < 0 else "z"
        style = f"--a:{abs(share):.2f}"
        if attribution.intervals is not None:
            style += f";--least:{abs(strength(attribution.least(stretch.token), scale)):.2f}"
            kind += f" {doubt(attribution, stretch.token)}".rstrip()
        mark = Markup('<mark class="{}" style="{}" tabindex="{}" data-tip="{}">{}</mark>')
        tip = described(attribution, stretch.token)
        pieces.append(mark.format(kind, style, focus, tip, piece))
        focus = "-1"
    if not pieces:
        return Markup('<p class="text void">(empty text)</p>')
    heard = [f"Strongest tokens: {said}."] if (said := strongest(attribution)) else []
    if attribution.intervals is not None:
        heard.append(f"{counted(attribution)}.")
    aside = Markup('<span class="heard"> {}</span>').format(" ".join(heard)) if heard else Markup("")
    return Markup('<p class="text" dir="auto">{}{}</p>').format(Markup("").join(pieces), aside)


def doubt(attribution: Attribution, token: int) -> str:
    """The class of a token whose weight may be zero or whose range is not known; empty for any other."""
    if attribution.interval(token) is None:
        return "unknown"
    return "maybe" if attribution.may_be_zero(token) else ""


class Scale:
    """Places numbers of one range on an inline plot."""

    def __init__(self, low: float, high: float) -> None:
        self.low, self.high = (low, high) if high > low else (low - 1.0, low + 1.0)

    def at(self, value: float) -> str:
        share = (value - self.low) / (self.high - self.low)
        return f"{EDGE + (WIDTH - 2 * EDGE) * min(1.0, max(0.0, share)):.1f}"

    def axis(self, digits: int = 2) -> Markup:
        """The ends of the range and zero, in significant digits, as a header above the plots."""
        ends = {self.low: "start", self.high: "end"}
        if self.low < 0 < self.high:
            room = 26 / (WIDTH - 2 * EDGE) * (self.high - self.low)
            ends = {value: anchor for value, anchor in ends.items() if abs(value) >= room} | {0.0: "middle"}
        texts = Markup("").join(
            Markup('<text x="{}" y="14" text-anchor="{}">{}</text>').format(
                {"start": "1", "end": str(WIDTH - 1)}.get(anchor, self.at(value)),
                anchor,
                _short(value, digits),
            )
            for value, anchor in ends.items()
        )
        frame = Markup('<svg class="ticks" viewBox="0 0 {} {}" width="{}" height="{}" aria-hidden="true">')
        return frame.format(WIDTH, HEIGHT, WIDTH, HEIGHT) + texts + Markup("</svg>")

    def plot(self, finding: Finding) -> Markup:
        """The estimate as a dot, its interval as whiskers, each null as an open mark."""
        estimate = finite(finding.estimate)
        if estimate is None:
            return Markup('<span class="void">undefined</span>')
        parts = [Markup('<path class="axis" d="M{} 10H{}"/>').format(EDGE, WIDTH - EDGE)]
        if self.low <= 0 <= self.high:
            parts.append(Markup('<path class="zero" d="M{} 4V16"/>').format(self.at(0.0)))
        if (std := finite(finding.std)) is not None:
            band = Markup('<path class="std" d="M{} 10H{}"/>')
            parts.append(band.format(self.at(estimate - std), self.at(estimate + std)))
        for name, value in finding.null.items():
            if (amount := finite(value)) is not None:
                shape = DIAMOND if name == "random" else SQUARE
                parts.append(Markup('<path class="null" d="M{} 10{}"/>').format(self.at(amount), shape))
        return self.framed([*parts, *self.estimate(estimate, finding.interval)], _aria(finding))

    def gap(self, estimate: float, bounds: tuple[float, float] | None) -> Markup:
        """A difference as a dot with whiskers about zero."""
        parts = [
            Markup('<path class="axis" d="M{} 10H{}"/>').format(EDGE, WIDTH - EDGE),
            Markup('<path class="zero" d="M{} 4V16"/>').format(self.at(0.0)),
        ]
        return self.framed([*parts, *self.estimate(estimate, bounds)], _spoken(estimate, bounds))

    def strip(self, values: Sequence[float]) -> Markup:
        """An open mark for every value, and a dot for their mean."""
        mean = sum(values) / len(values)
        mark = Markup('<circle class="null" cx="{}" cy="10" r="3.2"/>')
        marks = [mark.format(self.at(value)) for value in values] if len(values) > 1 else []
        axis = Markup('<path class="axis" d="M{} 10H{}"/>').format(EDGE, WIDTH - EDGE)
        return self.framed([axis, *marks, *self.estimate(mean, None)], ", ".join(map(number, values)))

    def null(self, value: float) -> Markup:
        """An open square for what must mean nothing."""
        axis = Markup('<path class="axis" d="M{} 10H{}"/>').format(EDGE, WIDTH - EDGE)
        mark = Markup('<path class="null" d="M{} 10{}"/>').format(self.at(value), SQUARE)
        return self.framed([axis, mark], number(value))

    def reach(self, value: float, bounds: tuple[float, float] | None, spoken: str, hollow: bool) -> Markup:
        """A weight as a dot on the range of what it could be, with an arrow where nothing bounds it."""
        parts = [Markup('<path class="axis" d="M{} 10H{}"/>').format(EDGE, WIDTH - EDGE)]
        if self.low <= 0 <= self.high:
            parts.append(Markup('<path class="zero" d="M{} 4V16"/>').format(self.at(0.0)))
        if bounds is not None:
            low, high = (self.at(each) for each in bounds)
            # Arrow heads point outwards; caps stand upright.
            left = f"M{EDGE + 4} 6L{EDGE} 10L{EDGE + 4} 14" if bounds[0] == -math.inf else f"M{low} 5V15"
            edge = WIDTH - EDGE
            right = f"M{edge - 4} 6L{edge} 10L{edge - 4} 14" if bounds[1] == math.inf else f"M{high} 5V15"
            kind = "range maybe" if hollow else "range"
            parts.append(Markup('<path class="{}" d="M{} 10H{}"/>').format(kind, low, high))
            parts.append(Markup('<path class="whisker" d="{}{}"/>').format(left, right))
        dot = "estimate hollow" if hollow or bounds is None else "estimate"
        parts.append(Markup('<circle class="{}" cx="{}" cy="10" r="2.7"/>').format(dot, self.at(value)))
        return self.framed(parts, spoken)

    def estimate(self, estimate: float, bounds: tuple[float, float] | None) -> list[Markup]:
        """A dot, and whiskers where there is an interval."""
        parts = []
        if bounds is not None and finite(bounds[0]) is not None and finite(bounds[1]) is not None:
            low, high = self.at(bounds[0]), self.at(bounds[1])
            parts.append(
                Markup('<path class="whisker" d="M{} 10H{}M{} 5V15M{} 5V15"/>').format(low, high, low, high)
            )
        parts.append(Markup('<circle class="estimate" cx="{}" cy="10" r="2.7"/>').format(self.at(estimate)))
        return parts

    @staticmethod
    def framed(parts: list[Markup], spoken: str) -> Markup:
        """The drawing, with what it says to those who cannot see it."""
        frame = Markup(
            '<svg class="dot" viewBox="0 0 {} {}" width="{}" height="{}" role="img" aria-label="{}">'
        )
        return frame.format(WIDTH, HEIGHT, WIDTH, HEIGHT, spoken) + Markup("").join(parts) + Markup("</svg>")


def nulls(null: Mapping[str, float | None]) -> str:
    """The nulls in words, those that exist: ``random 0.001, uniform 0.2``."""
    return (
        ", ".join(f"{name} {number(value)}" for name, value in null.items() if finite(value) is not None)
        or DASH
    )


def over_nulls(finding: Finding) -> str:
    """The paired differences in words: ``Text by text (n = 60), minus random: −0.023 [−0.044, −0.002].``"""
    known = {name: each for name, each in finding.over_null.items() if each.estimate is not None}
    sizes = {name: f" (n = {count(each.n)})" for name, each in known.items()}
    (shared,) = set(sizes.values()) if len(set(sizes.values())) == 1 else ("",)
    differences = "; ".join(
        f"minus {name}{'' if shared else sizes[name]}: {number(each.estimate, plus=True)} "
        f"{interval(each.interval, plus=True)}"
        for name, each in known.items()
    )
    return f"Text by text{shared}, {differences}." if known else ""


def _spoken(estimate: float | None, bounds: tuple[float, float] | None) -> str:
    text = number(estimate)
    if bounds is not None:
        text += f", 95 % interval {number(bounds[0])} to {number(bounds[1])}"
    return text


def _aria(finding: Finding) -> str:
    return _spoken(finding.estimate, finding.interval) + (
        f"; null: {nulls(finding.null)}" if finding.null else ""
    )


def _short(value: float, digits: int) -> str:
    text = f"{abs(value):.{digits}g}"
    return ("−" if value < 0 else "") + text

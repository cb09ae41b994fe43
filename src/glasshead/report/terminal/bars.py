"""Bars of letters: numbers to either side of zero, and weights with the range of what they could be."""

import math

from rich.text import Text

from glasshead.report.colours import TERMINAL, meaning
from glasshead.report.number_format import finite
from glasshead.report.weight_intervals import HATCH
from glasshead.results import POINT_WIDTH, Attribution

CELLS = 10
RANGE = 16
LEAST, SHOWN, MOST = "█", "▓", HATCH
"""Letters of a bar to either side, and of one with a range; what a weight is at least, is, and is at most."""


def bar(share: float, signed: bool) -> Text:
    """A bar to the right of the middle for a positive number, to the left for a negative one."""
    length, colour = round(abs(share) * CELLS), TERMINAL[meaning(share, signed)][0]
    if share < 0:
        return Text.assemble(" " * (CELLS - length), (LEAST * length, colour), "│", " " * CELLS)
    return Text.assemble(" " * CELLS, "│", (LEAST * length, colour))


def range_bar(attribution: Attribution, token: int, limits: tuple[float, float]) -> Text:
    """A weight with its range: █ what it is at least, ▓ on to the weight itself, ░ on to what it is at most.

    An end that nothing bounds is an arrow. ``limits`` are the numbers at the edges, with zero among them; no
    room is spent on a side that nothing reaches.
    """
    full = max(-limits[0], limits[1], POINT_WIDTH)
    left = RANGE // 2 if limits[0] < -POINT_WIDTH * min(full, 1.0) else 0
    score = finite(attribution.scores[token]) or 0.0
    low, high = attribution.interval(token) or (score, score)
    least = 0.0 if attribution.may_be_zero(token) else attribution.least(token) or 0.0
    if attribution.certain(token):
        least = low = high = score  # the width that is left is rounding
    below, above = (
        _side(cells, *(max(sign * value / full, 0.0) for value in (least, score, most)))
        for sign, cells, most in ((-1, left, low), (1, RANGE - left, high))
    )
    mirrored = below[::-1].replace("→", "←").rjust(left)
    right = TERMINAL[meaning(1.0, attribution.signed)][0]
    return Text.assemble((mirrored, TERMINAL["against"][0]), "│", (above, right))


def _side(cells: int, least: float, shown: float, most: float) -> str:
    """The bar from zero outwards; the three are parts of its length, and ``most`` may be infinite."""
    if not cells:
        return ""
    reach = round(min(most, 1.0) * cells)
    # A bar that is long enough to be seen has a solid part if the weight cannot be zero, however small.
    solid = max(round(min(least, 1.0) * cells), int(least > 0 and reach > 0))
    middle = max(round(min(shown, 1.0) * cells), solid)
    drawn = LEAST * solid + SHOWN * (middle - solid) + MOST * (reach - middle)
    return drawn[:-1] + "→" if most == math.inf else drawn

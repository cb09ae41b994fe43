"""With how many digits a number of a history is written: an estimate and its interval share theirs.

They have two digits of the interval's width, `MOST` decimals at the most, so that a column can be read down.
"""

import math
from collections.abc import Sequence

from glasshead.report.formats import DASH, MINUS, finite, number
from glasshead.results import Finding

USUAL, MOST = 3, 7


def of_width(width: float) -> int:
    """Decimals with which a width has two digits; the usual number of them where it is none."""
    if not math.isfinite(width) or width <= 0:
        return USUAL
    return min(max(1 - math.floor(math.log10(width)), 0), MOST)


def digits(finding: Finding) -> int:
    """Decimals of a finding, by its interval."""
    return USUAL if finding.interval is None else of_width(finding.interval[1] - finding.interval[0])


def fixed(value: float | None, places: int = USUAL, plus: bool = False) -> str:
    """A number with just so many decimals, even if it rounds to zero; only what is nothing with the most of
    them is written as a power of ten."""
    amount = finite(value)
    if amount is None:
        return DASH
    shown = round(amount, places) + 0.0  # no minus before a zero
    if shown == 0 != amount and places == MOST:
        return number(amount, plus=plus)
    return f"{shown:{'+' if plus and shown else ''},.{places}f}".replace("-", MINUS)


def bounds(interval: Sequence[float] | None, places: int = USUAL, plus: bool = False) -> str:
    """``[low, high]`` with just so many decimals, or a dash."""
    if interval is None or any(finite(each) is None for each in interval):
        return DASH
    return f"[{fixed(interval[0], places, plus)}, {fixed(interval[1], places, plus)}]"


def span(first: float, last: float, most: int = MOST) -> str:
    """Where a number began and where it stands, with two digits of what is between them, if it has room."""
    places = min(max(of_width(abs(last - first)), USUAL), most)
    return f"{fixed(first, places)} → {fixed(last, places)}"

"""With how many digits a number of a history is written: an estimate and its interval share theirs.

They have two digits of the interval's width, `MOST` decimals at the most, so that a column can be read down.
Numbers too small for that share a power of ten: more decimals than `MOST` stand for one decimal times it.
"""

import math
from collections.abc import Sequence

from glasshead.report.number_format import DASH, MINUS, finite, times_ten
from glasshead.results import Finding

USUAL, MOST = 3, 7


def of_width(width: float) -> int:
    """Decimals with which a width has two digits; the usual number of them where it is none."""
    if not math.isfinite(width) or width <= 0:
        return USUAL
    return max(1 - math.floor(math.log10(width)), 0)


def shared(width: float, values: Sequence[float]) -> int:
    """Decimals of a width for some numbers: more than `MOST` only if a power of ten suits all of them."""
    places = of_width(width)
    suits = all(abs(value) < 10.0 ** (3 - places) for value in values)
    return places if suits else min(places, MOST)


def digits(finding: Finding, *others: float) -> int:
    """Decimals of a finding, and of other numbers that are to have as many: by its interval, else by its
    size."""
    if finding.interval is None:
        size = abs(finding.estimate or 0.0)
        return max(shared(size, [size, *others]), USUAL)
    low, high = finding.interval
    return shared(high - low, [finding.estimate or 0.0, low, high, *others])


def fixed(value: float | None, places: int = USUAL, plus: bool = False) -> str:
    """A number with just so many decimals, even if it rounds to zero."""
    amount = finite(value)
    return DASH if amount is None else rounded(amount, places, plus) + power(places)


def bounds(interval: Sequence[float] | None, places: int = USUAL, plus: bool = False) -> str:
    """``[low, high]`` with just so many decimals, or a dash."""
    if interval is None or any(finite(each) is None for each in interval):
        return DASH
    low, high = (rounded(each, places, plus) for each in interval)
    return f"[{low}, {high}]{power(places)}"


def rounded(amount: float, places: int, plus: bool) -> str:
    """The digits of a number, without the power of ten behind it."""
    if places > MOST:
        amount, places = amount * 10.0 ** (places - 1), 1
    shown = round(amount, places) + 0.0  # no minus before a zero
    return f"{shown:{'+' if plus and shown else ''},.{places}f}".replace("-", MINUS)


def power(places: int) -> str:
    """The power of ten that stands behind numbers of so many decimals, if one does."""
    return times_ten(1 - places) if places > MOST else ""


def span(first: float, last: float, most: int = MOST) -> str:
    """Where a number began and where it stands, with two digits of what is between them, if it has room."""
    places = shared(abs(last - first), [first, last])
    if places <= MOST:
        places = min(max(places, USUAL), most)
    return f"{fixed(first, places)} → {fixed(last, places)}"

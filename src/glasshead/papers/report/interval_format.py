"""How many digits a number of a history is written with: an estimate and its interval share theirs.

They have two digits of the interval's width, `MAX_DECIMALS` decimals at the most, so that a column can be
read down. Numbers too small for that share a power of ten: more decimals than `MAX_DECIMALS` stand for one
decimal times it.
"""

import math
from collections.abc import Sequence

from glasshead.report import DASH, MINUS, finite, times_ten
from glasshead.results import Finding

DEFAULT_DECIMALS, MAX_DECIMALS = 3, 7


def decimals_for_width(width: float) -> int:
    """Decimals with which a width has two digits; the usual number of them where it is none."""
    if not math.isfinite(width) or width <= 0:
        return DEFAULT_DECIMALS
    return max(1 - math.floor(math.log10(width)), 0)


def common_decimals(width: float, values: Sequence[float]) -> int:
    """Decimals of a width for some numbers: more than `MAX_DECIMALS` only if one power of ten suits all."""
    places = decimals_for_width(width)
    suits = all(abs(value) < 10.0 ** (3 - places) for value in values)
    return places if suits else min(places, MAX_DECIMALS)


def finding_decimals(finding: Finding, *others: float) -> int:
    """Decimals of a finding, and of other numbers that are to have as many: by its interval if that has a
    width, else by its size."""
    if finding.interval is None or finding.interval[0] == finding.interval[1]:
        size = abs(finding.estimate or 0.0)
        return max(common_decimals(size, [size, *others]), DEFAULT_DECIMALS)
    low, high = finding.interval
    return common_decimals(high - low, [finding.estimate or 0.0, low, high, *others])


def format_number(value: float | None, places: int = DEFAULT_DECIMALS, plus: bool = False) -> str:
    """A number with just so many decimals, even if it rounds to zero."""
    amount = finite(value)
    return DASH if amount is None else format_digits(amount, places, plus) + format_power(places)


def format_interval(
    interval: Sequence[float] | None, places: int = DEFAULT_DECIMALS, plus: bool = False
) -> str:
    """``[low, high]`` with just so many decimals, or a dash."""
    if interval is None or any(finite(bound) is None for bound in interval):
        return DASH
    low, high = (format_digits(bound, places, plus) for bound in interval)
    return f"[{low}, {high}]{format_power(places)}"


def format_digits(amount: float, places: int, plus: bool) -> str:
    """The digits of a number, without the power of ten behind it."""
    if places > MAX_DECIMALS:
        amount, places = amount * 10.0 ** (places - 1), 1
    value = round(amount, places) + 0.0  # no minus before a zero
    return f"{value:{'+' if plus and value else ''},.{places}f}".replace("-", MINUS)


def format_power(places: int) -> str:
    """The power of ten that stands behind numbers of so many decimals, if one does."""
    return times_ten(1 - places) if places > MAX_DECIMALS else ""


def format_change(first: float, last: float, most: int = MAX_DECIMALS) -> str:
    """Where a number began and where it stands, with two digits of what is between them, if it has room."""
    places = common_decimals(abs(last - first), [first, last])
    if places <= MAX_DECIMALS:
        places = min(max(places, DEFAULT_DECIMALS), most)
    return f"{format_number(first, places)} → {format_number(last, places)}"

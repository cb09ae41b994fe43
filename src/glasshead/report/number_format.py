"""Numbers as a reader wants them: a true minus, a dash for what does not exist."""

import math
from collections.abc import Sequence
from typing import Any

DASH = "–"
MINUS = "−"
ROUNDING = 1e-12  # below it lies the dust of float64 arithmetic
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def finite(value: Any) -> float | None:
    """The value as a float, or None if there is none (None, NaN, infinite, not a number)."""
    if value is None or isinstance(value, (str, bytes)):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def number(value: Any, digits: int = 3, plus: bool = False) -> str:
    """A number with fixed decimals, or more if it would round to zero; a dash for None and NaN."""
    amount = finite(value)
    if amount is None:
        return DASH
    if abs(amount) < ROUNDING:
        amount = 0.0
    size = abs(amount)
    if size != 0 and (size < 1e-4 or size >= 1e6):
        mantissa, exponent = f"{size:.1e}".split("e")
        text = mantissa + times_ten(int(exponent))
    elif size != 0 and size < 0.5 * 10**-digits:
        text = f"{size:.{1 - math.floor(math.log10(size))}f}"
    else:
        text = f"{size:,.{digits}f}"
    sign = MINUS if amount < 0 else "+" if plus and amount > 0 else ""
    return sign + text


def times_ten(power: int) -> str:
    """``·10⁻⁸``, to follow the digits of a number."""
    return f"·10{str(power).translate(_SUPERSCRIPT)}"


def interval(bounds: Sequence[float] | None, digits: int = 3, plus: bool = False) -> str:
    """``[low, high]``, or a dash."""
    if bounds is None or any(finite(bound) is None for bound in bounds):
        return DASH
    return f"[{number(bounds[0], digits, plus)}, {number(bounds[1], digits, plus)}]"


def share(value: Any, digits: int = 0) -> str:
    """A fraction in percent, or a dash."""
    amount = finite(value)
    return DASH if amount is None else f"{100 * amount:.{digits}f}\u00a0%"


def count(value: Any) -> str:
    """A whole number with thousands separated, or a dash."""
    amount = finite(value)
    return DASH if amount is None else f"{int(amount):,}"


def round_up(value: float) -> float:
    """The next 1, 2, 2.5 or 5 times a power of ten; 0 for 0."""
    if value <= 0:
        return 0.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 2, 2.5, 5, 10, 20) if step * power >= value * 0.999)


def plain(value: float) -> str:
    """A number as a person would write it."""
    return f"{value:g}".replace("-", MINUS)

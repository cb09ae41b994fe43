"""How long something takes, as it is typed and as it is said."""

import re

from glasshead.errors import ParameterError

UNITS = {"s": 1, "m": 60, "h": 3600}
TYPED = re.compile(r"(?:\d+(?:\.\d*)?|\.\d+)[smh]?")


def parse_seconds(parameter: str, typed: str) -> float:
    """``90s``, ``10m`` or ``2h`` → seconds; a bare number is seconds.

    Raises:
        InputError: on anything else.
    """
    words = typed.strip()
    if not TYPED.fullmatch(words):
        raise ParameterError(parameter, f"must be a time such as 90s, 10m or 2h, not {ascii(typed)[:60]}")
    number, unit = (words[:-1], words[-1]) if words[-1] in UNITS else (words, "s")
    return float(number) * UNITS[unit]


def duration(seconds: float) -> str:
    """``4 s``, ``1 min 15 s``, ``10 min``: how long that is."""
    minutes, seconds = divmod(round(seconds), 60)
    parts = [f"{minutes} min"] if minutes else []
    return " ".join([*parts, f"{seconds} s"] if seconds or not parts else parts)


def rough_duration(seconds: float) -> str:
    """``40 seconds``, ``4 minutes``, ``3.5 hours``: as exactly as an estimate deserves."""
    if seconds < 90:
        return in_units(max(round(seconds / 5) * 5, 5) if seconds >= 10 else max(round(seconds), 1), "second")
    if seconds < 90 * 60:
        return in_units(round(seconds / 60), "minute")
    return in_units(round(seconds / 1800) / 2, "hour")


def in_units(number: float, unit: str) -> str:
    """So many of a unit."""
    return f"{number:,g} {unit}" if number == 1 else f"{number:,g} {unit}s"

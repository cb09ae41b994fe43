"""What a person types about a plot: the file's name, and numbers between commas."""

import math
from pathlib import Path

from glasshead.errors import InputError
from glasshead.files import format_from_suffix

KINDS = ("png", "svg", "pdf")
PAGE, JSON = "html", "json"
"""What some plots can be besides."""


def file_kind(out: Path, *more: str) -> str:
    """The format that a file's name asks for, one that all plots can have or one of ``more``.

    Raises:
        InputError: if it is none that can be drawn.
    """
    return format_from_suffix(out, *KINDS, *more)


def numbers(option: str, text: str, most: int) -> list[float]:
    """Numbers between commas.

    Raises:
        InputError: if they are none, not finite, or too many.
    """
    try:
        values = [float(word) for word in text.split(",")]
    except ValueError:
        values = []
    if not 1 <= len(values) <= most or not all(map(math.isfinite, values)):
        raise InputError(f"{option} takes 1 to {most} numbers between commas, not {text!r}")
    return list(dict.fromkeys(values))


def whole_numbers(option: str, text: str, most: int) -> list[int]:
    """Whole numbers between commas, from 0 on.

    Raises:
        InputError: as `parse_rows`, and on fractions and numbers below 0.
    """
    values = numbers(option, text, most)
    if any(value < 0 or not value.is_integer() for value in values):
        raise InputError(f"{option} counts from 0 in whole numbers, not {text!r}")
    return [int(value) for value in values]

"""What a person types about a picture: the file's name, and numbers between commas."""

import math
from pathlib import Path

from glasshead.errors import InputError
from glasshead.files import format_from_suffix

KINDS = ("png", "svg", "pdf")
PAGE = "html"
"""What pictures of histories can be besides."""


def file_kind(out: Path, *more: str) -> str:
    """The format that a file's name asks for, one that all pictures can have or one of ``more``.

    Raises:
        InputError: if it is none that can be drawn.
    """
    return format_from_suffix(out, *KINDS, *more)


def numbers(option: str, given: str, most: int) -> list[float]:
    """Numbers between commas.

    Raises:
        InputError: if they are none, not finite, or too many.
    """
    try:
        found = [float(word) for word in given.split(",")]
    except ValueError:
        found = []
    if not 1 <= len(found) <= most or not all(map(math.isfinite, found)):
        raise InputError(f"{option} takes 1 to {most} numbers between commas, not {given!r}")
    return list(dict.fromkeys(found))


def whole_numbers(option: str, given: str, most: int) -> list[int]:
    """Whole numbers between commas, from 0 on.

    Raises:
        InputError: as `parse_rows`, and on fractions and numbers below 0.
    """
    found = numbers(option, given, most)
    if any(each < 0 or not each.is_integer() for each in found):
        raise InputError(f"{option} counts from 0 in whole numbers, not {given!r}")
    return [int(each) for each in found]

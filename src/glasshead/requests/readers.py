"""What is given for a field, in Python or as it is typed, as the value that it means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from glasshead.durations import parse_seconds
from glasshead.errors import InputError, ParameterError
from glasshead.requests.fields import is_number, is_whole_number


def names(field: str, value: Any) -> Any:
    """A name, several between commas, or a list of them → a tuple."""
    if isinstance(value, str):
        parts = tuple(part.strip() for part in value.split(",") if part.strip())
        if not parts:
            raise InputError(f"{value!r} names nothing: give A,B,…")
        return parts
    return tuple(value) if isinstance(value, Iterable) and not isinstance(value, bytes) else value


def each(field: str, value: Any) -> Any:
    """One value, or a list of them → a tuple; commas stay."""
    single = isinstance(value, str | bytes | bytearray | Mapping) or not isinstance(value, Iterable)
    return (value,) if single else tuple(value)


def one_or_several(field: str, value: Any) -> Any:
    """One value, or several different ones in a list → a tuple; a list of one is that one."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        return value
    several = tuple(value)
    for place, one in enumerate(several):
        if one in several[:place]:
            raise ParameterError(field, f"names {one!r} twice")
    return several[0] if len(several) == 1 else several


def folder(field: str, value: Any) -> Any:
    """A path, also as a text → a path."""
    return Path(value) if isinstance(value, str) else value


def labels(field: str, value: Any) -> Any:
    """``OLD=NEW,…`` or a mapping → new names by old ones."""
    if not isinstance(value, str):
        return value
    renamed = {}
    for part in names(field, value):
        old, equals, new = (word.strip() for word in part.partition("="))
        if not old or not equals or not new:
            raise ParameterError(field, f"must be OLD=NEW,…, as in LABEL_0=negative; {part!r} is not")
        renamed[old] = new
    return renamed


def number_or_name(field: str, value: Any) -> Any:
    """``3`` → 3, ``-1`` → -1; a name stays."""
    return int(value) if isinstance(value, str) and value.removeprefix("-").isdecimal() else value


def numbers(field: str, value: Any) -> Any:
    """``0,5``, 0, or a list of whole numbers → a tuple; ``all`` stays."""
    if isinstance(value, str):
        if value == "all":
            return value
        parts = [part.strip() for part in value.split(",")]
        chosen: list[Any] = [int(part) if part.isdecimal() else None for part in parts]
    elif isinstance(value, Iterable) and not isinstance(value, Mapping):
        chosen = [item if is_whole_number(item) else None for item in value]
    else:
        chosen = [value if is_whole_number(value) else None]
    if None in chosen:
        raise ParameterError(field, f"must be 'all' or numbers, as in 0,5, not {ascii(value)[:60]}")
    return tuple(dict.fromkeys(chosen))


def numbers_or_name(field: str, value: Any) -> Any:
    """Read `numbers`; a word stays one."""
    if isinstance(value, str) and not value[:1].isdigit():
        return value
    return numbers(field, value)


def seconds(field: str, value: Any) -> Any:
    """``90s``, ``10m``, ``2h``, or a number of seconds → seconds, more than none."""
    number = parse_seconds(field, value) if isinstance(value, str) else value
    if is_number(number) and not 0 < number < float("inf"):
        raise ParameterError(field, f"must be a time above 0, not {ascii(value)[:60]}")
    return number

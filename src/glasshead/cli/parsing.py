"""Values of options as they are typed: lists of names, NAME=VALUE, mechanisms."""

import math
from typing import Any

from glasshead.errors import InputError
from glasshead.reasons import because
from glasshead.requests import readers


def parse_names(names: str | None) -> tuple[str, ...] | None:
    """A,B → (A, B)."""
    return None if names is None else readers.names("", names)


def parse_numbers(options: list[str]) -> dict[str, float]:
    """NAME=VALUE, … → numbers by name, which may hold a = themselves."""
    result: dict[str, float] = {}
    for option in options:
        name, equals, value = option.rpartition("=")
        try:
            number = float(value)
        except ValueError:
            equals = ""
        if not equals or not math.isfinite(number):
            raise InputError(f"{option!r} is not NAME=NUMBER")
        result[name] = int(number) if number.is_integer() else number
    return result


def parse_settings(options: list[str]) -> dict[str, Any]:
    """NAME=VALUE, … → values by name: JSON where it is some (numbers, true, null), else words.

    Raises:
        InputError: on another form, and on a name with an option of its own.
    """
    import json

    result: dict[str, Any] = {}
    for option in options:
        name, equals, value = option.partition("=")
        if not equals or not name.isidentifier():
            raise InputError(f"{option!r} is not NAME=VALUE")
        if name in ("preset", "model", "architecture"):
            raise InputError(f"--set {option!r}: choose --preset and --model by their own options")
        try:
            result[name] = json.loads(value)
        except ValueError:
            result[name] = value
    return result


def parse_attention_option(attention: str | None) -> Any:
    """A mechanism as it is typed: a word, or JSON between braces."""
    import json

    if attention is None or not attention.lstrip().startswith("{"):
        return attention
    try:
        return json.loads(attention)
    except ValueError as error:
        raise InputError(f"--attention {attention!r} is not JSON{because(error)}") from None

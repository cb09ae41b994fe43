"""What other libraries raise, in words of ours: why a value or a file cannot be used."""

import json
from collections.abc import Mapping
from typing import Any

from glasshead.errors import InputError

NUMBER, WHOLE = "must be a number", "must be a whole number"
REASON_OF = {
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
    "dict_type": "must be an object with names and values",
    "extra_forbidden": "is not known",
    "finite_number": "must be a finite number",
    "float_parsing": NUMBER,
    "float_type": NUMBER,
    "greater_than": "must be larger than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "int_from_float": WHOLE,
    "int_parsing": WHOLE,
    "int_parsing_size": "is too large",
    "int_type": WHOLE,
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "list_type": "must be a list",
    "literal_error": "must be {expected}",
    "missing": "is missing",
    "model_type": "must be an object with names and values",
    "string_too_long": "must have at most {max_length} characters",
    "string_type": "must be text",
    "too_long": "must have at most {max_length} items",
    "tuple_type": "must be a list",
}
"""What pydantic finds wrong with a value, by the names that it has for it."""
TYPED = 40
"""So many characters of a value are repeated."""


def wrong_value(problem: Mapping[str, Any]) -> str:
    """What is wrong with a value, from one of the ``errors()`` of pydantic: ``must be a whole number, not
    'abc'``."""
    kind, value = problem["type"], problem.get("input")
    words = REASON_OF.get(kind)
    if words is None:
        return " ".join(str(problem["msg"]).removeprefix("Value error, ").split())
    sentence = words.format(**problem.get("ctx", {}))
    shown = kind.endswith(("_parsing", "_from_float")) and isinstance(value, str | int | float)
    return f"{sentence}, not {ascii(value)[:TYPED]}" if shown else sentence


def because(error: BaseException) -> str:
    """Why a file cannot be used, in brackets behind a blank; nothing where the library that read it only
    speaks of its own insides."""
    reason = ""
    if isinstance(error, InputError):
        reason = str(error)
    elif isinstance(error, json.JSONDecodeError):
        reason = f"no JSON at line {error.lineno}, column {error.colno}"
    elif isinstance(error, UnicodeDecodeError):
        reason = "not UTF-8"
    elif isinstance(error, KeyError) and error.args:
        reason = f"without {str(error.args[0])[:TYPED]!r}"
    elif callable(getattr(error, "errors", None)) and error.errors():  # type: ignore[attr-defined]
        first = error.errors()[0]  # type: ignore[attr-defined]
        reason = f"{'.'.join(map(str, first['loc']))} {wrong_value(first)}".strip()
    elif isinstance(error, OSError) and error.strerror:
        reason = error.strerror
    return f" ({reason})" if reason else ""

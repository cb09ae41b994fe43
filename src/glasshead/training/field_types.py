"""Values that a person typed, checked against the type of the field that they are for."""

from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

from huggingface_hub.dataclasses import type_validator

from glasshead.errors import ParameterError

MAX_INTEGER = 2**31 - 1
"""No size, count or length is larger."""
TYPE_NAMES = {
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    str: "a word",
    dict: "a mapping",
    NoneType: "null",
}


def validate_type(name: str, value: Any, kind: Any) -> Any:
    """The value; a whole number becomes a float if a float is needed.

    Raises:
        ParameterError: if it is of another kind, or too large a whole number.
    """
    if type(value) is int and abs(value) > MAX_INTEGER:
        raise ParameterError(name, f"must lie between ±{MAX_INTEGER:,}")
    kinds = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    if type(value) is int and float in kinds and int not in kinds:
        return float(value)
    try:
        type_validator(name, value, kind)
    except TypeError:
        wanted = " or ".join(TYPE_NAMES.get(get_origin(kind) or kind, str(kind)) for kind in kinds)
        raise ParameterError(name, f"must be {wanted}, not {value!r}") from None
    return value

"""What a command is asked, said once: the fields of a request.

A field is a keyword of the Python function, an option of the command line, a part of what the folder of a
resumed command was measured with, and a row of the reference.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from numbers import Integral, Real
from typing import Any, Literal, Self, Union, dataclass_transform, get_args, get_origin, get_type_hints

from glasshead.errors import ParameterError


def is_number(value: object) -> bool:
    """A number; True and False are none."""
    return isinstance(value, Real) and not isinstance(value, bool)


def is_whole_number(value: object) -> bool:
    """A whole number; True and False are none."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def are_words(value: object) -> bool:
    """Words in a list; one alone has been put in one."""
    several = isinstance(value, Sequence) and not isinstance(value, bytes | str)
    return several and all(isinstance(item, str) for item in value)  # type: ignore[attr-defined]


FIELD_KINDS: dict[Any, tuple[Callable[[Any], bool], str]] = {
    str: (lambda value: isinstance(value, str), "a word"),
    int: (is_whole_number, "a whole number"),
    float: (is_number, "a number"),
    bool: (lambda value: isinstance(value, bool), "True or False"),
    Sequence: (are_words, "a word or a list of words"),
    Mapping: (lambda value: isinstance(value, Mapping), "a mapping of names to values"),
    Callable: (callable, "a function"),
}
"""How a value is recognised as one of the type of its field, and what such a value is called."""


@dataclasses.dataclass(frozen=True)
class Option:
    """How a field is spelled as an option.

    ``help`` is its sentence on the command line and in the reference. ``flag`` is its spelling on the command
    line (None: after its name; "": only Python has it), ``metavar`` the placeholder of its value. A number
    is from ``least`` to ``most``. ``read`` converts what is passed in Python or typed. ``repeated``
    options are typed once for each value. ``measures`` says whether its value changes what is measured.
    """

    help: str
    flag: str | None = None
    metavar: str | None = None
    least: float | None = None
    most: float | None = None
    read: Callable[[str, Any], Any] | None = None
    repeated: bool = False
    measures: bool = True


def option(*, help: str, default: Any = dataclasses.MISSING, kw_only: bool = True, **more: Any) -> Any:
    """A field, passed by name or, if ``kw_only`` is off, by position."""
    return dataclasses.field(default=default, kw_only=kw_only, metadata={"option": Option(help, **more)})


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(option,))
class Request:
    """The options of a command, checked on creation. None means the default of a field.

    Raises:
        InputError: on a value of another kind than its field takes, or out of its range.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        dataclasses.dataclass(frozen=True)(cls)

    def __post_init__(self) -> None:
        kind: Any = type(self)
        defaults = defaults_of(kind)
        for name, entry in options_of(kind).items():
            value = getattr(self, name)
            if value is None and name in defaults:
                value = defaults[name]
                object.__setattr__(self, name, value)
            if entry.read is not None and value is not None:
                value = entry.read(name, value)
                object.__setattr__(self, name, value)
            check_value(name, value, kind)

    def replace(self, **changes: Any) -> Self:
        """A copy of the request with some fields changed."""
        return dataclasses.replace(self, **changes)  # type: ignore[type-var]


@cache
def options_of(request: Any) -> dict[str, Option]:
    """The options of a request by their fields: what is given by its place, then what is its own, then what
    it shares with others."""
    fields = {field.name: field for field in dataclasses.fields(request)}
    names = [name for kind in request.__mro__ for name in vars(kind).get("__annotations__", ())]
    ordered = sorted(dict.fromkeys(names), key=lambda name: bool(fields[name].kw_only))
    return {name: fields[name].metadata["option"] for name in ordered}


def fingerprint_fields(request: Request) -> dict[str, Any]:
    """The fields that change what is measured: those that must match when a folder is resumed."""
    kind: Any = type(request)
    return {name: getattr(request, name) for name, entry in options_of(kind).items() if entry.measures}


@cache
def types_of(request: Any) -> dict[str, tuple[Any, ...]]:
    """The types that each field takes; none where it takes anything."""
    return {name: union_types(hint) for name, hint in get_type_hints(request).items()}


@cache
def defaults_of(request: Any) -> dict[str, Any]:
    """The fields that need not be given, with what they are then."""
    fields = {field.name: field.default for field in dataclasses.fields(request)}
    return {name: fields[name] for name in options_of(request) if fields[name] is not dataclasses.MISSING}


def union_types(hint: Any) -> tuple[Any, ...]:
    """The plain types of a union: (str, NoneType) of ``str | None``; what a literal allows stays one."""
    if get_origin(hint) is Literal:
        return (hint,)
    if get_origin(hint) in (Union, types.UnionType):
        return tuple(kind for part in get_args(hint) for kind in union_types(part))
    return (get_origin(hint) or hint,)


def check_values(request: type, **values: object) -> None:
    """Raise InputError on an invalid value of a field of a request."""
    for name, value in values.items():
        check_value(name, value, request)


def check_value(name: str, value: object, request: type) -> None:
    """Raise InputError on a value of another kind than a field takes, or out of its range."""
    entry, kinds = options_of(request)[name], types_of(request)[name]
    if Any in kinds or object in kinds or (value is None and type(None) in kinds):
        return
    choices = [choice for kind in kinds if get_origin(kind) is Literal for choice in get_args(kind)]
    if choices and value not in choices:
        raise ParameterError(name, f"must be {' or '.join(map(repr, choices))}, not {ascii(value)[:60]}")
    fitting = [FIELD_KINDS[kind] for kind in kinds if kind in FIELD_KINDS]
    if fitting and not any(fits(value) for fits, _ in fitting):
        expected = " or ".join(words for _, words in fitting).replace("a word or a word", "a word")
        several = ""
        if expected == "a word" and are_words(value):
            several = ": call once for each"
            if entry.metavar == "TEXT":
                expected, several = "a text", ": there is one for all texts, so call once for each"
        raise ParameterError(name, f"must be {expected}, not {ascii(value)[:60]}{several}")
    if is_number(value):
        check_range(name, value, entry)  # type: ignore[arg-type]


def check_range(name: str, value: float, entry: Option) -> None:
    """Raise InputError on a number out of its range; NaN is in none."""
    least, most = entry.least, entry.most
    if (least is None or value >= least) and (most is None or value <= most):
        return
    if most is None:
        raise ParameterError(name, f"must be at least {least:g}, not {value:g}")
    raise ParameterError(name, f"must be from {least or 0:g} to {most:,g}, not {value:g}")

"""A Python function whose arguments are the fields of a request."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import ParamSpec, TypeVar, get_type_hints

from glasshead.errors import InputError
from glasshead.progress import watched
from glasshead.registry import did_you_mean
from glasshead.requests.fields import Option, Request, options_of
from glasshead.requests.subject import WatchedRequest

P = ParamSpec("P")
R = TypeVar("R", bound=Request)
T = TypeVar("T")


def takes(request: Callable[P, R]) -> Callable[[Callable[[R], T]], Callable[P, T]]:
    """Decorator that turns a function of a request into a function of its fields, which its docstring lists.

    Raises:
        InputError: on a keyword that is not a field, with the nearest field.
    """
    fields = options_of(request)
    signature = inspect.signature(request)

    def decorate(run: Callable[[R], T]) -> Callable[P, T]:
        @wraps(run)
        def ask(*args: P.args, **options: P.kwargs) -> T:
            for name in options:
                if name not in fields:
                    raise InputError(f"{run.__name__} has no option {name!r}: {did_you_mean(name, fields)}")
            try:
                signature.bind(*args, **options)
            except TypeError as error:
                raise TypeError(f"{run.__name__}() {error}") from None
            asked = request(*args, **options)
            if not isinstance(asked, WatchedRequest):
                return run(asked)
            with watched(asked.progress, asked.name) as progress:
                return run(asked.replace(progress=progress))

        ask.__doc__ = with_arguments(run.__doc__ or "", fields)
        ask.__request__ = request  # type: ignore[attr-defined]
        returns = inspect.signature(run).return_annotation
        ask.__annotations__ = get_type_hints(request) | {"return": returns}
        ask.__signature__ = signature.replace(return_annotation=returns)  # type: ignore[attr-defined]
        return ask

    return decorate


def with_arguments(docstring: str, fields: Mapping[str, Option]) -> str:
    """A docstring with the sentence of each field, before what is raised."""
    lines = [f"        {name}: {entry.help.replace(chr(92), '')}" for name, entry in fields.items()]
    before, raises, after = docstring.partition("    Raises:\n")
    return before + "\n".join(["    Args:", *lines, "", ""]) + raises + after

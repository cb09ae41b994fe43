"""The options of a command, derived from the fields of its request."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Annotated, Any

import typer

from glasshead.requests import Option, defaults_of, options_of, types_of

PLAIN_TYPES = (bool, int, float, str)


def options_from(
    request: type, without: Sequence[str] = (), **helps: str
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Decorator: a command ``run(request, …)`` with the options of a request before its own, except those
    ``without`` which it reads in a way of its own. ``helps`` are other sentences for some fields."""

    def decorate(run: Callable[..., None]) -> Callable[..., None]:
        fields = {
            name: entry
            for name, entry in options_of(request).items()
            if entry.flag != "" and name not in without
        }
        named = list(inspect.signature(run, eval_str=True).parameters.values())[1:]
        own = [option.replace(kind=inspect.Parameter.KEYWORD_ONLY) for option in named]
        derived = [parameter(request, name, entry, helps.get(name)) for name, entry in fields.items()]

        @wraps(run)
        def command(**typed: Any) -> None:
            chosen = {name: typed.pop(name) for name in fields}
            run(request(**chosen, **dict.fromkeys(without)), **typed)

        command.__signature__ = inspect.Signature([*derived, *own])  # type: ignore[attr-defined]
        command.__annotations__ = {option.name: option.annotation for option in (*derived, *own)}
        return command

    return decorate


def parameter(request: type, name: str, entry: Option, sentence: str | None) -> inspect.Parameter:
    """A field as Typer takes it: an argument or an option, with its text, its range and its default."""
    default = defaults_of(request).get(name, inspect.Parameter.empty)
    given_by_place = default is inspect.Parameter.empty
    kind = choose_option_type(request, name, entry, default)
    settings: dict[str, Any] = {"help": sentence or entry.help, "metavar": entry.metavar}
    if kind in (int, float, int | None, float | None):
        settings |= {"min": entry.least, "max": entry.most}
    if given_by_place:
        info = typer.Argument(**settings | {"metavar": entry.metavar or name.upper()})
    else:
        info = typer.Option(entry.flag or f"--{name.replace('_', '-')}", **settings)
    if isinstance(default, tuple):
        default = ",".join(default) or None
    elif entry.repeated and default is not None:
        default = [default]
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[kind, info],
    )


def choose_option_type(request: type, name: str, entry: Option, default: Any) -> Any:
    """The type of what is typed: that of the field where it is plain, else a text to be read."""
    kinds = [kind for kind in types_of(request)[name] if kind is not type(None)]
    kind = kinds[0] if len(kinds) == 1 and kinds[0] in PLAIN_TYPES and entry.read is None else str
    optional = default is None or isinstance(default, tuple)
    if entry.repeated:
        return list[str] | None
    return kind | None if optional else kind

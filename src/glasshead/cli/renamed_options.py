"""What is understood on the command line beside what is shown: older names of options, and options without
values."""

from collections.abc import Collection, Iterable, Iterator
from itertools import pairwise
from typing import Any

from typer.core import TyperCommand


def with_old_spellings(*, bare: Collection[str] = (), **spellings: str) -> type[TyperCommand]:
    """The class of a command whose options had other names, old=new: ``heads="head-combination"``; those of
    ``bare`` may stand alone, without a value."""
    options = {f"--{old.replace('_', '-')}": f"--{new}" for old, new in spellings.items()}
    alone = {f"--{name}" for name in bare}

    class RenamedOptions(TyperCommand):
        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
            return super().parse_args(ctx, list(complete(respell(args, options), alone)))

    return RenamedOptions


def respell(args: Iterable[str], options: dict[str, str]) -> Iterator[str]:
    """Typed words with the new names of options; what follows ``--`` are no options."""
    words = iter(args)
    for word in words:
        name, equals, value = word.partition("=")
        yield options.get(name, name) + equals + value
        if word == "--":
            yield from words


def complete(args: Iterable[str], alone: Collection[str]) -> Iterator[str]:
    """Typed words with an empty value for options that stand alone: before another one, or at the end."""
    for word, after in pairwise([*args, "--"]):
        yield f"{word}=" if word in alone and after.startswith("-") else word

"""Options that had another name: the old spelling is still understood, but not shown."""

from collections.abc import Iterable
from typing import Any

from typer.core import TyperCommand


def with_old_spellings(**spellings: str) -> type[TyperCommand]:
    """The class of a command whose options had other names, old=new: ``heads="head-combination"``."""
    options = {f"--{old.replace('_', '-')}": f"--{new}" for old, new in spellings.items()}

    class RenamedOptions(TyperCommand):
        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
            return super().parse_args(ctx, list(respell(args, options)))

    return RenamedOptions


def respell(args: Iterable[str], options: dict[str, str]) -> Iterable[str]:
    """Typed words with the new names of options; what follows ``--`` are no options."""
    words = iter(args)
    for word in words:
        name, equals, value = word.partition("=")
        yield options.get(name, name) + equals + value
        if word == "--":
            yield from words

"""Where the command line writes: results to standard output, everything else to standard error.

Whatever comes from outside (texts, labels, names of files) passes here, so this is where it is made harmless.
"""

import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, NoReturn

import typer
from rich.console import Console
from rich.segment import Segment
from rich.text import Text

from glasshead.escaping import as_html, as_json, one_line, visible

DOCUMENTS = {"html": as_html, "json": as_json}


class Harmless(Console):
    """Writes what is to be shown, and styles of its own, but nothing else that steers a terminal."""

    def render(self, *given: Any, **options: Any) -> Iterable[Segment]:
        for segment in super().render(*given, **options):
            yield segment if segment.control else segment._replace(text=visible(segment.text))


console = Harmless()
errors = Harmless(stderr=True)


def say(line: str) -> None:
    """One line on standard output, whatever is in it, never folded."""
    console.print(one_line(line), highlight=False, markup=False, soft_wrap=True)


def remark(line: str) -> None:
    """One line on standard error that is good to know."""
    errors.print(one_line(line), highlight=False, markup=False, soft_wrap=True)


def emit(document: str, kind: str) -> None:
    """A whole document of one of `DOCUMENTS` on standard output."""
    typer.echo(DOCUMENTS[kind](document), nl=False)


def complain(message: str) -> None:
    """One line on standard error, whatever is in it."""
    with suppress(OSError):  # the exit code tells it, too
        errors.print(Text("error: ", style="bold red") + Text(one_line(message)), soft_wrap=True)


def abandon() -> None:
    """Give up what standard output does not take: Python would try once more as it ends, and complain."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def unread(console: Console | None = None) -> NoReturn:
    """End without a word because nobody reads on (``| head``), with the exit code of SIGPIPE."""
    abandon()
    raise SystemExit(128 + 13)


# Rich calls it, in the consoles of help pages too; it would exit with 1, as if the command had failed.
Console.on_broken_pipe = unread  # type: ignore[method-assign, assignment]

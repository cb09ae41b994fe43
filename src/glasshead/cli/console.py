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

DOCUMENTS = {"html": as_html, "json": as_json, "markdown": visible}


class SafeConsole(Console):
    """Writes what is to be shown, and styles of its own, but nothing else that steers a terminal."""

    def render(self, *args: Any, **options: Any) -> Iterable[Segment]:
        for segment in super().render(*args, **options):
            yield segment if segment.control else segment._replace(text=visible(segment.text))


console = SafeConsole()
errors = SafeConsole(stderr=True)


def print_line(line: str) -> None:
    """One line on standard output, whatever is in it, never folded."""
    console.print(one_line(line), highlight=False, markup=False, soft_wrap=True)


def print_remark(line: str) -> None:
    """One line on standard error that is good to know."""
    errors.print(one_line(line), highlight=False, markup=False, soft_wrap=True)


def print_output(document: str, kind: str) -> None:
    """A whole document of one of `DOCUMENTS` on standard output."""
    typer.echo(DOCUMENTS[kind](document), nl=False)


def print_error(message: str) -> None:
    """One line on standard error, whatever is in it."""
    with suppress(OSError):  # the exit code tells it, too
        errors.print(Text("error: ", style="bold red") + Text(one_line(message)), soft_wrap=True)


def silence_stdout() -> None:
    """Give up what standard output does not take: Python would try once more as it ends, and complain."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def exit_on_broken_pipe(console: Console | None = None) -> NoReturn:
    """End without a word because nobody reads on (``| head``), with the exit code of SIGPIPE."""
    silence_stdout()
    raise SystemExit(128 + 13)


# Rich calls it, in the consoles of help pages too; it would exit with 1, as if the command had failed.
Console.on_broken_pipe = exit_on_broken_pipe  # type: ignore[method-assign, assignment]

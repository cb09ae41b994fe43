"""Where the command line writes: results to standard output, everything else to standard error."""

import os
import sys
from typing import NoReturn

from rich.console import Console
from rich.text import Text

console = Console()
errors = Console(stderr=True)


def say(line: str) -> None:
    """One line on standard output, whatever is in it, never folded."""
    console.print(line, highlight=False, markup=False, soft_wrap=True)


def complain(message: str) -> None:
    """One line on standard error, whatever is in it."""
    errors.print(Text("error: ", style="bold red") + Text(message), soft_wrap=True)


def unread(console: Console | None = None) -> NoReturn:
    """End without a word because nobody reads on (``| head``), with the exit code of SIGPIPE."""
    # Python flushes once more as it ends, and would complain of the broken pipe then.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    raise SystemExit(128 + 13)


# Rich calls it, in the consoles of help pages too; it would exit with 1, as if the command had failed.
Console.on_broken_pipe = unread  # type: ignore[method-assign, assignment]

"""Work that can be interrupted and taken up again."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from glasshead.cli.console import print_error
from glasshead.errors import exit_code


@contextmanager
def resume_on_interrupt(parts: Path, unit: str = "epochs") -> Iterator[None]:
    """Work that Ctrl-C or SIGTERM ends with one line, which says what is kept in ``parts``; so does a full
    disk."""
    resume = f"the finished {unit} are kept: repeat the command with --resume"
    try:
        yield
    except KeyboardInterrupt as error:
        print_error(
            f"interrupted; {resume}"
            if parts.exists()
            else f"interrupted before any {unit} were finished; nothing was written"
        )
        raise typer.Exit(exit_code(error)) from None
    except OSError as error:
        if parts.exists():
            error.add_note(resume)
        raise

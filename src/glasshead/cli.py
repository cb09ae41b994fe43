"""The ``glasshead`` command. Nothing heavy is imported until a command runs."""

import io
import sys

from glasshead.commands import (
    build,
    dynamics,
    judge,
    look,
    plot,
    recommend,
)  # importing a file adds its commands
from glasshead.commands.app import app

__all__ = ["app", "build", "dynamics", "judge", "look", "main", "plot", "recommend"]


def main() -> None:
    """Entry point of the ``glasshead`` command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without τ shows a question mark
    app()

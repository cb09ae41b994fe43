"""The ``glasshead`` command. Nothing heavy is imported until a command runs."""

import io
import signal
import sys
import warnings
from typing import TextIO

from glasshead.cli import (  # importing a file adds its command
    audit,
    compare,
    demo,
    doctor,
    dynamics,
    explain,
    generate,
    heads,
    kernels,
    list,
    plot,
    plot_adversary_curve,
    plot_merges,
    plot_minima,
    plot_transition,
    rank,
    recommend,
    reproduce,
    serve,
    train,
)
from glasshead.cli.app import app
from glasshead.cli.console import print_remark

__all__ = [
    "app",
    "audit",
    "compare",
    "demo",
    "doctor",
    "dynamics",
    "explain",
    "generate",
    "heads",
    "kernels",
    "list",
    "main",
    "plot",
    "plot_adversary_curve",
    "plot_merges",
    "plot_minima",
    "plot_transition",
    "rank",
    "recommend",
    "reproduce",
    "serve",
    "train",
]


def main() -> None:
    """Entry point of the ``glasshead`` command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without τ shows a question mark
    warnings.showwarning = show_warning
    try:
        app()
    finally:  # a signal while the interpreter ends would only falsify the exit code of what is done
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)


def show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """What is warned of in one line, without the place in the code."""
    if issubclass(category, UserWarning):
        print_remark(f"warning: {message}")
    else:
        SHOW(message, category, filename, lineno, file, line)


SHOW = warnings.showwarning

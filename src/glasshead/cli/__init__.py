"""The ``glasshead`` command. Nothing heavy is imported until a command runs."""

import io
import signal
import sys
import warnings
from typing import TYPE_CHECKING, TextIO

from glasshead.cli import (  # importing a file adds its command
    audit,
    audit_hub,
    cite,
    compare,
    demo,
    doctor,
    explain,
    generate,
    heads,
    judge,
    kernels,
    lens,
    list,
    patch,
    plot,
    rank,
    serve,
    train,
)
from glasshead.cli.app import app
from glasshead.cli.audit import write_audit
from glasshead.cli.console import console, errors, print_error, print_line, print_output, print_remark
from glasshead.cli.errors import WORDS
from glasshead.cli.explain import as_document, print_attribution
from glasshead.cli.fail_under import check_thresholds, finding_for_threshold
from glasshead.cli.interrupts import resume_on_interrupt
from glasshead.cli.options import (
    SEEDS,
    Data,
    ExplanationFormat,
    Format,
    GpusPerTask,
    Out,
    Overwrite,
    RayAddress,
    RunFolder,
    TextColumn,
    default_out,
)
from glasshead.cli.parsing import (
    parse_attention_option,
    parse_names,
    parse_numbers,
    parse_settings,
)
from glasshead.cli.plot import (
    JSON,
    PAGE,
    FileOrPageOut,
    FileOut,
    ModelFolder,
    Seed,
    Split,
    TableOut,
    file_kind,
    parse_whole_numbers,
    plots,
    split_numbers,
    write_csv,
    write_plot,
)
from glasshead.cli.progress import progress_stages
from glasshead.extensions import attach_extensions
from glasshead.lazy import lazy_exports

if TYPE_CHECKING:
    from glasshead.cli.training_bar import ProgressBar

__all__ = [
    "JSON",
    "PAGE",
    "SEEDS",
    "WORDS",
    "Data",
    "ExplanationFormat",
    "FileOrPageOut",
    "FileOut",
    "Format",
    "GpusPerTask",
    "ModelFolder",
    "Out",
    "Overwrite",
    "ProgressBar",
    "RayAddress",
    "RunFolder",
    "Seed",
    "Split",
    "TableOut",
    "TextColumn",
    "app",
    "as_document",
    "check_thresholds",
    "console",
    "default_out",
    "errors",
    "file_kind",
    "finding_for_threshold",
    "main",
    "parse_attention_option",
    "parse_names",
    "parse_numbers",
    "parse_settings",
    "parse_whole_numbers",
    "plots",
    "print_attribution",
    "print_error",
    "print_line",
    "print_output",
    "print_remark",
    "progress_stages",
    "resume_on_interrupt",
    "split_numbers",
    "write_audit",
    "write_csv",
    "write_plot",
]

__getattr__, __dir__ = lazy_exports(globals())


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

attach_extensions("commands")

"""Which rows of which heads an identifiability audit reads, and how, as the command line says it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from glasshead.cli.interrupts import resume_on_interrupt
from glasshead.cli.parsing import parse_indices
from glasshead.errors import InputError

if TYPE_CHECKING:
    from glasshead.audits import Identifiability

Layers = Annotated[
    str | None,
    typer.Option(metavar="all|A,B,…", help="For identifiability: layers; else the one that is read."),
]
Heads = Annotated[str | None, typer.Option(metavar="all|A,B,…", help="For identifiability: heads; else all.")]
Rows = Annotated[
    str | None,
    typer.Option(
        metavar="cls|last|all|A,B,…", help="For identifiability: rows of a map; else the one that is read."
    ),
]
Top = Annotated[
    int | None, typer.Option(help="For identifiability: only this many weights of a row, the largest.")
]
Tolerance = Annotated[
    float, typer.Option(help="For identifiability: how far a head's output may move, relative to its size.")
]
Processes = Annotated[
    int | None, typer.Option(help="For identifiability: processes; else one for each core.")
]


@dataclass(frozen=True)
class IdentifiabilityOptions:
    """The options as they were typed."""

    layers: str | None
    heads: str | None
    rows: str | None
    top: int | None
    tolerance: float
    processes: int | None

    @property
    def is_default(self) -> bool:
        """Whether none of them was typed."""
        return self == IdentifiabilityOptions(None, None, None, None, 0.0, None)

    def parse(self, audits: tuple[str, ...] | None) -> "Identifiability":
        """The options as an audit, one of those that are named (None: all).

        Raises:
            InputError: on values that make no sense, and where no identifiability is asked for.
        """
        from glasshead.audits import IDENTIFIABILITY, Identifiability
        from glasshead.identifiability import IntervalOptions, RowSelector

        if audits is not None and IDENTIFIABILITY not in audits and not self.is_default:
            raise InputError(
                "--layers, --heads, --rows, --top, --tolerance and --processes are for --audits "
                "identifiability: leave them out"
            )
        if self.processes is not None and self.processes < 1:
            raise InputError(f"--processes is at least 1, not {self.processes}")
        row_options: dict[str, Any] = {}
        if self.layers is not None:
            row_options["layers"] = parse_indices("--layers", self.layers)
        if self.heads is not None:
            row_options["heads"] = parse_indices("--heads", self.heads)
        if self.rows is not None:
            numbers = self.rows[:1].isdigit()
            row_options["rows"] = parse_indices("--rows", self.rows) if numbers else self.rows
        RowSelector(**row_options)  # refuses what no model has
        return Identifiability(
            row_options=row_options,
            interval_options=IntervalOptions(self.top, self.tolerance),
            max_texts=None if audits is not None and IDENTIFIABILITY in audits else Identifiability.max_texts,
            processes=self.processes or os.cpu_count() or 1,
        )


@contextmanager
def resumable_parts(out: Path, *, resume: bool, overwrite: bool) -> Iterator[Path]:
    """Where an audit keeps its parts until it is whole, beside ``out``, so that Ctrl-C loses nothing. They go
    when all is done, and if the input was wrong.

    Raises:
        InputError: if there is an interrupted audit and nobody said what to do with it, or the reverse.
    """
    from glasshead.audits import FINISHED
    from glasshead.files import check_foreign, files_in, remove, unknown_names
    from glasshead.identifiability import PARTS

    parts = out.with_name(f"{out.name}.parts")
    if resume and not parts.exists():
        raise InputError(f"there is nothing to resume at {parts}: leave --resume out")
    if parts.exists() and not resume:
        if not overwrite:
            raise InputError(
                f"{parts} holds an interrupted audit: go on with --resume, or begin anew with --overwrite"
            )
        check_foreign(parts, unknown_names(files_in(parts), (*PARTS, *FINISHED)))
        remove(parts)
    try:
        with resume_on_interrupt(parts, "parts"):
            try:
                yield parts
            except BaseException:
                if not any(any(parts.glob(each)) for each in (PARTS[-1], FINISHED[-1])):
                    remove(parts)  # nothing worth resuming
                raise
    except InputError:
        if not resume:
            remove(parts)
        raise
    remove(parts)

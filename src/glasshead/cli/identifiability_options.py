"""Which rows of which heads an identifiability audit reads, and how, as the command line says it."""

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

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

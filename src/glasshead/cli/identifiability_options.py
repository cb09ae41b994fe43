"""Which maps an identifiability audit reads, and how, as the command line says it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from glasshead.errors import InputError

if TYPE_CHECKING:
    from glasshead.audits import Identifiability

IDENTIFIABILITY = "identifiability"

Layers = Annotated[
    str | None,
    typer.Option(metavar="all|A,B,…", help="Of identifiability: layers; else the one that is read."),
]
Heads = Annotated[str | None, typer.Option(metavar="all|A,B,…", help="Of identifiability: heads; all.")]
Rows = Annotated[
    str | None,
    typer.Option(
        metavar="cls|last|all|A,B,…", help="Of identifiability: rows of a map; else the one that is read."
    ),
]
Top = Annotated[
    int | None, typer.Option(help="Of identifiability: only so many weights of a row, the largest.")
]
Tolerance = Annotated[
    float, typer.Option(help="Of identifiability: how far a head's output may move, relative; 0.")
]
Processes = Annotated[int | None, typer.Option(help="Of identifiability: processes; one for each core.")]


def maps_asked(
    layers: str | None,
    heads: str | None,
    rows: str | None,
    top: int | None,
    tolerance: float,
    processes: int | None,
    audits: tuple[str, ...] | None,
    store: Path,
) -> "Identifiability":
    """The options as one value.

    Raises:
        InputError: on values that make no sense, and where no identifiability is asked for.
    """
    from glasshead.audits import Identifiability
    from glasshead.identifiability import IntervalQuery, RowSelector

    given = layers, heads, rows, top, tolerance or None, processes
    if audits is not None and IDENTIFIABILITY not in audits and given != (None,) * 6:
        raise InputError(
            "--layers, --heads, --rows, --top, --tolerance and --processes are for --audits identifiability: "
            "leave them out"
        )
    if processes is not None and processes < 1:
        raise InputError(f"--processes is at least 1, not {processes}")
    where: dict[str, Any] = {}
    if layers is not None:
        where["layers"] = numbers("--layers", layers)
    if heads is not None:
        where["heads"] = numbers("--heads", heads)
    if rows is not None:
        where["rows"] = numbers("--rows", rows) if rows[:1].isdigit() else rows
    RowSelector(**where)  # refuses what no model has
    return Identifiability(
        where=where,
        query=IntervalQuery(top, tolerance),
        texts=None if audits is not None and IDENTIFIABILITY in audits else Identifiability.texts,
        processes=processes or os.cpu_count() or 1,
        store=store,
    )


def numbers(option: str, given: str | None) -> tuple[int, ...] | None:
    """A,B,… as numbers; None for all."""
    if given is None or given == "all":
        return None
    parts = [part.strip() for part in given.split(",")]
    if not all(part.isdecimal() for part in parts):
        raise InputError(f"{option} is 'all' or numbers, as in 0,5, not {given!r}")
    return tuple(dict.fromkeys(map(int, parts)))


@contextmanager
def kept_parts(out: Path, work: Path, *, named: bool, resume: bool, overwrite: bool) -> Iterator[Path]:
    """Where an audit keeps its parts until it is whole: beside ``out`` if identifiability is what was asked
    for, so that Ctrl-C loses nothing, else in ``work``. They go when all is done, and if the input was wrong.

    Raises:
        InputError: if there is an interrupted audit and nobody said what to do with it, or the reverse.
    """
    from glasshead.cli.workflows import resume_on_interrupt
    from glasshead.files import check_foreign, files_in, remove, unmatched
    from glasshead.identifiability import PARTS

    parts = out.with_name(f"{out.name}.maps") if named else work / "maps"
    if resume and not parts.exists():
        raise InputError(f"there is nothing to resume at {parts}: leave --resume out")
    if parts.exists() and not resume:
        if not overwrite:
            raise InputError(
                f"{parts} holds an interrupted audit: go on with --resume, or begin anew with --overwrite"
            )
        check_foreign(parts, unmatched(files_in(parts), PARTS))
        remove(parts)
    try:
        with resume_on_interrupt(parts, "texts") if named else nullcontext():
            try:
                yield parts
            except BaseException:
                if not any(parts.glob(PARTS[-1])):
                    remove(parts)  # nothing worth resuming
                raise
    except InputError:
        if not resume:
            remove(parts)
        raise
    remove(parts)

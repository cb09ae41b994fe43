"""What `glasshead list` shows, read from catalogue.json: torch and the registries take seconds to import.

`make catalogue` writes that file from the registries. If a file was added to a folder of entries since
then, or another package adds entries, `glasshead list` reads the registries instead.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glasshead.errors import InputError
from glasshead.extensions import extensions
from glasshead.registry import did_you_mean

if TYPE_CHECKING:
    from glasshead.cli.catalogue import CatalogueTable

PACKAGE = Path(__file__).parents[1]
STORED = PACKAGE / "catalogue.json"
ENTRY_FOLDERS = (
    "attention/activations",
    "attention/positions",
    "attention/kernels",
    "explainers",
    "explainers/removals",
    "audits",
    "report/plots",
    "papers/datasets",
    "papers/report/plots",
)
"""Where one file is one entry."""
LISTED_KINDS = (
    "activations",
    "audits",
    "datasets",
    "explainers",
    "kernels",
    "mechanisms",
    "models",
    "penalties",
    "plots",
    "positions",
    "presets",
    "removals",
    "strategies",
)


def entry_files(package: Path = PACKAGE) -> list[str]:
    """The files of all folders whose files register themselves."""
    return sorted(
        path.relative_to(package).as_posix()
        for folder in ENTRY_FOLDERS
        for path in (package / folder).glob("*.py")
    )


def list_table(kind: str, stored: Path = STORED) -> CatalogueTable:
    """Column heads and rows of one kind; from the registries where they are imported already.

    Raises:
        InputError: on an unknown kind.
    """
    if kind not in LISTED_KINDS:
        raise InputError(f"nothing to list under {kind!r}: {did_you_mean(kind, LISTED_KINDS)}")
    table = None if "glasshead.attention" in sys.modules else read_stored(kind, stored)
    if table is not None:
        return table
    from glasshead.cli.catalogue import catalogue

    return catalogue(kind)


def count_table() -> CatalogueTable:
    """How many there are of each kind."""
    return ["what", "entries"], [[kind, str(len(list_table(kind)[1]))] for kind in LISTED_KINDS]


HYPHENATIONS = {
    "mono-\ntone": "monotone",
    "log-\nnon-\nlinear": "log-nonlinear",
    "norma-\nlised": "normalised",
    "origin-\nsymm.": "origin-symmetric",
}
"""Heads of columns that are hyphenated to be narrow."""
TICKS = {"✓": True, "": False}


def as_records(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[dict[str, str | bool | int]]:
    """A table as objects: heads in one line, ticks as true and false, counts as numbers."""
    names = [HYPHENATIONS.get(column, column.replace("\n", " ")) for column in columns]
    ticked = {at for at in range(len(columns)) if all(row[at] in TICKS for row in rows)}
    return [
        {
            name: TICKS[cell] if at in ticked else int(cell) if cell.isdigit() else cell
            for at, (name, cell) in enumerate(zip(names, row, strict=True))
        }
        for row in rows
    ]


def read_stored(kind: str, stored: Path = STORED) -> CatalogueTable | None:
    """What was written down, or None if entries have come since, or come with other packages."""
    if any(entry.dist is None or entry.dist.name != "glasshead" for entry in extensions().get(kind, ())):
        return None
    try:
        content: Mapping[str, Any] = json.loads(stored.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    if content["files"] != entry_files():
        return None
    table = content["tables"][kind]
    return table["columns"], table["rows"]


def store(kinds: Iterable[str] = LISTED_KINDS, stored: Path = STORED) -> None:
    """Write the tables of the registries."""
    from glasshead.cli.catalogue import catalogue

    tables = {kind: dict(zip(("columns", "rows"), catalogue(kind), strict=True)) for kind in kinds}
    text = json.dumps({"files": entry_files(), "tables": tables}, ensure_ascii=False, indent=1)
    stored.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    store()

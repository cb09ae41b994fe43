"""A finished cell with one seed: one small file, which whoever finds it need not compute again."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, ValidationError

from glasshead.files import write_text
from glasshead.papers.experiments.cell import Cell
from glasshead.papers.experiments.row_index import index_of

DIGITS = 6
"""Decimals that are kept: a file that people compare needs no more."""


class RowRecord(BaseModel):
    """What stands in the file of a row."""

    model_config = ConfigDict(strict=True, extra="allow")

    cell: str
    key: str
    seed: int
    data: str
    seconds: float | None = None
    versions: dict[str, str] = {}
    numbers: dict[str, Any] = {}
    hits: str | None = None
    texts: int = 0


@dataclass(frozen=True)
class Row:
    """The numbers of one cell with one seed.

    ``data`` is the fingerprint of the examples, ``seconds`` the wall time (None if the run was resumed),
    and ``hits`` [n] whether each test example is predicted correctly, if that is measured.
    """

    cell: str
    key: str
    seed: int
    data: str
    numbers: dict[str, Any]
    seconds: float | None = None
    versions: dict[str, str] = field(default_factory=dict)
    hits: NDArray[np.bool_] | None = None

    def to_json(self) -> str:
        """The file; the hits are eight to a byte, in base64."""
        record = RowRecord(
            cell=self.cell,
            key=self.key,
            seed=self.seed,
            data=self.data,
            seconds=None if self.seconds is None else round(self.seconds, 1),
            versions=self.versions,
            numbers=round_numbers(self.numbers),
            hits=None if self.hits is None else base64.b64encode(np.packbits(self.hits).tobytes()).decode(),
            texts=0 if self.hits is None else len(self.hits),
        )
        content = record.model_dump(exclude_none=True)
        return json.dumps(content, ensure_ascii=False, allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Row:
        """The row of a file.

        Raises:
            ValueError: if it is none.
        """
        record = RowRecord.model_validate_json(text)
        hits = None
        if record.hits is not None:
            packed = np.frombuffer(base64.b64decode(record.hits, validate=True), dtype=np.uint8)
            hits = np.unpackbits(packed, count=record.texts).astype(bool)
        return cls(
            record.cell,
            record.key,
            record.seed,
            record.data,
            record.numbers,
            record.seconds,
            record.versions,
            hits,
        )


@dataclass(frozen=True)
class RowStore:
    """The rows of the tables of one paper: read from several folders, written to the first.

    A row is in FOLDER/PAPER/TABLE/CELL-KEY-seed-N.json. Incomplete rows are ignored, and so are rows of
    data other than those of ``fingerprints``, which has one for each source.
    """

    folders: Sequence[Path]
    paper: str
    fingerprints: Mapping[str, str] = field(default_factory=dict)

    def path(self, table: str, cell: Cell, seed: int, folder: Path | None = None) -> Path:
        """The path of the row of a cell with a seed."""
        return (folder or self.folders[0]) / self.paper / table / f"{cell.slug}-seed-{seed}.json"

    def read(self, table: str, cell: Cell, seed: int) -> Row | None:
        """The row of a cell with a seed, from the first folder that has it, or from another table with the
        same recipe."""
        for folder in self.folders:
            own = self.path(table, cell, seed, folder)
            others = index_of(folder / self.paper).paths(cell.key, seed)
            for path in (own, *(other for other in others if other != own)):
                try:
                    row = Row.from_json(path.read_text(encoding="utf-8"))
                except (OSError, ValueError, ValidationError):
                    continue
                of_these_data = row.data == self.fingerprints.get(cell.data.label, row.data)
                if row.key == cell.key and row.seed == seed and of_these_data:
                    return row
        return None

    def read_all(self, table: str, cell: Cell) -> list[Row]:
        """The rows of a cell, by ascending seed."""
        known = {seed for folder in self.folders for seed in index_of(folder / self.paper).seeds(cell.key)}
        rows = [self.read(table, cell, seed) for seed in sorted(known)]
        return [row for row in rows if row is not None]

    def write(self, table: str, cell: Cell, row: Row) -> None:
        """Write a row aside and rename it into place."""
        path = self.path(table, cell, row.seed)
        write_text(path, row.to_json(), overwrite=True)
        index_of(self.folders[0] / self.paper).add(path)


def json_file(record: Mapping[str, Any]) -> str:
    """What a file of unrounded numbers holds."""
    return json.dumps(round_numbers(dict(record), None), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def round_numbers(value: Any, digits: int | None = DIGITS) -> Any:
    """The numbers in a value with so many decimals, or with all; None in the place of those that JSON does
    not know (NaN, ∞)."""
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        return value if digits is None else round(value, digits)
    if isinstance(value, dict):
        return {name: round_numbers(item, digits) for name, item in value.items()}
    return [round_numbers(item, digits) for item in value] if isinstance(value, list | tuple) else value

"""Which files are rows, by what they are named: each folder is read once, not once for every cell."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

KEY_DIGITS = 12
REST = 20.0
"""A folder is read again when so many times as long has passed as its last reading took: other processes
write rows meanwhile, and looking for them takes a twentieth of the time at most."""

Names = dict[str, dict[int, dict[Path, None]]]


@dataclass
class RowIndex:
    """The files FOLDER/TABLE/CELL-KEY-seed-N.json of a paper's folder, by key and seed."""

    folder: Path
    _names: Names = field(default_factory=dict)
    _next: float = 0.0

    def paths(self, key: str, seed: int) -> list[Path]:
        """Files that are named as rows of a key with a seed, in order."""
        self.refresh()
        return sorted(self._names.get(key, {}).get(seed, ()))

    def seeds(self, key: str) -> list[int]:
        """The seeds of a key of which there are files."""
        self.refresh()
        return sorted(self._names.get(key, ()))

    def add(self, path: Path) -> None:
        """Note a file that this process has written."""
        note(self._names, path)

    def refresh(self) -> None:
        """Read the folder again, if it is time."""
        if time.monotonic() < self._next:
            return
        began = time.monotonic()
        names: Names = {}
        for table in entries_of(self.folder):
            for path in entries_of(table):
                note(names, path)
        self._names = names
        ended = time.monotonic()
        self._next = ended + REST * (ended - began)


def entries_of(folder: Path) -> list[Path]:
    """What lies in a folder; nothing in what is not a folder."""
    try:
        return [folder / name for name in os.listdir(folder)]
    except OSError:
        return []


def note(names: Names, path: Path) -> None:
    """Take up a file, if it is named as a row."""
    start, _, seed = path.name.removesuffix(".json").rpartition("-seed-")
    if path.name.endswith(".json") and seed.isdecimal():
        names.setdefault(start[-KEY_DIGITS:], {}).setdefault(int(seed), {})[path] = None


@cache
def index_of(folder: Path) -> RowIndex:
    """The one index of a folder in this process."""
    return RowIndex(folder)

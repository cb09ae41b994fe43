"""The tables of a paper as `glasshead reproduce` repeats them: rows in one place, pages in another."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from glasshead.papers.experiments import PAPERS, ReproduceRequest, Reproduction, reproduce
from reproduction.study import DATA, HERE, PAGES

HELD_OUT = 2
"""Seeds more than those of the tables, held against the interval for a new one."""


@dataclass(frozen=True)
class PaperStudy:
    """A study whose numbers are the rows of ``rows/NAME`` and the JSON files of its tables."""

    name: str

    @property
    def tables(self) -> list[str]:
        """Of the paper."""
        return [table.name for table in PAPERS[self.name].tables]

    def measure(self, tables: Sequence[str] = (), processes: int = 1) -> int:
        """Run the cells of some tables that no row is known of, and say how many failed."""
        request = ReproduceRequest(tables, held_out=HELD_OUT, out=HERE, data_folder=DATA, workers=processes)
        result = reproduce(self.name, request)
        for line in (*result.remarks, *(f"{cell}: {why}" for cell, why in result.failures.items())):
            print(line)
        return len(result.failures)

    def write(self) -> list[Path]:
        """Write the pages of the rows that there are."""
        return self.move_pages(reproduce(self.name, ReproduceRequest(held_out=HELD_OUT, hours=0, out=HERE)))

    def move_pages(self, result: Reproduction) -> list[Path]:
        """Move what `reproduce` wrote, but for the JSON files, to the pages."""
        folder = PAGES / self.name
        folder.mkdir(parents=True, exist_ok=True)
        return [path.replace(folder / path.name) for path in result.files if path.suffix != ".json"]

"""The tables of a paper as `glasshead reproduce` repeats them: rows in one place, pages in another."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from glasshead.papers.experiments import PAPERS, ReproduceRequest, reproduce
from reproduction.study import DATA, HERE, TABLES

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
        """Write the pages of the rows that there are, beside these; the claims are on the page of the paper,
        too."""
        result = reproduce(self.name, ReproduceRequest(held_out=HELD_OUT, hours=0, out=HERE))
        return [*result.files, *self.write_claims()]

    def write_claims(self) -> list[Path]:
        """The verdicts alone, as the page of the paper includes them; none of a paper without claims."""
        if not PAPERS[self.name].claims:
            return []
        page = HERE / self.name / "claims.md"
        part = TABLES / f"{self.name}-claims.md"
        part.write_text(verdicts_of(page.read_text(encoding="utf-8")), encoding="utf-8")
        return [part]


def verdicts_of(page: str) -> str:
    """The comment and the first table of a page of claims."""
    comment, *_ = page.splitlines()
    table = [line for line in page.partition("\n## ")[0].splitlines() if line.startswith("|")]
    return "\n".join([comment, "", *table]) + "\n"

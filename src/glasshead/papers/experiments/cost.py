"""What is still to be run of a table costs, data set by data set: as rows tell, else a measured epoch."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from glasshead.errors import InputError
from glasshead.papers.experiments.cell import Cell
from glasshead.papers.experiments.summary import CellSummary, Run, TableSummary
from glasshead.papers.experiments.table import Paper
from glasshead.reasons import because

PRICES = "prices.json"


class Price(BaseModel):
    """The duration of an epoch in seconds, with its evaluation on dev, and for which ``cell`` and
    ``machine``."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    seconds_per_epoch: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    cell: str = ""
    machine: str = ""


def read_prices(folder: Path) -> dict[str, Price]:
    """The prices of a folder of rows, by PAPER/TABLE/SET or PAPER/TABLE/SET/CELL; none without a file.

    Raises:
        InputError: if the file cannot be read.
    """
    path = folder / PRICES
    if not path.is_file():
        return {}
    try:
        return TypeAdapter(dict[str, Price]).validate_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, ValidationError) as error:
        raise InputError(f"{path} cannot be read as prices{because(error)}: delete it") from error


@dataclass(frozen=True)
class RunCost:
    """One run of a cell: expected and greatest seconds, and the price that they rest on."""

    seconds: float | None
    most: float | None
    price: Price | None = None


@dataclass(frozen=True)
class CellCost:
    """What is still to be run of a cell, and what each run takes."""

    cell: Cell
    runs: tuple[Run, ...]
    each: RunCost


@dataclass(frozen=True)
class SetCost:
    """The runs of a data set in a table that are still to be done, and their time in one process.

    ``seconds`` is what is expected, ``most`` what they take if none ends before its last epoch; both are None
    where nobody knows.
    """

    cells: tuple[CellCost, ...]

    @property
    def name(self) -> str:
        """That of the set."""
        return self.cells[0].cell.data.name

    @property
    def titles(self) -> list[str]:
        """Those of the set: a table may read it in several ways."""
        return [*dict.fromkeys(cell.cell.data.title for cell in self.cells)]

    @property
    def runs(self) -> int:
        """How many there are."""
        return sum(len(cell.runs) for cell in self.cells)

    @property
    def seconds(self) -> float | None:
        """As they are expected."""
        return total((cell.each.seconds, len(cell.runs)) for cell in self.cells)

    @property
    def most(self) -> float | None:
        """If no training ends early."""
        return total((cell.each.most, len(cell.runs)) for cell in self.cells)

    def without(self, done: Collection[Run]) -> SetCost:
        """What is left of it when some runs are done."""
        left = [replace(cell, runs=tuple(run for run in cell.runs if run not in done)) for cell in self.cells]
        return replace(self, cells=tuple(cell for cell in left if cell.runs))


def table_costs(summary: TableSummary, paper: Paper, prices: Mapping[str, Price]) -> Iterator[SetCost]:
    """What every data set of a table still costs, each run once; none of what is finished."""
    epochs = [row.numbers["epochs"] for cell in summary.cells for row in cell.rows if "epochs" in row.numbers]
    usual = float(np.median(epochs)) if epochs else None
    by_name: dict[str, list[CellCost]] = {}
    known: set[Run] = set()
    for cell in summary.cells:
        runs = tuple(run for run in cell.missing_runs if run not in known)
        known.update(runs)
        if runs:
            each = run_cost(cell, summary.cells, price_of(cell, summary.table.name, paper, prices), usual)
            by_name.setdefault(cell.cell.data.name, []).append(CellCost(cell.cell, runs, each))
    for cells in by_name.values():
        yield SetCost(tuple(cells))


def run_cost(
    cell: CellSummary, cells: Sequence[CellSummary], price: Price | None, usual: float | None
) -> RunCost:
    """The time of the cell before; else of the ``cells`` on the same data; else a measured epoch times
    the ``usual`` number of epochs of the table, and at most times all of them.

    What is not trained takes seconds: the data do not matter.
    """
    seedless = cell.cell.seedless
    alike = [
        other
        for other in cells
        if other.cell.seedless == seedless and (seedless or other.cell.data == cell.cell.data)
    ]
    for group in ([cell], alike):
        known = [seconds for other in group if (seconds := other.seconds()) is not None]
        if known:
            return RunCost(float(np.mean(known)), float(np.mean(known)))
    if seedless:
        return RunCost(0.0, 0.0)
    if price is None:
        return RunCost(None, None)
    most = cell.cell.recipe.epochs
    expected = None if usual is None else price.seconds_per_epoch * min(usual, most)
    return RunCost(expected, price.seconds_per_epoch * most, price)


def price_of(cell: CellSummary, table: str, paper: Paper, prices: Mapping[str, Price]) -> Price | None:
    """The price of a cell, else that of its data set, else the dearest of the cells on it: in its table, or
    in another one that has the same cell."""
    others = (other.name for other in paper.tables if any(one.key == cell.cell.key for one in other.cells))
    for name in dict.fromkeys((table, *others)):
        prefix = f"{paper.name}/{name}/{cell.cell.data.name}"
        own = f"{prefix}/{cell.cell.name.rpartition('/')[2]}"
        known = [price for word, price in prices.items() if word.startswith(f"{prefix}/")]
        dearest = max(known, key=lambda price: price.seconds_per_epoch, default=None)
        if (price := prices.get(own) or prices.get(prefix) or dearest) is not None:
            return price
    return None


def total(parts: Iterable[tuple[float | None, int]]) -> float | None:
    """Of so many runs of so many seconds each; None if one is not known."""
    times = [None if seconds is None else seconds * runs for seconds, runs in parts]
    known = [time for time in times if time is not None]
    return sum(known) if len(known) == len(times) else None

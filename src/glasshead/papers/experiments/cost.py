"""What is still to be run of a table costs, data set by data set: as rows tell, else a measured epoch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from glasshead.errors import InputError
from glasshead.papers.experiments.source import DataSource
from glasshead.papers.experiments.summary import CellSummary, TableSummary
from glasshead.papers.experiments.table import Paper
from glasshead.reasons import because

PRICES = "prices.json"


class Price(BaseModel):
    """What an epoch of a training takes, in seconds, with its evaluation on dev; of which ``cell``, and on
    which ``machine``."""

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
        raise InputError(f"{path} cannot be read as prices{because(error)}: remove it") from error


@dataclass(frozen=True)
class SetCost:
    """The runs of a data set in a table that are still to be done, and their time in one process.

    ``seconds`` is what is expected, ``most`` what they take if none ends before its last epoch; both are
    None where nobody knows. ``prices`` are the measured epochs that they rest on, if there are no rows.
    """

    source: DataSource
    cells: int
    runs: int
    seconds: float | None
    most: float | None
    prices: tuple[Price, ...]


def table_costs(summary: TableSummary, paper: Paper, prices: Mapping[str, Price]) -> Iterator[SetCost]:
    """What every data set of a table still costs; none of what is finished."""
    epochs = [row.numbers["epochs"] for cell in summary.cells for row in cell.rows if "epochs" in row.numbers]
    usual = float(np.median(epochs)) if epochs else None
    for source in summary.table.sources:
        missing = [cell for cell in summary.cells if cell.cell.data == source and cell.missing]
        if not missing:
            continue
        parts = [
            run_cost(cell, summary.cells, price_of(cell, summary.table.name, paper, prices), usual)
            for cell in missing
        ]
        runs = [cell.missing for cell in missing]
        used = {part.price: None for part in parts if part.price is not None}
        yield SetCost(
            source,
            len(missing),
            sum(runs),
            total([part.seconds for part in parts], runs),
            total([part.most for part in parts], runs),
            tuple(used),
        )


@dataclass(frozen=True)
class RunCost:
    """One run of a cell: expected and greatest seconds, and the price that they rest on."""

    seconds: float | None
    most: float | None
    price: Price | None = None


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


def total(seconds: Sequence[float | None], runs: Sequence[int]) -> float | None:
    """All runs together; None if one is not known."""
    known = [time * number for time, number in zip(seconds, runs, strict=True) if time is not None]
    return sum(known) if len(known) == len(seconds) else None

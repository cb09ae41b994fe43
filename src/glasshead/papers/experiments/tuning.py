"""One small grid for every cell: what is best on dev is chosen before any seed that counts is run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from glasshead.papers.experiments.cell import Cell
from glasshead.papers.experiments.row import Row

TUNING_SEED = 1000
"""Not one of those that count."""
LESS_IS_BETTER = ("rmse", "mae")


@dataclass(frozen=True)
class Tuning:
    """The settings tried, the dev result of each (None: it failed), and which one was chosen."""

    tried: list[dict[str, Any]]
    scores: list[float | None]
    chosen: int

    @property
    def settings(self) -> dict[str, Any]:
        """Those that were chosen."""
        return self.tried[self.chosen]

    def at_end(self, name: str) -> bool:
        """Whether the chosen number is the smallest or largest of three or more, so that a value beyond
        might be better."""
        values = sorted({settings[name] for settings in self.tried})
        return len(values) > 2 and self.settings[name] in (values[0], values[-1])


def grid_points(grid: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Every combination of the values, the last setting changing fastest; none of an empty grid."""
    return [dict(zip(grid, values, strict=True)) for values in product(*grid.values())] if grid else []


def grid_cells(cell: Cell) -> Iterator[Cell]:
    """A cell for each point of a cell's grid; it is run once, with `TUNING_SEED`."""
    for settings in grid_points(cell.grid):
        words = ", ".join(f"{name}={value}" for name, value in settings.items())
        yield cell.with_fields(
            name=f"{cell.name}/{words}",
            title=f"{cell.title}, {words}",
            recipe=cell.recipe.with_changes(**settings),
            paper={},
            grid={},
        )


def choose(cell: Cell, rows: Sequence[Row | None], metric: str) -> Tuning | None:
    """The point of the grid that is best on dev, the first of equals; None if all failed."""
    sign = -1 if metric in LESS_IS_BETTER else 1
    dev_values = [None if row is None else row.numbers[f"dev_{metric}"] for row in rows]
    scores = [None if score is None else float(score) for score in dev_values]
    finished = [number for number, score in enumerate(scores) if score is not None]
    if not finished:
        return None
    best = max(finished, key=lambda number: sign * (scores[number] or 0.0))
    return Tuning(grid_points(cell.grid), scores, best)

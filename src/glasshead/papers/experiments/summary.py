"""What the rows of a table say: means, intervals, the paper's numbers beside them, and differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from glasshead.papers.experiments.cell import Cell, PaperNumber
from glasshead.papers.experiments.differences import DifferenceSummary, summarise_differences
from glasshead.papers.experiments.metric_ranges import within
from glasshead.papers.experiments.numbers import metric_of, number_of, seed_intervals
from glasshead.papers.experiments.row import Row
from glasshead.papers.experiments.table import PaperTable
from glasshead.papers.experiments.tuning import TUNING_SEED, Tuning, grid_cells
from glasshead.results import Interval

FIRST_HELD_OUT = TUNING_SEED + 1
"""Seeds from here on are not counted, but held against the interval of a new seed."""
SIGNIFICANT = 0.05
INSIDE, OUTSIDE, OTHER_PROTOCOL, UNCLEAR = "inside", "outside", "protocol differs", "cannot tell"


Run = tuple[str, int]
"""A recipe with a seed: cells that need the same one share it."""


@dataclass(frozen=True)
class MetricSummary:
    """A metric over seeds: its mean, the interval of the mean, and that of one more seed; no intervals for
    fewer than five seeds. The verdict is about the paper's number, where there is one.

    ``half_width`` is that of the interval that the paper's number is compared with, ``margin`` the smallest
    claimed effect on the metric for these data; a wider interval cannot decide.
    """

    values: list[float]
    mean: float
    interval: Interval | None
    new_seed: Interval | None
    paper: PaperNumber | None
    verdict: str = ""
    half_width: float | None = None
    margin: float | None = None


@dataclass(frozen=True)
class CellSummary:
    """A line of a table: the seeds to run, the existing rows, and their summary.

    ``held_out`` are rows of seeds that do not count, ``grid`` those of the points of its grid, and
    ``tuning`` is the choice among them on dev.
    """

    cell: Cell
    wanted: Sequence[int]
    rows: list[Row]
    metrics: dict[str, MetricSummary]
    differences: list[str]
    one_data_set: bool
    held_out: list[Row]
    tuning: Tuning | None
    grid: Sequence[Row] = ()

    @cached_property
    def missing_runs(self) -> list[Run]:
        """The runs that are still missing; if dev has not chosen yet, those of the grid come first."""
        known = {row.seed for row in (*self.rows, *self.held_out)}
        recipe, points = self.cell.key, []
        if self.cell.grid and self.tuning is None:
            keys, run = [point.key for point in grid_cells(self.cell)], {row.key for row in self.grid}
            points = [(key, TUNING_SEED) for key in keys if key not in run]
            recipe = f"the best of {' '.join(keys)}"
        return [*points, *((recipe, seed) for seed in self.wanted if seed not in known)]

    @property
    def most(self) -> int:
        """How many seeds will count."""
        return len({row.seed for row in self.rows} | {seed for seed in self.wanted if seed < TUNING_SEED})

    def inside(self) -> dict[int, bool]:
        """Whether the first metric of every held-out seed is inside the interval for a new seed."""
        first = next(iter(self.metrics), None)
        if first is None or (interval := self.metrics[first].new_seed) is None:
            return {}
        values = {row.seed: number_of(row, first) for row in self.held_out}
        return {
            seed: interval[0] <= value <= interval[1] for seed, value in values.items() if value is not None
        }

    def seconds(self) -> float | None:
        """Mean wall time of a run, where it is known."""
        rows = (*self.rows, *self.held_out, *self.grid)
        known = [row.seconds for row in rows if row.seconds is not None]
        return float(np.mean(known)) if known else None


@dataclass(frozen=True)
class TableSummary:
    """All lines of a table, and the differences between the cells of its claims."""

    table: PaperTable
    cells: list[CellSummary]
    differences: list[DifferenceSummary]
    floor: list[DifferenceSummary] = field(default_factory=list)

    def inside(self) -> dict[tuple[str, int], bool]:
        """Whether every held-out seed, by the key of its cell, is inside the interval for a new one."""
        return {(cell.cell.key, seed): value for cell in self.cells for seed, value in cell.inside().items()}


def summary_of(
    table: PaperTable,
    rows: Mapping[str, Sequence[Row]],
    wanted: Mapping[str, Sequence[int]],
    tunings: Mapping[str, Tuning] | None = None,
    grids: Mapping[str, Sequence[Row]] | None = None,
) -> TableSummary:
    """The table of these rows, by cell name; ``grids`` are rows of the points of their grids."""
    counted = {name: [row for row in runs if row.seed < TUNING_SEED] for name, runs in rows.items()}
    held_out = {name: [row for row in runs if row.seed >= FIRST_HELD_OUT] for name, runs in rows.items()}
    cells = [
        CellSummary(
            cell,
            wanted[cell.name],
            counted.get(cell.name, []),
            summarise_metrics(table, cell, counted.get(cell.name, [])),
            table.differences_of(cell),
            one_data_set(rows.get(cell.name, [])),
            held_out.get(cell.name, []),
            (tunings or {}).get(cell.name),
            (grids or {}).get(cell.name, ()),
        )
        for cell in table.cells
    ]
    differences, floor = (
        summarise_differences(table, claims, counted) for claims in (table.claims, table.floor_claims)
    )
    return TableSummary(table, cells, differences, floor)


def one_data_set(rows: Sequence[Row]) -> bool:
    """Whether rows were computed on the same data."""
    return len({row.data for row in rows}) < 2


def summarise_metrics(table: PaperTable, cell: Cell, rows: Sequence[Row]) -> dict[str, MetricSummary]:
    """What the rows of a cell say of each metric of its table."""
    differences = table.differences_of(cell)
    metrics = {}
    for name in table.metrics:
        values = metric_of(rows, name)
        paper = cell.paper.get(name)
        if values:
            interval, new_seed = (within(ends, name) for ends in seed_intervals(values))
            margin = smallest_effect(table, cell, name)
            verdict, half_width = "", None
            if paper is not None:
                verdict, half_width = judge_paper(values, paper, differs=bool(differences), margin=margin)
                if table.smoke or not one_data_set(rows):
                    verdict, half_width = UNCLEAR, None
            mean = float(np.mean(values))
            metrics[name] = MetricSummary(
                values, mean, interval, new_seed, paper, verdict, half_width, margin
            )
    return metrics


def smallest_effect(table: PaperTable, cell: Cell, metric: str) -> float | None:
    """The smallest effect that the paper claims of a metric on the data of a cell, else the smallest
    difference of its own numbers there; None if it has fewer than two."""
    data = {row.name: row.data for row in table.cells}
    effects = [
        abs(claim.effect)
        for claim in table.claims
        if claim.effect and metric in claim.metrics and data[claim.cells[0]] == cell.data
    ]
    printed = {
        row.paper[metric].value for row in table.cells if row.data == cell.data and metric in row.paper
    }
    gaps = np.diff(sorted(printed)).tolist()
    return min(effects or gaps, default=None)


def judge_paper(
    values: Sequence[float], paper: PaperNumber, *, differs: bool, margin: float | None
) -> tuple[str, float | None]:
    """Whether the paper's number is one that our protocol gives, and how wide the interval was that says so.

    Where the paper has a standard deviation over seeds, by Welch's test of the two means; else by whether its
    number lies inside the interval of a new seed. What is inside an interval of more than ± ``margin`` would
    be inside whatever the paper claims: that cannot be told.
    """
    _, new_seed = seed_intervals(values)
    if new_seed is None:
        return UNCLEAR, None
    if paper.std is not None and paper.seeds is not None and np.std(values) > 0:
        from scipy.stats import t

        errors = np.array([np.var(values, ddof=1) / len(values), paper.std**2 / paper.seeds])
        counts = np.array([len(values), paper.seeds])
        degrees = errors.sum() ** 2 / (errors**2 / (counts - 1)).sum()
        half_width = float(t.ppf(1 - SIGNIFICANT / 2, degrees) * np.sqrt(errors.sum()))
        agrees = abs(float(np.mean(values)) - paper.value) <= half_width
    else:
        half_width = (new_seed[1] - new_seed[0]) / 2
        agrees = new_seed[0] <= paper.value <= new_seed[1]
    if not agrees:
        return (OTHER_PROTOCOL if differs else OUTSIDE), half_width
    return (UNCLEAR if margin is not None and half_width > margin else INSIDE), half_width

"""Which cell comes next: the one that is known worst for what is claimed of it, while there is time."""

from __future__ import annotations

import heapq
import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from glasshead.papers.experiments.cell import Cell
from glasshead.papers.experiments.job import OUT_OF_TIME, Outcome
from glasshead.papers.experiments.numbers import metric_of
from glasshead.papers.experiments.row import Row, RowStore
from glasshead.papers.experiments.summary import FIRST_HELD_OUT, TableSummary, summary_of
from glasshead.papers.experiments.table import PaperTable
from glasshead.papers.experiments.tuning import TUNING_SEED, Tuning, choose, grid_cells
from glasshead.statistics import interval_of_mean

CellKey = tuple[str, str]
"""A table and a cell, by name."""
Ticket = tuple[CellKey, int]
"""A cell with a seed."""
MARGIN = 1.1
"""A cell may take so much longer than it took before."""


@dataclass
class Schedule:
    """The cells that are still to be run, their rows so far, and the time at which everything ends.

    ``seeds`` is the number of seeds of each cell, ``held_out`` the number of further ones that do not
    count, but are compared with the interval for a new seed. A cell with a grid begins when all points of
    the grid have ended. It is thread-safe.
    """

    tables: Sequence[PaperTable]
    store: RowStore
    seeds: int
    held_out: int = 0
    deadline: float | None = None
    clock: Callable[[], float] = time.time
    cells: dict[CellKey, tuple[PaperTable, Cell]] = field(init=False, default_factory=dict)
    rows: dict[CellKey, list[Row]] = field(init=False, default_factory=dict)
    wanted: dict[CellKey, list[int]] = field(init=False, default_factory=dict)
    grids: dict[CellKey, list[CellKey]] = field(init=False, default_factory=dict)
    tunings: dict[CellKey, Tuning] = field(init=False, default_factory=dict)
    running: dict[Ticket, float] = field(init=False, default_factory=dict)
    failures: dict[Ticket, str] = field(init=False, default_factory=dict)
    busy: set[Ticket] = field(init=False, default_factory=set)
    last_finished: dict[CellKey, None] = field(init=False, default_factory=dict)
    _waiting: set[Ticket] = field(init=False, default_factory=set)
    _queue: list[tuple[float, int, int, Ticket]] = field(init=False, default_factory=list)
    _urgencies: dict[CellKey, float] = field(init=False, default_factory=dict)
    _numbers: dict[CellKey, int] = field(init=False, default_factory=dict)
    _slowest: dict[tuple[str, str, str], float] = field(init=False, default_factory=dict)
    _tuned_by: dict[CellKey, CellKey] = field(init=False, default_factory=dict)
    _lock: threading.Lock = field(init=False, default_factory=threading.Lock)

    def __post_init__(self) -> None:
        for table in self.tables:
            for cell in table.cells:
                place = (table.name, cell.name)
                self._add(place, table, cell)
                self.rows[place], self.wanted[place] = [], self.seeds_of(cell)
                if not cell.grid:
                    self._enter(place)
                    continue
                self.grids[place] = []
                for point in grid_cells(cell):
                    self.grids[place].append((table.name, point.name))
                    self._tuned_by[table.name, point.name] = place
                    self._add((table.name, point.name), table, point)
                    self.wanted[table.name, point.name] = [TUNING_SEED]
                    self._enter((table.name, point.name))
                self._tune(place)

    def _add(self, place: CellKey, table: PaperTable, cell: Cell) -> None:
        """Take up a cell, whose number is its turn among equally urgent ones."""
        self.cells[place] = (table, cell)
        self._numbers.setdefault(place, len(self._numbers))

    def seeds_of(self, cell: Cell) -> list[int]:
        """The seeds with which a cell is run."""
        if cell.most_seeds is not None:
            return list(range(min(self.seeds, cell.most_seeds)))
        return [*range(self.seeds), *(FIRST_HELD_OUT + number for number in range(self.held_out))]

    def _enter(self, place: CellKey) -> None:
        """Take up the rows that there are of a cell, and let the others wait."""
        table, cell = self.cells[place]
        wanted = self.wanted[place]
        rows = self.store.read_all(table.name, cell)  # that of the grid is none of those that count
        self.rows[place] = [row for row in rows if (row.seed == TUNING_SEED) == (TUNING_SEED in wanted)]
        self._note_seconds(place, self.rows[place])
        known = {row.seed for row in self.rows[place]}
        self._wait((place, seed) for seed in wanted if seed not in known)

    def _wait(self, jobs: Iterable[Ticket]) -> None:
        """Let runs wait for their turn."""
        for place, seed in jobs:
            self._waiting.add((place, seed))
            if place not in self._urgencies:
                self._urgencies[place] = self.urgency(place)
            heapq.heappush(
                self._queue, (-self._urgencies[place], turn(seed), self._numbers[place], (place, seed))
            )

    def _judge(self, place: CellKey) -> None:
        """How urgent a cell is now; what waits of it is queued again, and its old entries are out of date."""
        self._urgencies[place] = self.urgency(place)
        self._wait([(place, seed) for seed in self.wanted[place] if (place, seed) in self._waiting])

    def _tune(self, place: CellKey) -> None:
        """Choose from the grid of a cell when all its points have ended."""
        table, cell = self.cells[place]
        rows = [next(iter(self.rows[point]), None) for point in self.grids[place]]
        points = [(point, TUNING_SEED) for point in self.grids[place]]
        failed = [self.failures.get(point, OUT_OF_TIME) != OUT_OF_TIME for point in points]
        if not all(row is not None or bad for row, bad in zip(rows, failed, strict=True)):
            return
        tuning = choose(cell, rows, table.metrics[0])
        if tuning is None:
            self.failures[place, 0] = "every point of its grid failed"
            return
        self.tunings[place] = tuning
        self.cells[place] = (table, cell.with_fields(recipe=cell.recipe.with_changes(**tuning.settings)))
        self._enter(place)

    def __len__(self) -> int:
        """How many runs are still to be begun, also of cells that wait for their grid."""
        later = [place for place in self.grids.keys() - self.tunings if (place, 0) not in self.failures]
        return len(self._waiting) + sum(len(self.wanted[place]) for place in later)

    @property
    def left(self) -> int:
        """How many runs have not ended: those to start, those in progress, and those of other processes."""
        return len(self) + len(self.running) + len(self.busy)

    def waiting(self) -> list[tuple[PaperTable, Cell, int]]:
        """What has not started yet, the most urgent first."""
        order = {place: number for number, place in enumerate(self.cells)}
        urgency = {place: self.urgency(place) for place in {place for place, _ in self._waiting}}
        first = sorted(self._waiting, key=lambda job: (-urgency[job[0]], turn(job[1]), order[job[0]]))
        return [(*self.cells[place], seed) for place, seed in first]

    def urgency(self, place: CellKey) -> float:
        """The width of the cell's interval over seeds, relative to the smallest effect claimed of it; a
        cell without claims waits for all others. A point of a grid is as urgent as its cell."""
        place = self._tuned_by.get(place, place)
        table, cell = self.cells[place]
        claims = [claim for claim in table.every_claim if cell.name in claim.cells]
        if table.every_claim and not claims:
            return -math.inf
        metric = claims[0].metrics[0] if claims else table.metrics[0]
        effects = [abs(claim.effect) for claim in claims or table.claims if claim.effect]
        values = np.array(metric_of(self.rows.get(place, []), metric))
        if len(values) < 2:
            return math.inf
        low, high = interval_of_mean(values)
        return (high - low) / min(effects, default=1.0)

    def estimate_seconds(self, place: CellKey) -> float | None:
        """How long the cell took before, or else the slowest cell on the same data; None if neither is
        known."""
        known = [row.seconds for row in self.rows.get(place, []) if row.seconds]
        return max(known) if known else self._slowest.get(self._group(place))

    def _group(self, place: CellKey) -> tuple[str, str, str]:
        """The cells of one table on the same data."""
        data = self.cells[place][1].data
        return place[0], data.name, data.title

    def _note_seconds(self, place: CellKey, rows: Iterable[Row]) -> None:
        """How long the slowest one on these data took."""
        group = self._group(place)
        known = [row.seconds for row in rows if row.seconds]
        if known:
            self._slowest[group] = max(*known, self._slowest.get(group, 0.0))

    def fits(self, place: CellKey) -> bool:
        """Whether the cell would end in time if it began now, judging by earlier runs."""
        if self.deadline is None:
            return True
        expected = self.estimate_seconds(place) or 0.0
        return self.clock() + MARGIN * expected < self.deadline

    def take(self) -> tuple[PaperTable, Cell, int] | None:
        """The next cell and seed to run; None if there is none, or no time for any."""
        late = []
        with self._lock:
            try:
                while self._queue:
                    entry = heapq.heappop(self._queue)
                    urgency, _, _, (place, seed) = entry
                    if (place, seed) not in self._waiting or -urgency != self._urgencies[place]:
                        continue  # it is out of date
                    if self.fits(place):
                        self._waiting.discard((place, seed))
                        self.running[place, seed] = self.clock()
                        return (*self.cells[place], seed)
                    late.append(entry)
                return None
            finally:
                for entry in late:
                    heapq.heappush(self._queue, entry)

    def __iter__(self) -> Iterator[tuple[PaperTable, Cell, int]]:
        while (job := self.take()) is not None:
            yield job

    def finish(self, outcome: Outcome) -> None:
        """Record the outcome of a cell."""
        task = outcome.task
        place = (task.table, task.cell.name)
        with self._lock:
            self.running.pop((place, task.seed), None)
            self.last_finished.pop(place, None)
            self.last_finished[place] = None
            if outcome.busy:
                self.busy.add((place, task.seed))
            elif outcome.row is not None:
                self.rows.setdefault(place, []).append(outcome.row)
                self.rows[place].sort(key=lambda row: row.seed)
                self._note_seconds(place, [outcome.row])
                self._judge(place)
            else:
                self.failures[place, task.seed] = outcome.failure
            if place in self._tuned_by:
                self._tune(self._tuned_by[place])

    def retry(self) -> bool:
        """Release the cells that other processes were running; returns whether any is left to run."""
        with self._lock:
            self._wait(self.busy)
            self.busy.clear()
            return any(self.fits(place) for place, _ in self._waiting)

    def summary(self, table: PaperTable) -> TableSummary:
        """A table as it stands."""
        cells = [self.cells[table.name, cell.name][1] for cell in table.cells]
        by_name = {cell.name: (table.name, cell.name) for cell in cells}
        return summary_of(
            replace(table, cells=cells),
            {name: self.rows[place] for name, place in by_name.items()},
            {name: self.wanted[place] for name, place in by_name.items()},
            {name: self.tunings[place] for name, place in by_name.items() if place in self.tunings},
            {
                name: [row for point in self.grids.get(place, ()) for row in self.rows[point]]
                for name, place in by_name.items()
            },
        )

    def failures_in_words(self) -> dict[str, str]:
        """Why some cells have no row."""
        return {
            f"{table}, {cell}, seed {seed}": reason for ((table, cell), seed), reason in self.failures.items()
        }


def turn(seed: int) -> int:
    """The place of a seed among those of cells as urgent: a grid comes first, which others wait for."""
    return -1 if seed == TUNING_SEED else seed

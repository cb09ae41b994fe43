"""Which cell comes next: the one that is known worst for what is claimed of it, while there is time."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from glasshead.experiments.cell import Cell
from glasshead.experiments.job import Outcome
from glasshead.experiments.row import Row, RowStore
from glasshead.experiments.summary import metric_of
from glasshead.experiments.table import Table
from glasshead.statistics import student_interval

Place = tuple[str, str]
"""A table and a cell, by name."""
MARGIN = 1.1
"""A cell may take so much longer than it took before."""


@dataclass
class Schedule:
    """The cells that are still to be run, their rows so far, and the time at which everything ends.

    ``wanted`` is the number of seeds of each cell. Safe to be asked from several threads.
    """

    tables: Sequence[Table]
    store: RowStore
    wanted: Mapping[Place, int]
    rows: dict[Place, list[Row]]
    deadline: float | None = None
    clock: Callable[[], float] = time.time
    running: dict[tuple[Place, int], float] = field(default_factory=dict)
    failures: dict[tuple[Place, int], str] = field(default_factory=dict)
    busy: set[tuple[Place, int]] = field(default_factory=set)
    last_finished: list[Place] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.cells = {(table.name, cell.name): (table, cell) for table in self.tables for cell in table.cells}
        self._waiting = {
            (place, seed)
            for place in self.cells
            for seed in range(self.wanted[place])
            if seed not in {row.seed for row in self.rows.get(place, [])}
        }

    def __len__(self) -> int:
        return len(self._waiting)

    def waiting(self) -> list[tuple[Table, Cell, int]]:
        """What is still to be begun, the most urgent first."""
        order = {place: number for number, place in enumerate(self.cells)}
        urgency = {place: self.urgency(place) for place in {place for place, _ in self._waiting}}
        first = sorted(self._waiting, key=lambda job: (-urgency[job[0]], job[1], order[job[0]]))
        return [(*self.cells[place], seed) for place, seed in first]

    def urgency(self, place: Place) -> float:
        """The width of the cell's interval over seeds, relative to the smallest effect claimed of it."""
        table, cell = self.cells[place]
        claims = [claim for claim in table.claims if cell.name in (claim.better, claim.worse)]
        metric = claims[0].metric if claims else table.metrics[0]
        effects = [abs(claim.effect) for claim in claims or table.claims if claim.effect]
        values = np.array(metric_of(self.rows.get(place, []), metric))
        if len(values) < 2:
            return math.inf
        sums = [np.array([total]) for total in (values.sum(), (values**2).sum())]
        low, high = student_interval(sums[0], sums[1], np.array([len(values)]))[:, 0]
        return float(high - low) / min(effects, default=1.0)

    def expected_seconds(self, place: Place) -> float | None:
        """How long the cell took before, else the slowest one on the same data; None where nobody knows."""
        table, cell = self.cells[place]
        alike = [
            other
            for other in self.cells
            if other[0] == table.name and self.cells[other][1].data == cell.data and other != place
        ]
        for places in ([place], alike):
            known = [row.seconds for each in places for row in self.rows.get(each, []) if row.seconds]
            if known:
                return max(known)
        return None

    def fits(self, place: Place) -> bool:
        """Whether the cell, begun now, ends in time as far as its past tells."""
        if self.deadline is None:
            return True
        expected = self.expected_seconds(place) or 0.0
        return self.clock() + MARGIN * expected < self.deadline

    def take(self) -> tuple[Table, Cell, int] | None:
        """The next cell and seed to begin; None if there is none, or no time for any."""
        with self._lock:
            for table, cell, seed in self.waiting():
                place = (table.name, cell.name)
                if self.fits(place):
                    self._waiting.discard((place, seed))
                    self.running[place, seed] = self.clock()
                    return table, cell, seed
            return None

    def __iter__(self) -> Iterator[tuple[Table, Cell, int]]:
        while (job := self.take()) is not None:
            yield job

    def finish(self, outcome: Outcome) -> None:
        """Note what became of a cell."""
        task = outcome.task
        place = (task.table, task.cell.name)
        with self._lock:
            self.running.pop((place, task.seed), None)
            self.last_finished = [*(each for each in self.last_finished if each != place), place]
            if outcome.busy:
                self.busy.add((place, task.seed))
            elif outcome.row is not None:
                self.rows.setdefault(place, []).append(outcome.row)
                self.rows[place].sort(key=lambda row: row.seed)
            else:
                self.failures[place, task.seed] = outcome.failure

    def retry(self) -> bool:
        """Let what other processes were at be taken again; whether there is any."""
        with self._lock:
            self._waiting |= self.busy
            found = bool(self.busy)
            self.busy.clear()
            return found

    def of(self, table: Table) -> tuple[dict[str, list[Row]], dict[str, int]]:
        """The rows of a table by cell, and how many seeds each of its cells should have."""
        rows = {cell.name: self.rows.get((table.name, cell.name), []) for cell in table.cells}
        return rows, {cell.name: self.wanted[table.name, cell.name] for cell in table.cells}

    def failures_in_words(self) -> dict[str, str]:
        """Why some cells have no row."""
        return {
            f"{table}, {cell}, seed {seed}": reason for ((table, cell), seed), reason in self.failures.items()
        }

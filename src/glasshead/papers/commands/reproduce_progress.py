"""What `glasshead reproduce` shows while it runs: a live table on a terminal, else a line for each cell."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.live import Live
from rich.table import Table as Grid
from rich.text import Text

from glasshead.cli import errors, print_remark
from glasshead.errors import pluralise

if TYPE_CHECKING:
    from glasshead.papers.experiments import Schedule

MOST_LINES = 30
"""A terminal shows so many cells: those that run or ran last."""


@contextmanager
def live_progress() -> Iterator[Callable[[Schedule], None]]:
    """What is to be called whenever a cell has ended."""
    if not errors.is_terminal:
        yield RunLines()
        return
    schedules: list[Schedule] = []
    with Live(
        get_renderable=lambda: progress_grid(schedules[-1]) if schedules else Text(""),
        console=errors,
        transient=True,
        refresh_per_second=2,
    ):
        yield schedules.append


class RunLines:
    """One line for each run that has ended."""

    def __init__(self) -> None:
        self.reported: set[tuple[str, str, int]] = set()

    def __call__(self, schedule: Schedule) -> None:
        rows = {(*place, row.seed): row.seconds for place, done in schedule.rows.items() for row in done}
        for (table, cell, seed), seconds in rows.items() if self.reported else ():
            if (table, cell, seed) not in self.reported:
                took = "" if seconds is None else f", {seconds:.0f} s"
                print_remark(f"{table}: {cell}, seed {seed}{took}; {pluralise(schedule.left, 'run')} left")
        if not self.reported:
            print_remark(f"{pluralise(len(rows), 'run')} known, {schedule.left:,} left")
        self.reported |= rows.keys() | {("", "", 0)}


def progress_grid(schedule: Schedule) -> Grid:
    """Every cell with its seeds and its mean so far; running ones first."""
    left = (
        [] if schedule.deadline is None else [f"{max(schedule.deadline - time.time(), 0) / 60:.0f} min left"]
    )
    title = ", ".join([pluralise(schedule.left, "run") + " left", *left])
    grid = Grid("table", "cell", "seeds", "mean", "paper", "running", title=title, title_justify="left")
    running: dict[tuple[str, str], list[float]] = {}
    for (place, _), began in list(schedule.running.items()):
        running.setdefault(place, []).append(time.time() - began)
    last = {place: -number for number, place in enumerate(list(schedule.last_finished))}
    order = {place: (place not in running, last.get(place, 1)) for place in schedule.cells}
    for place in sorted(schedule.cells, key=lambda place: order[place])[:MOST_LINES]:
        grid.add_row(*map(Text, progress_row(schedule, place, running.get(place, []))))
    if len(schedule.cells) > MOST_LINES:
        grid.caption = f"and {pluralise(len(schedule.cells) - MOST_LINES, 'cell')} more"
    return grid


def progress_row(schedule: Schedule, place: tuple[str, str], running: list[float]) -> list[str]:
    """One cell."""
    from glasshead.papers.experiments import seed_intervals

    table, cell = schedule.cells[place]
    rows = list(schedule.rows.get(place, []))
    metric = table.metrics[0]
    values = [value for row in rows if (value := row.numbers.get(metric)) is not None]
    mean = ""
    if values:
        interval = seed_intervals(values)[0]
        half = "" if interval is None else f" ± {(interval[1] - interval[0]) / 2:.4f}"
        mean = f"{sum(values) / len(values):.4f}{half}"
    paper = cell.paper.get(metric)
    return [
        place[0],
        cell.name,
        f"{len(rows)}/{len(schedule.wanted[place])}",
        mean,
        "" if paper is None else f"{paper.value:.4f}",
        ", ".join(f"{seconds:.0f} s" for seconds in running),
    ]

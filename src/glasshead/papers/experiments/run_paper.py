"""A paper's tables again: run what is missing, skip what is known, write the tables."""

from __future__ import annotations

import contextlib
import os
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

import glasshead
from glasshead.cluster import RETRIES, Cluster, check_nodes, connect, free_slots
from glasshead.errors import InputError, ParameterError, one_line, pluralise
from glasshead.files import check_writable, write_as, write_bytes, write_text
from glasshead.papers.experiments.cell import Cell
from glasshead.papers.experiments.claims import judge_claims
from glasshead.papers.experiments.claims_page import claims_json, claims_markdown
from glasshead.papers.experiments.cost import Price, read_prices
from glasshead.papers.experiments.figures import small_png
from glasshead.papers.experiments.job import (
    LOADED,
    Outcome,
    Task,
    load_once,
    remove_empty,
    remove_finished_run,
    run_in_worker,
    run_task,
)
from glasshead.papers.experiments.markdown import coverage_in_words, table_markdown
from glasshead.papers.experiments.quick import quick_table
from glasshead.papers.experiments.row import Row, RowStore
from glasshead.papers.experiments.schedule import Schedule
from glasshead.papers.experiments.source import DataSource
from glasshead.papers.experiments.summary import TableSummary
from glasshead.papers.experiments.table import PAPERS, QUICK_SEEDS, SEEDS, Paper, PaperTable
from glasshead.papers.experiments.table_json import table_json
from glasshead.papers.experiments.to_run import TO_RUN, to_run_markdown
from glasshead.spelling import spell

ROWS, RUNS, CLAIMS = "rows", "runs", "claims"
COMMITTED_ROWS = Path(glasshead.__file__).parents[2] / "reproduction" / ROWS
"""The rows that the project keeps, where the library runs from its repository."""
BUSY_WAIT = 2.0
"""Seconds until a cell is tried again that another process is computing."""
OnChange = Callable[[Schedule], None]
Runner = Callable[[Callable[[], Task | None]], Iterator[Outcome]]
"""Runs what it is given one after the other, until that is None."""


@dataclass(frozen=True)
class ReproduceRequest:
    """What is repeated, how often and where.

    ``only`` are tables, or TABLE/SET. ``out`` gets the rows, below ``rows``, and the tables; rows of the
    folder ``rows`` are found too (None: those of the project). ``quick`` takes tiny data and two seeds.
    ``held_out`` more seeds are compared with the interval for a new seed. ``hours`` is the available time
    (0: nothing is run, and the tables contain what is known), ``workers`` the number of local processes,
    and ``cluster`` a Ray cluster for more.

    Raises:
        InputError: if a value makes no sense.
    """

    only: Sequence[str] = ()
    seeds: int | None = None
    quick: bool = False
    hours: float | None = None
    out: Path = Path("tables")
    data_folder: Path | None = None
    rows: Path | None = None
    workers: int = 1
    held_out: int = 0
    cluster: Cluster | None = None
    keep_runs: bool = False

    def __post_init__(self) -> None:
        for name, value in (("seeds", self.seeds), ("workers", self.workers)):
            if value is not None and not 1 <= value <= 1000:
                raise ParameterError(name, f"must be between 1 and 1,000, not {value}")
        if not 0 <= self.held_out <= 1000:
            raise ParameterError("held_out", f"must be between 0 and 1,000, not {self.held_out}")
        if self.hours is not None and not 0 <= self.hours < 1e6:
            raise ParameterError("hours", f"must be 0 or a positive number, not {self.hours:g}")
        if self.data_folder is not None and not self.data_folder.is_dir():
            raise ParameterError("data_folder", f"{self.data_folder} is not a folder")
        if self.rows is not None and not self.rows.is_dir():
            raise ParameterError("rows", f"{self.rows} is not a folder")

        if self.cluster is not None and self.workers != 1:
            raise InputError(f"a cluster has its own number of workers: leave {spell('workers')} out")

    @property
    def seeds_wanted(self) -> int:
        """The number of seeds of every cell that is random."""
        return self.seeds or (QUICK_SEEDS if self.quick else SEEDS)


@dataclass(frozen=True)
class Reproduction:
    """What came out: the tables with their files, what failed and why, what is still to be run, and which
    rows came from other data."""

    tables: list[TableSummary]
    files: list[Path]
    failures: dict[str, str]
    waiting: int
    remarks: Sequence[str] = ()

    @property
    def coverage(self) -> str | None:
        """How many held-out seeds of all tables were inside the interval for a new one, in words; a cell in
        several tables counts once."""
        inside: dict[tuple[str, int], bool] = {}
        for table in self.tables:
            inside |= table.inside()
        return coverage_in_words(list(inside.values()))


def reproduce(
    paper: str, request: ReproduceRequest, on_change: OnChange = lambda schedule: None
) -> Reproduction:
    """Run the missing cells of a paper's tables, and write OUT/PAPER/TABLE.md and .json for each, the
    verdicts on the claims of the paper, and what is still to be run.

    ``on_change`` is called at first and whenever a cell has ended. Processes may be killed at any time:
    finished rows are kept, and unfinished trainings are resumed.

    Raises:
        InputError: on unknown papers or tables, data that are not there, and an ``out`` that is not a folder.
    """
    chosen = PAPERS[paper].choose(request.only)
    if request.cluster is not None:  # whose computers begin elsewhere
        request = replace(
            request,
            out=request.out.absolute(),
            data_folder=request.data_folder and request.data_folder.absolute(),
        )
    if request.out.is_file():
        raise InputError(f"{spell('out')} is a file, {request.out}: name a folder")
    if not request.out.is_dir():
        check_writable(request.out)
    folders = [request.out / ROWS, COMMITTED_ROWS if request.rows is None else request.rows]
    deadline = None if request.hours is None else time.time() + 3600 * request.hours
    store = RowStore(folders, paper)
    tables = quick_or_not(chosen, request)
    schedule = Schedule(tables, store, request.seeds_wanted, request.held_out, deadline)
    remarks: list[str] = []
    if request.hours != 0:
        store, remarks = with_data_at_hand(schedule, request.data_folder)
        if remarks:
            schedule = Schedule(tables, store, request.seeds_wanted, request.held_out, deadline)
        check_data(schedule, request.data_folder)
        remove_finished_runs(schedule, request)
        run_schedule(schedule, request, on_change)
    # Of a part of a table nothing is written; claims, and what is still to be run, are those of all tables.
    names = {one.name for one in chosen}
    read = [table for table in PAPERS[paper].tables if table.name in names or not request.quick]
    known = Schedule(quick_or_not(read, request), store, request.seeds_wanted, request.held_out)
    found = [known.summary(table) for table in known.tables]
    summaries = [one for one in found if one.table.name in names]
    prices = {name: price for folder in reversed(folders) for name, price in read_prices(folder).items()}
    files = [path for summary in summaries for path in write_paper_table(summary, paper, request, prices)]
    if not request.quick:
        files += write_paper_pages(found, PAPERS[paper], request.out / paper, prices)
    return Reproduction(summaries, files, schedule.failures_in_words(), len(schedule), remarks)


def quick_or_not(tables: Sequence[PaperTable], request: ReproduceRequest) -> list[PaperTable]:
    """Tables as they are to be run."""
    return [quick_table(table, request.data_folder) for table in tables] if request.quick else list(tables)


def run_schedule(schedule: Schedule, request: ReproduceRequest, on_change: OnChange) -> None:
    """Run what is scheduled, and tell of every change; empty folders go when nobody needs them."""
    ended: list[Task] = []
    try:
        with runner(request) as run:
            on_change(schedule)
            for outcome in run_all(schedule, request, run):
                schedule.finish(outcome)
                on_change(schedule)
                ended.append(outcome.task)
    finally:
        for task in ended:
            remove_empty(task)


def with_data_at_hand(schedule: Schedule, folder: Path | None) -> tuple[RowStore, list[str]]:
    """A store that leaves out rows of other data than those at hand, and a line for each set that has some.

    Data that are not there, or cannot be read, are held against nothing.
    """
    LOADED.clear()  # they may have changed since this process read them last
    rows: dict[str, tuple[DataSource, list[Row]]] = {}
    for place, cell_rows in schedule.rows.items():
        source = schedule.cells[place][1].data
        if cell_rows and not source.is_missing(folder):
            rows.setdefault(source.label, (source, []))[1].extend(cell_rows)
    fingerprints, remarks = {}, []
    for label, (source, cell_rows) in rows.items():
        try:
            fingerprints[label] = load_once(source, folder)[1]
        except InputError:  # whoever needs these data will say so
            continue
        others = sum(row.data != fingerprints[label] for row in cell_rows)
        if others:
            remarks.append(
                f"{source.title}: {pluralise(others, 'row')} from other data than those in {folder}: not "
                "counted, and run again"
            )
    return replace(schedule.store, fingerprints=fingerprints), remarks


def check_data(schedule: Schedule, folder: Path | None) -> None:
    """Raise InputError, with their names, where data sets are not there that are still needed."""
    missing = dict.fromkeys(name for _, cell, _ in schedule.waiting() for name in missing_data(cell, folder))
    if missing:
        where = "there is no data folder" if folder is None else f"they are not in {folder}"
        raise InputError(
            f"data sets are missing: {', '.join(missing)} ({where}): name the folder that holds them with "
            f"{spell('data_folder')}, or see how it works with {spell('quick', True)}"
        )


def missing_data(cell: Cell, folder: Path | None) -> Iterator[str]:
    """The data set and the word vectors of a cell, if the data folder lacks them."""
    if cell.data.is_missing(folder):
        yield cell.data.name
    vectors = getattr(cell.recipe, "word_vectors", None)
    if vectors is not None and (folder is None or not (folder / vectors).is_file()):
        yield vectors


def remove_finished_runs(schedule: Schedule, request: ReproduceRequest) -> None:
    """Remove runs whose rows were written just before a process was killed."""
    runs = request.out / RUNS
    if request.keep_runs or not runs.is_dir():
        return
    for place, rows in schedule.rows.items():
        for row in rows:
            task = make_task(schedule, (*schedule.cells[place], row.seed), request)
            if task.run_folder.parent.is_dir():
                remove_finished_run(task)


def make_task(schedule: Schedule, job: tuple[PaperTable, Cell, int], request: ReproduceRequest) -> Task:
    """What a process needs to run a cell with a seed."""
    table, cell, seed = job
    return Task(
        table.name,
        cell,
        seed,
        schedule.store,
        runs=request.out / RUNS,
        data_folder=request.data_folder,
        deadline=schedule.deadline,
        keep_run=request.keep_runs,
    )


@contextlib.contextmanager
def runner(request: ReproduceRequest) -> Iterator[Runner]:
    """What runs tasks, here or on the computers of a cluster, which are checked first."""
    if request.cluster is None:
        yield partial(run_here, request.workers)
        return
    with connect(request.cluster) as ray:
        check_nodes(ray, shared=request.out, data_folder=request.data_folder)
        yield partial(run_on_cluster, ray, request.cluster)


def run_all(schedule: Schedule, request: ReproduceRequest, run: Runner) -> Iterator[Outcome]:
    """Run what is scheduled; which cell is next is asked when one ends.

    What another process is at is asked for again, until its row is there or nobody computes it any more.
    """

    def take() -> Task | None:
        job = schedule.take()
        return None if job is None else make_task(schedule, job, request)

    while True:
        yield from run(take)
        if not schedule.retry():
            return
        time.sleep(BUSY_WAIT)


def run_here(workers: int, take: Callable[[], Task | None]) -> Iterator[Outcome]:
    """Run tasks in this process, or in several ones of this computer."""
    parallel = Parallel(workers, return_as="generator_unordered", batch_size=1, pre_dispatch="n_jobs")
    tasks = iter(take, None)
    if workers == 1:
        yield from parallel(delayed(run_task)(task) for task in tasks)
    else:
        yield from parallel(delayed(run_in_worker)(task, os.getpid()) for task in tasks)


def write_paper_table(
    summary: TableSummary, paper: str, request: ReproduceRequest, prices: Mapping[str, Price]
) -> Iterator[Path]:
    """OUT/PAPER/TABLE.md and .json, and .png of a table that has a picture; of a smoke run TABLE-quick."""
    name = f"{summary.table.name}-quick" if summary.table.smoke else summary.table.name
    picture = None if summary.table.picture is None else summary.table.picture(summary)
    if picture is not None:
        path = request.out / paper / f"{name}.png"
        write_bytes(path, small_png(picture), overwrite=True)
        yield path
    for suffix, text in (
        ("md", table_markdown(summary, PAPERS[paper], None if picture is None else f"{name}.png")),
        ("json", table_json(summary, PAPERS[paper], prices)),
    ):
        path = request.out / paper / f"{name}.{suffix}"
        write_text(path, text, overwrite=True)
        yield path


def write_paper_pages(
    summaries: Sequence[TableSummary], paper: Paper, folder: Path, prices: Mapping[str, Price]
) -> Iterator[Path]:
    """to-run.md, and claims.md and claims.json of a paper that claims something, of all its tables."""
    pages = {f"{TO_RUN}.md": to_run_markdown(paper, summaries, prices)}
    if paper.claims:
        differences = {summary.table.name: summary.differences for summary in summaries}
        verdicts = judge_claims(paper, differences)
        pages[f"{CLAIMS}.md"] = claims_markdown(paper, verdicts)
        pages[f"{CLAIMS}.json"] = claims_json(paper, verdicts)
    for name, text in pages.items():
        write_text(folder / name, text, overwrite=True)
        yield folder / name


def run_on_cluster(ray: Any, cluster: Cluster, take: Callable[[], Task | None]) -> Iterator[Outcome]:
    """Run tasks, as many at once as the cluster has room for; ``take`` gives the next one whenever one ends.

    The computers of the cluster share a file system. Ray begins a task again whose worker was killed, or
    whose computer was lost; it goes on from the last epoch that was finished, and takes over the locks that
    the last attempt left.
    """
    writer = uuid.uuid4().hex
    run = ray.remote(run_on_worker).options(
        num_cpus=1, num_gpus=cluster.gpus_per_task, max_retries=RETRIES, retry_exceptions=False
    )
    running: dict[Any, Task] = {}
    while True:
        while len(running) < free_slots(ray, cluster) and (task := take()) is not None:
            running[run.remote(task, writer)] = task
        if not running:
            return
        (ended, *_), _ = ray.wait(list(running))
        task = running.pop(ended)
        try:
            yield ray.get(ended)
        except ray.exceptions.RayError as error:
            reason = one_line(error)
            yield Outcome(task, None, f"its worker ended {1 + RETRIES} times: {reason[:200]}")


def run_on_worker(task: Task, writer: str) -> Outcome:
    """`run_task` with one thread, in the name of the ``writer`` that sends it."""
    import torch

    torch.set_num_threads(1)
    with write_as(writer):
        return run_task(task)

"""One cell with one seed, from its data to its row, in whatever process it is computed."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from transformers import TrainerCallback

from glasshead.data import describe
from glasshead.errors import InputError
from glasshead.files import BusyError, partial_path, remove, reserve_folder
from glasshead.opening import RECORD, read_object, read_record
from glasshead.papers.experiments.cell import Cell, Recipe
from glasshead.papers.experiments.row import Row, RowStore
from glasshead.papers.experiments.source import DataSource
from glasshead.parent_process import end_with_parent
from glasshead.registry import Registry
from glasshead.training import CHECKPOINTS, TrainingConfig, train, valid_checkpoints, versions

if TYPE_CHECKING:
    from datasets import DatasetDict


class Measured(NamedTuple):
    """The numbers of a run, and which test examples it predicts correctly."""

    numbers: dict[str, Any]
    hits: NDArray[np.bool_] | None = None


@dataclass(frozen=True)
class Job:
    """The input of a measure: a cell, a seed, the data, and the folder in which its run is kept meanwhile.

    ``deadline`` is the time (`time.time`) at which a training stops, to be resumed later.
    """

    cell: Cell
    seed: int
    data: DatasetDict
    folder: Path
    deadline: float | None = None

    @property
    def recipe(self) -> TrainingConfig:
        """The cell's recipe for a classifier.

        Raises:
            InputError: if it is one for a language model.
        """
        if not isinstance(self.cell.recipe, TrainingConfig):
            raise InputError(f"{self.cell.name} does not train a classifier, as its measure needs")
        return self.cell.recipe

    def train(self, callbacks: Sequence[TrainerCallback] = ()) -> Path:
        """The run of the cell's recipe; it is trained, or resumed, unless it exists."""
        return self.run_of(partial(train, self.data, self.recipe), RECORD, describe(self.data), callbacks)

    def run_of(
        self,
        begin: Callable[..., Path],
        record: str,
        data: Mapping[str, Any],
        callbacks: Sequence[TrainerCallback] = (),
    ) -> Path:
        """The run that ``begin`` trains, unless there is one whose ``record`` names these data."""
        if (self.folder / record).is_file():  # a folder that stands is whole
            if read_object(self.folder / record)["data"]["fingerprint"] == data["fingerprint"]:
                return self.folder
            remove(self.folder)
        return begin(
            self.folder,
            seed=self.seed,
            source=self.cell.data.record(),
            resume=bool(valid_checkpoints(partial_path(self.folder) / CHECKPOINTS)),
            callbacks=[*callbacks, *([] if self.deadline is None else [StopAt(self.deadline)])],
        )


MEASURES: Registry[Callable[[Job], Measured]] = Registry("measure")
"""What can be measured of a cell: one function, one file of `measures`."""


class OutOfTimeError(Exception):
    """The time was up before a training ended."""


class StopAt(TrainerCallback):
    """Ends a training at a time; its finished epochs stay, to be gone on from."""

    def __init__(self, deadline: float) -> None:
        self.deadline = deadline

    def on_step_end(self, *args: Any, **kwargs: Any) -> None:
        if time.time() > self.deadline:
            raise OutOfTimeError


@dataclass(frozen=True)
class Task:
    """A cell and a seed to run, with all that another process needs for it."""

    table: str
    cell: Cell
    seed: int
    store: RowStore
    runs: Path
    data_folder: Path | None = None
    deadline: float | None = None
    keep_run: bool = False

    @property
    def run_folder(self) -> Path:
        """The folder of its run until the row is written."""
        return self.runs / self.store.paper / self.table / self.cell.slug / f"seed-{self.seed}"

    @property
    def lock(self) -> Path:
        """The path that a process locks while it computes the row; there is no such file."""
        return self.run_folder.with_suffix(".row")


OUT_OF_TIME = "the time was up: its finished epochs are kept"


class Outcome(NamedTuple):
    """What became of a task: a row, or why there is none; ``busy`` if another process is computing it."""

    task: Task
    row: Row | None
    failure: str = ""
    busy: bool = False


def run_in_worker(task: Task, driver: int) -> Outcome:
    """`run_task` in one of several processes, with one thread; it ends when the process that sent it does."""
    import torch

    torch.set_num_threads(1)
    if os.getpid() != driver:
        end_with_parent(driver)
    return run_task(task)


def run_task(task: Task) -> Outcome:
    """Compute and write the row of a task, unless it exists or another process computes it; the run is
    deleted, unless it is to be kept."""
    try:
        with reserve_folder(task.lock):
            row = task.store.read(task.table, task.cell, task.seed)
            outcome = compute(task) if row is None else Outcome(task, row)
            if outcome.row is not None and not task.keep_run:
                remove_run(task)
    except BusyError as error:
        return Outcome(task, None, str(error), busy=True)
    return outcome


def compute(task: Task) -> Outcome:
    """Measure, and write the row."""
    started = time.perf_counter()
    try:
        data, fingerprint = load_once(task.cell.data, task.data_folder)
        cell = task.cell.with_fields(recipe=with_word_vectors(task.cell.recipe, task.data_folder))
        job = Job(cell, task.seed, data, task.run_folder, task.deadline)
        measured = MEASURES[task.cell.measure](job)
    except OutOfTimeError:
        return Outcome(task, None, OUT_OF_TIME)
    except BusyError:
        raise
    except InputError as error:
        return Outcome(task, None, str(error))
    except Exception as error:  # one cell that fails does not end the others
        return Outcome(task, None, f"{type(error).__name__}: {' '.join(str(error).split())[:300]}")
    resumed = (task.run_folder / RECORD).is_file() and read_record(task.run_folder).get("resumed", False)
    row = Row(
        task.cell.name,
        task.cell.key,
        task.seed,
        fingerprint,
        measured.numbers,
        None if resumed else time.perf_counter() - started,
        versions(),
        measured.hits,
    )
    row = Row.from_json(row.to_json())  # the numbers that whoever finds it will read
    task.store.write(task.table, task.cell, row)
    return Outcome(task, row)


def with_word_vectors(recipe: Recipe, folder: Path | None) -> Recipe:
    """A recipe whose word vectors, a path below the data folder, are where they lie."""
    if not isinstance(recipe, TrainingConfig) or recipe.word_vectors is None:
        return recipe
    return replace(recipe, word_vectors=str((folder or Path()) / recipe.word_vectors))


def remove_finished_run(task: Task) -> None:
    """Remove what a process left behind that was killed just after it wrote the row."""
    with contextlib.suppress(BusyError):  # it is about to do so itself
        with reserve_folder(task.lock):
            remove_run(task)
        remove_empty(task)


def remove_run(task: Task) -> None:
    """Remove a run, whole or not."""
    remove(task.run_folder)
    remove(partial_path(task.run_folder))


def remove_empty(task: Task) -> None:
    """Remove the folders above a run that it leaves empty."""
    for folder in task.run_folder.parents:
        try:
            folder.rmdir()
        except OSError:  # others are at work there
            return
        if folder == task.runs:
            return


LOADED: dict[str, tuple[Any, str]] = {}


def load_once(source: DataSource, folder: Path | None) -> tuple[Any, str]:
    """The data and their fingerprint, read once in a process as long as it stays with them."""
    name = repr((source, folder))
    if name not in LOADED:
        LOADED.clear()
        data = source.read(folder)
        LOADED[name] = (data, describe(data)["fingerprint"])
    return LOADED[name]

"""Trainings of many cells with many seeds, whose numbers are kept in a JSON file per table.

What is trained stays in runs/STUDY, and is trained again only if its recipe has changed.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from glasshead.data import DATASETS, LoadOptions, load
from glasshead.training import TrainingConfig, train
from reproduction.study import DATA, RUNS, Measure, measure_missing, read_numbers


@dataclass(frozen=True)
class Set:
    """A data set as it is read here."""

    folder: str
    options: LoadOptions = field(default_factory=LoadOptions)

    def read(self) -> Any:
        """The data: a folder's, or made-up ones."""
        return load(self.folder if self.folder in DATASETS else str(DATA / self.folder), self.options)

    def source(self) -> dict[str, Any]:
        """What a run records of its data."""
        return {"source": self.folder, "options": asdict(self.options)}


@dataclass(frozen=True)
class Cell:
    """One number of a table: a name for it, the data, the recipe and the seeds that it is a mean over.

    ``other`` is a cell on whose run, of the same seed, it builds: ``relation`` is the word for it, "frozen"
    or "adversarial", and ``settings`` are those that have a meaning with such a run alone.
    """

    name: str
    data: Set
    recipe: TrainingConfig
    seeds: int
    other: "Cell | None" = None
    relation: str = ""
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def depth(self) -> int:
        """How many runs are trained before it."""
        return 0 if self.other is None else self.other.depth + 1

    def mark(self, version: int) -> str:
        """What a number is valid for: the recipe, the data as they are read, and the code that trains."""
        data = {"folder": self.data.folder, "options": told_options(self.data.options)}
        other = [] if self.other is None else [self.relation, self.other.mark(version)]
        other += [self.settings] if self.settings else []
        told = json.dumps([version, self.recipe.as_dict(), data, *other], sort_keys=True)
        return hashlib.sha256(told.encode()).hexdigest()[:8]


@dataclass(frozen=True)
class Trainings:
    """Tables of cells, what they take from a run, and callbacks of its training.

    ``version`` is raised when the code changes what a recipe trains. ``runs`` is the study whose runs it
    reads, if these are not its own.
    """

    name: str
    tables: Mapping[str, list[Cell]]
    summary: Callable[[Path], dict[str, Any]]
    version: int = 1
    callbacks: Callable[[Cell], list[Any]] = lambda cell: []
    runs: str = ""

    def measures(self) -> dict[str, Measure]:
        """The tables of a study."""
        return {table: partial(self.run, table) for table in self.tables}

    def cells(self, table: str) -> Iterator[tuple[Cell, int]]:
        """Every cell with every seed, seed by seed, so that an unfinished table is a fair one."""
        for seed in range(max(cell.seeds for cell in self.tables[table])):
            for cell in self.tables[table]:
                if seed < cell.seeds:
                    yield cell, seed

    def known(self, table: str) -> dict[str, dict[int, dict[str, Any]]]:
        """The numbers of the recipes as they are now: cell → seed → numbers."""
        values, found = read_numbers(self.name, table), {}
        marks = {cell.name: cell.mark(self.version) for cell in self.tables[table]} if values else {}
        for cell, seed in self.cells(table):
            entry = values.get(key(cell, seed), {})
            if entry and entry.get("recipe") == marks[cell.name]:
                found.setdefault(cell.name, {})[seed] = entry
        return found

    def missing(self, table: str) -> list[tuple[Cell, int]]:
        """What is still to be trained."""
        known = self.known(table)
        return [(cell, seed) for cell, seed in self.cells(table) if seed not in known.get(cell.name, {})]

    def folder(self, table: str, cell: Cell, seed: int) -> Path:
        """Where the run of a cell with a seed lies."""
        named = f"{cell.name.replace(' ', '-')}-{cell.mark(self.version)}"
        return RUNS / (self.runs or self.name) / table / named / f"seed-{seed}"

    def recipe(self, table: str, cell: Cell, seed: int) -> TrainingConfig:
        """The recipe with the places of word vectors, in DATA, and of the run that it builds on."""
        places = dict(cell.settings)
        if cell.recipe.word_vectors is not None:
            places["word_vectors"] = str(DATA / cell.recipe.word_vectors)
        if cell.other is not None:
            places["attention"] = f"{cell.relation}:{self.folder(table, cell.other, seed)}"
        return cell.recipe.with_settings(places) if places else cell.recipe

    def ensure_run(self, table: str, cell: Cell, seed: int) -> Path:
        """The run of a cell with a seed, which is trained unless it is there."""
        out = self.folder(table, cell, seed)
        if not out.exists():
            if cell.other is not None:
                self.ensure_run(table, cell.other, seed)
            about = {"source": cell.data.source(), "callbacks": self.callbacks(cell)}
            train(loaded(cell.data), self.recipe(table, cell, seed), out, seed=seed, overwrite=True, **about)
        return out

    def number(self, table: str, cell: Cell, seed: int) -> dict[str, Any]:
        """Train one cell with one seed, unless its run is there, and take what the tables need."""
        return self.summary(self.ensure_run(table, cell, seed)) | {"recipe": cell.mark(self.version)}

    def run(self, table: str, processes: int = 1) -> None:
        """Train everything that is not there yet; an interrupted training begins again.

        What builds on other runs is trained after them, seed by seed.
        """
        cells = {key(*each): each for each in self.cells(table)}
        builds = any(cell.other for cell, _ in cells.values())
        measure_missing(
            self.name,
            table,
            {name: partial(self.number, table, *each) for name, each in cells.items()},
            processes,
            is_current=lambda name, entry: entry.get("recipe") == cells[name][0].mark(self.version),
            turn=lambda name: (cells[name][1], cells[name][0].depth) if builds else (),
        )


ALWAYS_TOLD = (
    "text_column",
    "label_column",
    "classes",
    "labels",
    "task",
    "max_examples",
    "split_seed",
    "dev_fraction",
    "generator",
)
"""The options of reading that a number has been valid for from the first on."""


def told_options(options: LoadOptions) -> dict[str, Any]:
    """How data are read, without the options that came later and that nobody chose: what was trained before
    there were any stays known."""
    usual = asdict(LoadOptions())
    chosen = asdict(options).items()
    return {name: value for name, value in chosen if name in ALWAYS_TOLD or value != usual[name]}


CACHE: dict[tuple[str, str], Any] = {}


def loaded(data: Set) -> Any:
    """The data, read once in a process as long as it stays with them."""
    name = (data.folder, json.dumps(asdict(data.options), sort_keys=True))
    if name not in CACHE:
        CACHE.clear()
        CACHE[name] = data.read()
    return CACHE[name]


def key(cell: Cell, seed: int) -> str:
    """The name of a number in the file of a table."""
    return f"{cell.name} | {seed}"

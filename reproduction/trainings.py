"""Trainings of many cells with many seeds, whose numbers are kept in a JSON file per table.

A study names its tables; `main` trains what is missing, PROCESSES (default 1) at a time. The data are read
from the folder GLASSHEAD_DATA (default ../shared/data beside the checkout). What is trained stays in
runs/STUDY, and is trained again only if its recipe has changed.
"""

import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "passive")

from joblib import Parallel, delayed
from scipy.stats import sem
from scipy.stats import t as student

from glasshead.data import DATASETS, LoadOptions, load
from glasshead.training import TrainingConfig, train

HERE = Path(__file__).parent
DATA = Path(os.environ.get("GLASSHEAD_DATA", HERE.parents[2] / "shared" / "data"))


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
        data = asdict(self.data)
        if data["options"]["marks_column"] is None:  # came later: what was trained without it stays known
            del data["options"]["marks_column"]
        other = [] if self.other is None else [self.relation, self.other.mark(version)]
        other += [self.settings] if self.settings else []
        told = json.dumps([version, self.recipe.as_dict(), data, *other], sort_keys=True)
        return hashlib.sha256(told.encode()).hexdigest()[:8]


@dataclass(frozen=True)
class Study:
    """Tables of cells, what they take from a run, and callbacks of its training.

    ``version`` is raised when the code changes what a recipe trains; ``usual`` are the tables that are
    trained when none is named. ``runs`` is the study whose runs it reads, if these are not its own.
    """

    name: str
    tables: dict[str, list[Cell]]
    summary: Callable[[Path], dict[str, Any]]
    version: int = 1
    usual: Sequence[str] = ()
    callbacks: Callable[[Cell], list[Any]] = lambda cell: []
    runs: str = ""

    def read(self, table: str) -> dict[str, Any]:
        """What is known of a table."""
        path = HERE / self.name / f"{table}.json"
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}

    def write(self, table: str, values: dict[str, Any]) -> None:
        """A line per number, in the order of the table, for people who compare."""
        folder = HERE / self.name
        folder.mkdir(exist_ok=True)
        order = [key(*each) for each in self.cells(table)]
        lines = [f"{json.dumps(each)}: {json.dumps(values[each])}" for each in order if each in values]
        (folder / f"{table}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")

    def cells(self, table: str) -> Iterator[tuple[Cell, int]]:
        """Every cell with every seed, seed by seed, so that an unfinished table is a fair one."""
        for seed in range(max(cell.seeds for cell in self.tables[table])):
            for cell in self.tables[table]:
                if seed < cell.seeds:
                    yield cell, seed

    def known(self, table: str) -> dict[str, dict[int, dict[str, Any]]]:
        """The numbers of the recipes as they are now: cell → seed → numbers."""
        values, found = self.read(table), {}
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
        return HERE.parents[1] / "runs" / (self.runs or self.name) / table / named / f"seed-{seed}"

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

    def number(self, table: str, cell: Cell, seed: int) -> tuple[str, str, dict[str, Any]]:
        """Train one cell with one seed, unless its run is there: its table, its key, what the tables need."""
        found = rounded(self.summary(self.ensure_run(table, cell, seed)))
        return table, key(cell, seed), found | {"recipe": cell.mark(self.version)}

    def run(self, tables: Sequence[str]) -> None:
        """Train everything that is not there yet; an interrupted training begins again."""
        values = {table: self.read(table) for table in tables}
        jobs = [(table, *each) for table in tables for each in self.missing(table)]
        parallel = Parallel(int(os.environ.get("PROCESSES", 1)), return_as="generator_unordered")
        for _, together in groupby(jobs, lambda job: self.turn(*job)):
            for table, entry, found in parallel(delayed(self.number)(*job) for job in list(together)):
                values[table][entry] = found
                self.write(table, values[table])
                print(table, entry, json.dumps(found)[:120], flush=True)

    def turn(self, table: str, cell: Cell, seed: int) -> tuple[Any, ...]:
        """What is trained at the same time has the same turn: everything, unless runs build on others."""
        return (table, seed, cell.depth) if any(each.other for each in self.tables[table]) else ()


def t_half(values: Any, among: int = 1) -> float:
    """Half the width of the 95 % interval of Student's t around the mean over seeds; NaN for one.

    ``among`` such intervals are all right with that probability (Bonferroni).
    """
    return (
        float(sem(values) * student.ppf(1 - 0.025 / among, len(values) - 1))
        if len(values) > 1
        else float("nan")
    )


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


def rounded(value: Any) -> Any:
    """Five decimals: more is noise in a file that people compare."""
    if isinstance(value, float):
        return round(value, 5)
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    return [rounded(each) for each in value] if isinstance(value, list | tuple) else value


def main(study: Study, usage: str | None) -> None:
    """run [TABLE …]"""
    names = sys.argv[2:]
    if sys.argv[1:2] != ["run"] or not set(names) <= set(study.tables):
        sys.exit(f"{usage}\nTABLE: {', '.join(study.tables)}")
    study.run(names or study.usual or list(study.tables))

"""A study: tables of numbers, each a JSON file, how they are measured, and the pages that they make."""

import ast
import importlib
import json
import os
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

HERE = Path(__file__).parent
ROOT = HERE.parent
PAGES = ROOT / "docs" / "reproduction"
TABLES = HERE / "tables"
RUNS = ROOT / "runs"
DATA = Path(os.environ.get("GLASSHEAD_DATA", ROOT.parent / "shared" / "data"))
Numbers = dict[str, Any]
Measure = Callable[[int], None]
"""Measures what is missing of a table, in so many processes."""


@dataclass(frozen=True)
class Study:
    """``pages`` are the parts of pages that it writes, block by block, ``draw`` draws their pictures, and
    ``usual`` are the tables that are measured when none is named (else all)."""

    name: str
    tables: Mapping[str, Measure]
    pages: Mapping[str, Callable[[], Iterable[str]]]
    draw: Callable[[], None] = lambda: None
    usual: Sequence[str] = ()

    def measure(self, tables: Sequence[str] = (), processes: int = 1) -> int:
        """Measure what is missing of some tables. What fails raises, so none fails in silence."""
        for table in tables or self.usual or self.tables:
            self.tables[table](processes)
        return 0

    def page(self, name: str) -> str:
        """What stands in the file of a page."""
        head = f"<!-- Written by `python -m reproduction {self.name}`: do not edit. -->"
        return "\n\n".join([head, *self.pages[name]()]) + "\n"

    def write(self) -> list[Path]:
        """Write the pages of what was measured, and draw."""
        paths = [TABLES / f"{name}.md" for name in self.pages]
        for path in paths:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self.page(path.stem), encoding="utf-8")
        self.draw()
        return paths


def studies() -> dict[str, str]:
    """Name → what it asks, the first sentence of its folder. Nothing is imported."""
    files = sorted(HERE.glob("*/__init__.py"))
    return {path.parent.name: question(path) for path in files}


def question(path: Path) -> str:
    """The first paragraph of the docstring of a file, in one line."""
    said = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(said.split("\n\n")[0].split())


def load_study(name: str) -> Any:
    """A `Study`, or one of the same methods, by its name."""
    return importlib.import_module(f"reproduction.{name}").STUDY


def file_of(study: str, table: str) -> Path:
    """Where the numbers of a table are."""
    return HERE / study / f"{table}.json"


def read_numbers(study: str, table: str) -> Numbers:
    """What is known of a table."""
    path = file_of(study, table)
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def write_numbers(study: str, table: str, values: Numbers) -> None:
    """A line per number, for people who compare."""
    path = file_of(study, table)
    path.parent.mkdir(exist_ok=True)
    lines = [f"{json.dumps(key)}: {json.dumps(entry)}" for key, entry in values.items()]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def measure_missing(
    study: str,
    table: str,
    jobs: Mapping[str, Callable[[], Any]],
    processes: int = 1,
    *,
    is_current: Callable[[str, Any], bool] = lambda key, entry: True,
    turn: Callable[[str], Hashable] = lambda key: (),
    digits: int | None = 5,
) -> None:
    """Do the jobs of a table whose numbers are not there, or not current, and write each down at once.

    ``jobs`` has all of them, in the order of the table. Those of one ``turn`` that follow each other are done
    at the same time. Numbers get so many ``digits`` after the point (None: all that they have).
    """
    known = read_numbers(study, table)
    values = {key: known[key] for key in jobs if key in known and is_current(key, known[key])}
    missing = [key for key in jobs if key not in values]
    parallel = Parallel(processes, return_as="generator_unordered")
    for _, together in groupby(missing, turn):
        for key, entry in parallel(delayed(done)(key, jobs[key]) for key in list(together)):
            values[key] = entry if digits is None else rounded(entry, digits)
            write_numbers(study, table, {each: values[each] for each in jobs if each in values})
            print(table, key, json.dumps(values[key])[:120], flush=True)


def done(key: str, job: Callable[[], Any]) -> tuple[str, Any]:
    """A job with its key."""
    return key, job()


def rounded(value: Any, digits: int = 5) -> Any:
    """So many decimals: more is noise in a file that people compare."""
    if isinstance(value, float):
        return round(value, digits)
    if isinstance(value, Mapping):
        return {key: rounded(each, digits) for key, each in value.items()}
    return [rounded(each, digits) for each in value] if isinstance(value, list | tuple) else value


def picture(name: str) -> Path:
    """Where a picture of the pages is saved."""
    path = PAGES / "images" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    return path

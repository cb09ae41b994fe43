"""A snapshot of a model in training, and the file that holds it until the training is whole."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasshead.papers.results import ADDED, CURVES, PRODUCTS, RATE, Columns

CurveRow = tuple[str, str, float, float, int]
"""Quantity, group, mean, std, n."""
BoxRow = tuple[str, str, float, float, float, float, float, float, int]
"""Of what, pair of groups, minimum, quartiles, maximum, mean, n."""
ColumnNumbers = dict[str, NDArray[Any]]
ROWS_PER_PIECE = 100_000
"""Rows of tokens that are put together at once, at least those of one snapshot."""


@dataclass(frozen=True)
class Snapshot:
    """A model at one step.

    ``tokens`` are columns over the followed tokens; ``rates`` those of the terms of the flow, by name and per
    unit of τ; ``added`` what the terms have added up to since the start, where that has a meaning.
    """

    curves: list[CurveRow]
    products: list[BoxRow] = field(default_factory=list)
    tokens: ColumnNumbers = field(default_factory=dict)
    rates: ColumnNumbers = field(default_factory=dict)
    added: ColumnNumbers = field(default_factory=dict)

    def columns(self) -> ColumnNumbers:
        """All columns over tokens, in one file's names."""
        rates = {RATE + name: column for name, column in self.rates.items()}
        return self.tokens | rates | {ADDED + name: column for name, column in self.added.items()}


def mean_curve(quantity: str, group: str, values: NDArray[Any]) -> list[CurveRow]:
    """Mean, standard deviation (n − 1; of one value NaN) and n of values; no curve of nothing."""
    if not len(values):
        return []
    spread = float(values.std(ddof=1)) if len(values) > 1 else float("nan")
    return [(quantity, group, float(values.mean()), spread, len(values))]


def snapshot_path(folder: Path, step: int) -> Path:
    """Where the snapshot at a step lies."""
    return folder / f"look-{step:09}.npz"


def steps_in(folder: Path) -> list[int]:
    """The steps of which there is a snapshot."""
    return sorted(int(path.stem.removeprefix("look-")) for path in folder.glob("look-*.npz"))


def write_snapshot(folder: Path, step: int, snapshot: Snapshot) -> None:
    """Write a snapshot beside its place and rename it: a kill leaves a whole snapshot or none."""
    path = snapshot_path(folder, step)
    temporary = path.with_suffix(".tmp")
    columns: dict[str, Any] = snapshot.columns()
    with temporary.open("wb") as file:
        np.savez(file, curves=json.dumps([snapshot.curves, snapshot.products]), **columns)
    temporary.replace(path)


def read_curves(folder: Path, step: int) -> Snapshot:
    """A snapshot without its columns over tokens."""
    with np.load(snapshot_path(folder, step)) as file:  # which reads what is asked for
        curves, products = json.loads(str(file["curves"]))
    return Snapshot([tuple(row) for row in curves], [tuple(row) for row in products])


def read_snapshot(folder: Path, step: int) -> Snapshot:
    """A snapshot as it was written."""
    with np.load(snapshot_path(folder, step)) as file:
        columns = {name: file[name] for name in file.files if name != "curves"}
    bare = read_curves(folder, step)
    return Snapshot(
        bare.curves,
        bare.products,
        {name: column for name, column in columns.items() if not name.startswith((RATE, ADDED))},
        {name.removeprefix(RATE): column for name, column in columns.items() if name.startswith(RATE)},
        {name.removeprefix(ADDED): column for name, column in columns.items() if name.startswith(ADDED)},
    )


def merge_snapshots(folder: Path, token_facts: Columns) -> dict[str, Iterable[Columns]]:
    """All snapshots as the tables of a history, in pieces; ``token_facts`` are columns over the followed
    tokens that do not change."""
    steps = steps_in(folder)
    curves: list[tuple[Any, ...]] = []
    products: list[tuple[Any, ...]] = []
    for step in steps:
        snapshot = read_curves(folder, step)
        curves += [(step, *row) for row in snapshot.curves]
        products += [(step, *row) for row in snapshot.products]
    return {
        "curves": [as_columns(CURVES, curves)],
        "products": [as_columns(PRODUCTS, products)],
        "tokens": token_columns(folder, steps, token_facts) if token_facts else [{}],
    }


def token_columns(folder: Path, steps: Sequence[int], token_facts: Columns) -> Iterator[Columns]:
    """The rows of the followed tokens, those of some snapshots at a time, so that a long training of many
    tokens takes no more memory than a short one."""
    size = len(next(iter(token_facts.values())))
    at_once = max(ROWS_PER_PIECE // max(size, 1), 1)
    for start in range(0, len(steps), at_once):
        some = steps[start : start + at_once]
        parts = [read_snapshot(folder, step).columns() for step in some]
        constant = {name: np.tile(column, len(some)) for name, column in token_facts.items()}
        changing = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        yield {"step": np.repeat(some, size)} | constant | changing


def as_columns(names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> Columns:
    """Rows as columns."""
    return {name: np.array([row[number] for row in rows]) for number, name in enumerate(names)}

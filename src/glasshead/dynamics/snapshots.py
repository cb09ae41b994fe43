"""One look at a model in training, and the file that keeps it until the training is whole."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasshead.results import ADDED, CURVES, PRODUCTS, RATE, Columns

Curve = tuple[str, str, float, float, int]
"""Quantity, group, mean, std, n."""
Box = tuple[str, str, float, float, float, float, float, float, int]
"""Of what, pair of groups, minimum, quartiles, maximum, mean, n."""
Numbers = dict[str, NDArray[Any]]
ROWS = 100_000
"""Rows of tokens that are put together at once, at least those of one look."""


@dataclass(frozen=True)
class Snapshot:
    """What was seen at one step.

    ``tokens`` are columns over the followed tokens; ``rates`` those of the terms of the flow, by name and per
    unit of τ; ``added`` what the terms have added up to since the start, where that has a meaning.
    """

    curves: list[Curve]
    products: list[Box] = field(default_factory=list)
    tokens: Numbers = field(default_factory=dict)
    rates: Numbers = field(default_factory=dict)
    added: Numbers = field(default_factory=dict)

    def columns(self) -> Numbers:
        """All columns over tokens, in one file's names."""
        rates = {RATE + name: each for name, each in self.rates.items()}
        return self.tokens | rates | {ADDED + name: each for name, each in self.added.items()}


def curve_of(quantity: str, group: str, values: NDArray[Any]) -> list[Curve]:
    """Mean, standard deviation (n − 1; of one value NaN) and n of what was seen; no curve of nothing."""
    if not len(values):
        return []
    spread = float(values.std(ddof=1)) if len(values) > 1 else float("nan")
    return [(quantity, group, float(values.mean()), spread, len(values))]


def path_of(folder: Path, step: int) -> Path:
    """Where the look at a step lies."""
    return folder / f"look-{step:09}.npz"


def steps_in(folder: Path) -> list[int]:
    """The steps of which there is a look."""
    return sorted(int(each.stem.removeprefix("look-")) for each in folder.glob("look-*.npz"))


def write_snapshot(folder: Path, step: int, look: Snapshot) -> None:
    """Aside and then renamed: a kill leaves a whole look or none."""
    path = path_of(folder, step)
    aside = path.with_suffix(".tmp")
    columns: dict[str, Any] = look.columns()
    with aside.open("wb") as file:
        np.savez(file, curves=json.dumps([look.curves, look.products]), **columns)
    aside.replace(path)


def read_reported_losses(folder: Path, step: int) -> Snapshot:
    """A look without its columns over tokens."""
    with np.load(path_of(folder, step)) as file:  # which reads what is asked for
        curves, products = json.loads(str(file["curves"]))
    return Snapshot([tuple(row) for row in curves], [tuple(row) for row in products])


def read_snapshot(folder: Path, step: int) -> Snapshot:
    """A look as it was written."""
    with np.load(path_of(folder, step)) as file:
        columns = {name: file[name] for name in file.files if name != "curves"}
    told = read_reported_losses(folder, step)
    return Snapshot(
        told.curves,
        told.products,
        {name: each for name, each in columns.items() if not name.startswith((RATE, ADDED))},
        {name.removeprefix(RATE): each for name, each in columns.items() if name.startswith(RATE)},
        {name.removeprefix(ADDED): each for name, each in columns.items() if name.startswith(ADDED)},
    )


def merge_snapshots(folder: Path, about: Columns) -> dict[str, Iterable[Columns]]:
    """All looks as the tables of a history, in pieces; ``about`` are columns over the followed tokens that do
    not change."""
    steps = steps_in(folder)
    curves: list[tuple[Any, ...]] = []
    products: list[tuple[Any, ...]] = []
    for step in steps:
        look = read_reported_losses(folder, step)
        curves += [(step, *row) for row in look.curves]
        products += [(step, *row) for row in look.products]
    return {
        "curves": [columns_of(CURVES, curves)],
        "products": [columns_of(PRODUCTS, products)],
        "tokens": tokens_of(folder, steps, about) if about else [{}],
    }


def tokens_of(folder: Path, steps: Sequence[int], about: Columns) -> Iterator[Columns]:
    """The rows of the followed tokens, those of some looks at a time, so that a long training of many tokens
    takes no more memory than a short one."""
    size = len(next(iter(about.values())))
    at_once = max(ROWS // max(size, 1), 1)
    for start in range(0, len(steps), at_once):
        some = steps[start : start + at_once]
        parts = [read_snapshot(folder, step).columns() for step in some]
        constant = {name: np.tile(each, len(some)) for name, each in about.items()}
        changing = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        yield {"step": np.repeat(some, size)} | constant | changing


def columns_of(names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> Columns:
    """Rows as columns."""
    return {name: np.array([row[place] for row in rows]) for place, name in enumerate(names)}

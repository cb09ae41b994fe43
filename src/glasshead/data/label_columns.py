"""Inputs that have any number of labels → rows of inputs that are asked about one label: yes or no."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from glasshead.arrays import Flags
from glasshead.data.in_memory import cells_of
from glasshead.data.load import ALL_SPLITS, dataset_of
from glasshead.data.options import LoadOptions
from glasshead.data.read import Columns
from glasshead.data.resolve import resolve_source
from glasshead.data.schema import Table, tabulate
from glasshead.errors import InputError
from glasshead.registry import did_you_mean
from glasshead.spelling import spell

if TYPE_CHECKING:
    from datasets import Dataset, DatasetDict

NO, YES = "no", "yes"
QUESTION = "question"
"""The column of the label that a row is asked about."""
PLACE, RANK = "place in the data", "rank in the data"
"""Columns of inputs of which some were left out: where each was in the data, and in their random order."""
LABEL_COLUMNS = ("labels", "label")
"""What columns of lists of labels are called."""
TRUTHS = {"0": False, "1": True, "false": False, "true": True, "no": False, "yes": True}
SEPARATORS = re.compile(r"\s*[,;|]\s*")
"""What stands between the labels of a cell of a table."""


def read_questions(
    source: str | Path | Dataset | DatasetDict,
    split: str,
    names: Sequence[str],
    options: LoadOptions,
    columns: Sequence[str] = (),
    *,
    asked: Sequence[str] | None = None,
    seed: int = 0,
) -> Dataset:
    """The inputs of a split, each asked about one of the labels ``names``, or of those that are ``asked``:
    with even chances one that it has or one that it lacks, drawn by the seed and its place in the data.

    Labels stand in a column of lists (of names, numbers, or a 0 or 1 for each label), or in a column for each
    label with 0 or 1.

    Raises:
        InputError: if there is no such split, and if its labels cannot be read.
    """
    found = columns_of(source, split)
    values = found.values
    size = len(next(iter(values.values()), ()))
    has = labels_of_rows(found, names, options, size)
    kept = {name: cells for name, cells in values.items() if name != "label"} | {"label": [NO] * size}
    coded = {name: codes for name, codes in found.coded.items() if name != "label"}
    plain = replace(options, label_column=None)
    extra = [name for name in columns if name != QUESTION]
    table = tabulate(replace(found, values=kept, coded=coded), plain, extra)
    numbers = [place_of(name, names) for name in asked or names]
    rows = ask_each(table, [names[number] for number in numbers], has[:, numbers], seed)
    return dataset_of(rows, (NO, YES), f"asked about labels with seed {seed}")


def place_of(name: str, names: Sequence[str]) -> int:
    """The number of a label.

    Raises:
        InputError: if there is no such label.
    """
    if name not in names:
        raise InputError(f"the model has no label {name!r}: {did_you_mean(name, names)}")
    return names.index(name)


def columns_of(source: str | Path | Dataset | DatasetDict, split: str) -> Columns:
    """The raw columns of a split.

    Raises:
        InputError: if there is no such split.
    """
    if not isinstance(source, str | Path):
        if isinstance(source, Mapping):
            if split not in source:
                raise InputError(f"the data set has no split {split!r}: {did_you_mean(split, list(source))}")
            source = source[split]
        return cells_of(source)
    by_split, is_one = resolve_source(source)
    if split == ALL_SPLITS:
        first, *others = by_split.values()
        for other in others:
            cells = {name: [*first.values[name], *other.values.get(name, ())] for name in first.values}
            first = replace(first, values=cells)
        return first
    if is_one:
        raise InputError(f"{source} has no splits: leave {spell('split')} out")
    if split not in by_split:
        raise InputError(f"{source} has no split {split!r}: {did_you_mean(split, [*by_split, ALL_SPLITS])}")
    return by_split[split]


def labels_of_rows(columns: Columns, names: Sequence[str], options: LoadOptions, size: int) -> Flags:
    """Which labels each row has [rows, labels].

    Raises:
        InputError: if there are none, or with the row of one that cannot be read.
    """
    cells = columns.values
    wanted = LABEL_COLUMNS if options.label_column is None else (options.label_column,)
    for name in wanted:
        if name in cells:
            return labels_of_lists(columns.source, name, cells[name], names)
    if options.label_column is None:
        own = {column.casefold(): column for column in cells}
        found = [own.get(name.casefold()) for name in names]
        if any(found):
            missing = [name for name, column in zip(names, found, strict=True) if column is None]
            if missing:
                raise InputError(
                    f"{columns.source} has columns for some labels of the model and none for {missing[0]!r}: "
                    "add it, or give lists of labels in a column 'labels'"
                )
            return np.array(
                [truths(columns.source, str(column), cells[str(column)]) for column in found], dtype=bool
            ).T.reshape(size, len(names))
    raise InputError(
        f"{columns.source} has no column of labels (it has: {', '.join(cells)}): give a list of labels in "
        f"each row as {spell('label_column')}, or a column of 0 and 1 for each label"
    )


def truths(source: str, name: str, values: Sequence[Any]) -> list[bool]:
    """A column of yes and no.

    Raises:
        InputError: with the row of anything else.
    """
    known = []
    for row, value in enumerate(values, start=1):
        word = str(int(value)) if is_truth(value) else str(value).strip().lower()
        if word not in TRUTHS:
            raise InputError(f"{source} row {row} has {value!r} for the label {name!r}: write 0 or 1")
        known.append(TRUTHS[word])
    return known


def labels_of_lists(source: str, column: str, values: Sequence[Any], names: Sequence[str]) -> Flags:
    """Which labels stand in each list of a column: names, numbers, or a 0 or 1 for each.

    Raises:
        InputError: with the row of what is none.
    """
    rows = [listed(value) for value in values]
    has = np.zeros((len(rows), len(names)), dtype=bool)
    numbers = {name.casefold(): number for number, name in enumerate(names)}
    by_place = all(len(own) == len(names) and all(is_truth(one) for one in own) for own in rows)
    for row, own in enumerate(rows):
        for place, label in enumerate(own):
            if by_place:
                has[row, place] = bool(float(label))
                continue
            number = number_of(label, numbers)
            if number is None:
                raise InputError(
                    f"{source} row {row + 1} has {label!r} in the column {column!r}, which is no label of "
                    f"the model: {did_you_mean(str(label), names)}"
                )
            has[row, number] = True
    return has


def listed(value: Any) -> list[Any]:
    """The labels of a cell; those of a text stand between commas, semicolons or bars."""
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return []
    if isinstance(value, str):
        return [part for part in SEPARATORS.split(value.strip()) if part]
    return list(value) if isinstance(value, list | tuple | np.ndarray) else [value]


def is_truth(value: Any) -> bool:
    """Whether a value is 0 or 1."""
    return not isinstance(value, str) and value in (0, 1)


def number_of(label: Any, numbers: Mapping[str, int]) -> int | None:
    """The number of a label by its name, whatever its case, or by its number."""
    known = numbers.get(str(label).casefold())
    if known is not None:
        return known
    text = str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)
    return int(text) if text.isdecimal() and int(text) < len(numbers) else None


def ask_each(table: Table, names: Sequence[str], has: Flags, seed: int) -> Table:
    """The rows of a table, each asked about one label, with whether it has it."""
    asked = [draw_label(has[row - 1], seed, row) for row in table.rows]
    true = [bool(has[row - 1][number]) for row, number in zip(table.rows, asked, strict=True)]
    return replace(
        table,
        label=[YES if one else NO for one in true],
        order=(NO, YES),
        extra=table.extra | {QUESTION: [names[number] for number in asked]},
    )


def draw_label(has: NDArray[np.bool_], seed: int, row: int) -> int:
    """One label: with even chances one of those that a row has, or of the others, if there are both."""
    random = np.random.default_rng([seed, row])
    kinds = [kind for kind in (np.flatnonzero(has), np.flatnonzero(~has)) if len(kind)]
    return int(random.choice(kinds[random.integers(len(kinds))]))

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
from glasshead.data.load import ALL_SPLITS, dataset_of, part_of
from glasshead.data.options import LoadOptions
from glasshead.data.read import DEFAULTS, Columns
from glasshead.data.resolve import resolve_source
from glasshead.data.schema import Table, tabulate
from glasshead.errors import InputError, ParameterError
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
TRUTHS = {"false": False, "true": True, "no": False, "yes": True} | {
    word: word.startswith("1") for word in ("0", "1", "0.0", "1.0")
}
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
    """The inputs of a split, each about one of the labels ``names``, or of those in ``asked``: as often
    one that it has as one that it lacks, where there are both, drawn by the seed and its place in the data.

    Labels are in a column of lists (of names, numbers, or a 0 or 1 for each label), or in a column for each
    label with 0 or 1.

    Raises:
        InputError: if there is no such split, and if its labels cannot be read.
    """
    found = columns_of(source, split, options)
    values = found.values
    size = len(next(iter(values.values()), ()))
    has = labels_of_rows(found, names, options, size)
    if QUESTION in columns and QUESTION in values:
        raise InputError(f"{found.source} already has a column {QUESTION!r}: rename it to slice by it")
    extra = [name for name in columns if name != QUESTION]
    table = tabulate_with(found, [NO] * size, options, extra)
    numbers = [require_label(name, names) for name in asked or names]
    rows = ask_each(table, [names[number] for number in numbers], has[:, numbers], seed)
    return dataset_of(rows, (NO, YES), f"about labels drawn with seed {seed}")


def tabulate_with(
    columns: Columns, labels: Sequence[Any], options: LoadOptions, extra: Sequence[str]
) -> Table:
    """The rows of a source with these labels instead of its own."""
    values = {name: cells for name, cells in columns.values.items() if name != "label"}
    coded = {name: codes for name, codes in columns.coded.items() if name != "label"}
    labelled = replace(columns, values=values | {"label": list(labels)}, coded=coded)
    return tabulate(labelled, replace(options, label_column=None), extra)


def require_label(name: str, names: Sequence[str]) -> int:
    """The number of a label.

    Raises:
        InputError: if there is no such label.
    """
    if name not in names:
        raise InputError(f"the model has no label {name!r}: {did_you_mean(name, names)}")
    return names.index(name)


def refuse_choices(options: LoadOptions) -> None:
    """Refuse what is for texts that have one class each.

    Raises:
        ParameterError: if classes are chosen, or marks of people named.
    """
    for name in ("classes", "marks_column"):
        if getattr(options, name):
            raise ParameterError(name, "is for texts with one class each: leave it out")


def columns_of(
    source: str | Path | Dataset | DatasetDict, split: str, options: LoadOptions = DEFAULTS
) -> Columns:
    """The raw columns of a split, or of all splits one behind the other.

    Raises:
        InputError: if there is no such split.
    """
    if isinstance(source, str | Path):
        by_split, is_one = resolve_source(source, options)
        if is_one and split != ALL_SPLITS:
            raise InputError(f"{source} has no splits: leave {spell('split')} out")
    elif isinstance(source, Mapping):
        by_split = {name: cells_of(rows) for name, rows in source.items()}
    else:
        return cells_of(source)
    if split == ALL_SPLITS:
        return joined(list(by_split.values()))
    return part_of(by_split, split, source if isinstance(source, str | Path) else "the data set")


def joined(parts: Sequence[Columns]) -> Columns:
    """The rows of several tables; None where one lacks a column of another."""
    names = dict.fromkeys(name for part in parts for name in part.values)
    sizes = [len(next(iter(part.values.values()), ())) for part in parts]
    values = {
        name: [
            cell
            for part, size in zip(parts, sizes, strict=True)
            for cell in part.values.get(name, [None] * size)
        ]
        for name in names
    }
    coded = {name: codes for part in reversed(parts) for name, codes in part.coded.items()}
    return Columns(parts[0].source, values, coded)


def labels_of_rows(columns: Columns, names: Sequence[str], options: LoadOptions, size: int) -> Flags:
    """Which labels each row has [rows, labels].

    Raises:
        InputError: if there are none, or with the row of one that cannot be read.
    """
    cells = columns.values
    wanted = LABEL_COLUMNS if options.label_column is None else (options.label_column,)
    for name in wanted:
        if name in cells:
            has = labels_of_lists(columns, name, names)
            if not has.any():
                raise InputError(
                    f"{columns.source} has no label in the column {name!r}: give rows that have some"
                )
            return has
    if options.label_column is None:
        own = {column.casefold(): column for column in cells}
        found = [own.get(name.casefold()) for name in names]
        if any(found):
            missing = [name for name, column in zip(names, found, strict=True) if column is None]
            if missing:
                raise InputError(
                    f"{columns.source} has columns for some labels of the model but none for "
                    f"{missing[0]!r}: add it, or give lists of labels in a column 'labels'"
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
        if not is_flag(value):
            raise InputError(f"{source} row {row} has {value!r} for the label {name!r}: write 0 or 1")
        known.append(TRUTHS[word_of(value)])
    return known


def labels_of_lists(columns: Columns, column: str, names: Sequence[str]) -> Flags:
    """Which labels stand in each list of a column: names, numbers, or a 0 or 1 for each label.

    They are flags if every row that is not empty has one for each label. Numbers are places in the names that
    the data have for them, else in those of the model.

    Raises:
        InputError: with the row of what is none, or stands there twice.
    """
    coded = columns.coded.get(column)
    rows = [listed(value, names) for value in columns.values[column]]
    if coded is not None:
        rows = [[coded[label] if isinstance(label, int) else label for label in own] for own in rows]
    has = np.zeros((len(rows), len(names)), dtype=bool)
    are_flags = all(len(own) == len(names) and all(map(is_flag, own)) for own in rows if own)
    for row, own in enumerate(rows):
        if are_flags:
            has[row, : len(own)] = [TRUTHS[word_of(label)] for label in own]
            continue
        for label in own:
            number = label_number(label, names)
            if number is None or has[row, number]:
                meant = f"which is not a label of the model: {did_you_mean(str(label), names)}"
                raise InputError(
                    f"{columns.source} row {row + 1} has {label!r} in the column {column!r}, "
                    f"{meant if number is None else 'twice'}"
                )
            has[row, number] = True
    return has


def listed(value: Any, names: Sequence[str]) -> list[Any]:
    """The labels of a cell; those of a text stand between commas, semicolons or bars, perhaps in brackets."""
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return []
    if isinstance(value, str):
        if value.strip() in names:
            return [value.strip()]
        parts = SEPARATORS.split(value.strip().strip("[]"))
        return [part for part in (part.strip(" '\"") for part in parts) if part]
    return list(value) if isinstance(value, list | tuple | np.ndarray) else [value]


def word_of(value: Any) -> str:
    """A cell as a word, in lower case: “1” of 1, 1.0 and True."""
    is_number = isinstance(value, int | float) and value in (0, 1)
    return str(int(value)) if is_number else str(value).strip().lower()


def is_flag(value: Any) -> bool:
    """Whether a cell says yes or no."""
    return word_of(value) in TRUTHS


def label_number(label: Any, names: Sequence[str]) -> int | None:
    """The number of a label: of a text by its name, if there is none by its name in another case, else by the
    number that it is."""
    if isinstance(label, str):
        folded = [name.casefold() for name in names]
        if label in names:
            return names.index(label)
        if folded.count(label.casefold()) == 1:
            return folded.index(label.casefold())
    text = str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)
    return int(text) if text.isdecimal() and int(text) < len(names) else None


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

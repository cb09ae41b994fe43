"""Inputs that have several ratings → rows with one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshead.data.label_columns import LABEL_COLUMNS, columns_of, tabulate_with
from glasshead.data.load import dataset_of
from glasshead.data.options import LoadOptions
from glasshead.data.read import Columns
from glasshead.errors import InputError
from glasshead.spelling import spell

if TYPE_CHECKING:
    from datasets import Dataset, DatasetDict


def read_ratings(
    source: str | Path | Dataset | DatasetDict,
    split: str,
    names: Sequence[str],
    number: int,
    options: LoadOptions,
    columns: Sequence[str] = (),
) -> Dataset:
    """The inputs of a split with one of the ratings ``names`` as their label.

    Ratings are in a column of lists, or in a column for each.

    Raises:
        InputError: if there is no such split, and if its ratings cannot be read.
    """
    found = columns_of(source, split, options)
    ratings = ratings_of(found, names, number, options)
    table = tabulate_with(found, ratings, replace(options, task="regression"), columns)
    return dataset_of(table, None, f"the rating {names[number]!r}")


def ratings_of(columns: Columns, names: Sequence[str], number: int, options: LoadOptions) -> list[Any]:
    """One rating of each row.

    Raises:
        InputError: if there are none, or with the row of a list of another length.
    """
    wanted = LABEL_COLUMNS if options.label_column is None else (options.label_column,)
    lists = next((name for name in wanted if name in columns.values), None)
    if lists is not None and any(isinstance(cell, list | np.ndarray) for cell in columns.values[lists]):
        for row, cell in enumerate(columns.values[lists], start=1):
            if not isinstance(cell, list | np.ndarray) or len(cell) != len(names):
                raise InputError(
                    f"{columns.source} row {row} has not {len(names)} ratings in the column {lists!r}, one "
                    "for each output of the model"
                )
        return [cell[number] for cell in columns.values[lists]]
    own = {column.casefold(): column for column in columns.values}
    column = options.label_column or own.get(names[number].casefold())
    if column not in columns.values:
        raise InputError(
            f"{columns.source} has no column {names[number]!r} (it has: {', '.join(columns.values)}): add "
            f"it, or name the column with {spell('label_column')}"
        )
    return list(columns.values[column])

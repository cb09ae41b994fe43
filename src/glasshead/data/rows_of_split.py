"""The rows of a split, wherever the data are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from glasshead.data.in_memory import as_split
from glasshead.data.load import ALL_SPLITS, load, select_split
from glasshead.data.options import LoadOptions

if TYPE_CHECKING:
    from datasets import Dataset


def read_split(data: object, split: str, options: LoadOptions, columns: Sequence[str] = ()) -> Dataset:
    """The rows of a split, with further ``columns``.

    Raises:
        InputError: if there is no such split.
    """
    from datasets import Dataset, DatasetDict

    if isinstance(data, Dataset):
        return as_split(data, options, columns)
    if isinstance(data, DatasetDict):
        return as_split(select_split(data, split, "the data set"), options, columns)
    assert isinstance(data, str | Path)
    return select_split(load(data, options, columns=columns, divide=split != ALL_SPLITS), split, data)

"""The rows of a split, wherever the data are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from glasshead.data.in_memory import as_split
from glasshead.data.load import ALL_SPLITS, load, part_of, select_split
from glasshead.data.options import LoadOptions
from glasshead.data.unlabelled import PlainTexts, plain_splits, read_plain

if TYPE_CHECKING:
    from datasets import Dataset, DatasetDict


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


def read_plain_split(source: str | Path | DatasetDict, split: str, options: LoadOptions) -> list[PlainTexts]:
    """The texts of a split without labels; for ``all`` those of every split.

    Raises:
        InputError: if there is no such split, or a row has no text.
    """
    if isinstance(source, str | Path):
        parts = plain_splits(source, options)
    else:
        parts = {name: read_plain(rows, options) for name, rows in source.items()}
    return list(parts.values()) if split == ALL_SPLITS else [part_of(parts, split, "the data")]

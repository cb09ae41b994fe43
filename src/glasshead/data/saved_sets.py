"""A folder that `save_to_disk` of `datasets` wrote → its rows, those of each split; any rows → columns."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from glasshead.data.image_columns import with_array_images
from glasshead.data.keep_images_encoded import keep_images_encoded
from glasshead.data.read import Columns, names_of_codes
from glasshead.errors import InputError

if TYPE_CHECKING:
    from datasets import Dataset, DatasetDict

SPLITS_FILE, ROWS_FILE = "dataset_dict.json", "state.json"
"""What lies in the folder of several splits, and in that of rows."""


def is_saved_set(folder: Path) -> bool:
    """Whether `datasets` saved a data set into a folder."""
    return (folder / SPLITS_FILE).is_file() or is_saved_whole(folder)


def is_saved_whole(folder: Path) -> bool:
    """Whether a folder holds saved rows, and no splits."""
    return (folder / ROWS_FILE).is_file() and (folder / "dataset_info.json").is_file()


def load_saved_set(folder: Path) -> Dataset | DatasetDict:
    """The saved rows, or splits of them.

    Raises:
        InputError: if they cannot be read.
    """
    from datasets import load_from_disk

    try:
        return load_from_disk(folder)
    except Exception as error:  # files of rows and of facts about them are missing and break in every way
        raise InputError(f"{folder} is a damaged data set: save it again with save_to_disk") from error


def columns_of_rows(source: str, rows: Dataset) -> Columns:
    """The columns of texts, numbers, classes, images and records, and of lists of them."""
    from datasets import ClassLabel, Image, Value

    rows = with_array_images(keep_images_encoded(rows))
    kinds = {name: getattr(kind, "feature", kind) for name, kind in rows.features.items()}
    names = [name for name, kind in kinds.items() if isinstance(kind, Value | ClassLabel | Image | dict)]
    return Columns(source, {name: list(rows[name]) for name in names}, names_of_codes(rows.features))

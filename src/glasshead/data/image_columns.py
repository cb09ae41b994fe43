"""Columns of images in what somebody has in memory: Pillow, arrays, names of files, cells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from glasshead.data.pictures import (
    IMAGE_AXES,
    IMAGE_SUFFIXES,
    NAMELESS,
    Picture,
    as_picture,
    is_file,
    is_image,
    is_picture_cell,
)
from glasshead.data.pixel_arrays import is_pixel_array
from glasshead.errors import InputError

if TYPE_CHECKING:
    from datasets import Dataset

IMAGE_COLUMNS = ("image", "img")
"""What a column of images is called."""


def images_of(source: Any) -> list[Any]:
    """The images of a table, of a data set, or of a row of one; anything else is an image itself.

    Raises:
        InputError: if a table has no column of them.
    """
    is_table = hasattr(source, "columns") and hasattr(source, "itertuples")
    if is_table or (isinstance(source, Mapping) and not is_picture_cell(source)):
        name = next((name for name in IMAGE_COLUMNS if name in source), None)
        if name is not None:
            return list(source[name]) if is_table else [source[name]]
        if is_table:
            raise InputError(f"the table has no column of images: call it {IMAGE_COLUMNS[0]!r}")
    return [source]


def image_cells(columns: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
    """The columns that hold images, these as bytes of files."""
    return {
        name: as_cells(values)
        for name, values in columns.items()
        if any(map(is_image, values))
        or (name in IMAGE_COLUMNS and names_files(values))
        or (name in IMAGE_COLUMNS and "text" not in columns and any(map(has_axes, values)))
    }


def has_axes(value: Any) -> bool:
    """Whether a value is an array of more than one number."""
    return is_pixel_array(value) and len(value.shape) > 0


def add_images(rows: Dataset, columns: Mapping[str, list[Any]]) -> Dataset:
    """A data set with further columns of images."""
    from datasets import Dataset, Image

    for name, cells in columns.items():
        rows = rows.add_column(name, cells) if rows.column_names else Dataset.from_dict({name: cells})
        rows = rows.cast_column(name, Image(decode=False))
    return rows


def with_array_images(data: Dataset) -> Dataset:
    """A data set whose column of images may hold arrays: these as images.

    Raises:
        InputError: if there is no text next to them and they are not images.
    """
    for name in IMAGE_COLUMNS:
        depth = depth_of(data.features[name]) if name in data.features else 0
        if depth == IMAGE_AXES or (depth and "text" not in data.features):
            arrays = [np.asarray(values) for values in data.with_format("numpy")[name]]
            whole = [own.astype(np.uint8) if is_byte(own) else own for own in arrays]
            data = add_images(data.remove_columns(name), {name: as_cells(whole)})
    return data


def is_byte(array: Any) -> bool:
    """Whether integers are those of eight bits; a data set widens what it holds."""
    return bool(
        np.issubdtype(array.dtype, np.integer) and array.size and 0 <= array.min() <= array.max() <= 255
    )


def depth_of(feature: Any) -> int:
    """How many lists are around each number of a column."""
    if hasattr(feature, "shape"):  # Array3D
        return len(feature.shape)
    return 1 + depth_of(feature.feature) if hasattr(feature, "feature") else 0


def names_files(values: Iterable[Any]) -> bool:
    """Whether all cells are names of files of images."""
    cells = [value for value in values if value is not None]
    return bool(cells) and all(
        isinstance(cell, str | Path)
        and Path(cell).suffix.lower() in IMAGE_SUFFIXES
        and is_file(Path(cell).expanduser())
        for cell in cells
    )


def as_cells(values: Iterable[Any]) -> list[Any]:
    """Images as `datasets` keeps them; what is none stays, to be refused by its row."""
    return [None if value is None else cell_of(as_picture(value)) for value in values]


def cell_of(picture: Picture) -> dict[str, Any]:
    """A picture as `datasets` keeps it."""
    return {"bytes": picture.content, "path": None if picture.name == NAMELESS else picture.name}

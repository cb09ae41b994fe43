"""Columns of images, or of lists of these, in what somebody has in memory: Pillow, arrays, names of files,
cells."""

from __future__ import annotations

import json
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
IMAGE_LISTS = "images"
"""What a column is called whose cells are lists of images."""


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
    """The columns that hold images, or lists of them, these as bytes of files."""
    lists = {
        name: as_lists(columns[name])
        for name in (*IMAGE_COLUMNS, IMAGE_LISTS)
        if has_lists(name, columns.get(name, ()))
    }
    return lists | {
        name: as_cells(values)
        for name, values in columns.items()
        if name not in lists and has_images(name, values, beside_text="text" in columns)
    }


def has_images(name: str, values: Sequence[Any], *, beside_text: bool) -> bool:
    """Whether a column holds one image in a cell: an object or, by the name of the column, a file or array.
    An array ``beside_text`` may be anything."""
    if any(map(is_image, values)):
        return True
    if name not in IMAGE_COLUMNS:
        return False
    arrays = not beside_text and any(has_axes(one) and not is_list(one) for one in values)
    return arrays or names_files(values)


def has_lists(name: str, values: Sequence[Any]) -> bool:
    """Whether a column has lists with images that only memory holds, or lists in some of its cells alone."""
    known = [cell for cell in values if cell is not None]
    listed = sum(map(is_list, known))
    return any(lists_images(name, cell) for cell in known) or (
        0 < listed < len(known) and any(is_image(one) or isinstance(one, str | Path) for one in known)
    )


def images_in_cell(cell: Any) -> list[Any]:
    """The images of a cell: those of a list, which may be written as JSON, or the one that it is; none of an
    empty one.

    Raises:
        InputError: if a list is not JSON.
    """
    if cell is None or (isinstance(cell, float) and np.isnan(cell)):
        return []
    words = cell.strip() if isinstance(cell, str) else None
    if words == "":
        return []
    if words and words[0] == "[" and words[-1] == "]":
        try:
            return list(json.loads(words))
        except ValueError:
            raise InputError(
                f'{cell} is not JSON: write several images as ["one.png", "other.png"]'
            ) from None
    return list(cell) if is_list(cell) else [cell]


def is_list(cell: Any) -> bool:
    """Whether a cell holds a list, also as an array of objects or of images."""
    is_array = isinstance(cell, np.ndarray) and (cell.dtype == object or cell.ndim > IMAGE_AXES)
    return is_array or isinstance(cell, list | tuple)


def lists_images(name: str, cell: Any) -> bool:
    """Whether a cell of a column is a list with an image in it that only memory holds."""
    return is_list(cell) and any(
        is_image(part)
        or is_picture_cell(part)
        or isinstance(part, Path)
        or (has_axes(part) and (name == IMAGE_LISTS or len(part.shape) == IMAGE_AXES))
        for part in cell
    )


def has_axes(value: Any) -> bool:
    """Whether a value is an array of more than one number."""
    return is_pixel_array(value) and len(value.shape) > 0


def add_images(rows: Dataset, columns: Mapping[str, list[Any]]) -> Dataset:
    """A data set with further columns of images, or of lists of them."""
    from datasets import Dataset, Features, Image, List

    for name, cells in columns.items():
        lists = any(isinstance(cell, list) for cell in cells)
        kind = List(Image(decode=False)) if lists else Image(decode=False)
        alone = Dataset.from_dict({name: cells}, features=Features({name: kind}))
        rows = rows.add_column(name, cells, feature=kind) if rows.column_names else alone
    return rows


def with_array_images(data: Dataset) -> Dataset:
    """A data set whose column of images may hold arrays: these as images.

    Raises:
        InputError: if there is no text next to them and they are not images.
    """
    for name in (*IMAGE_COLUMNS, IMAGE_LISTS):
        depth = depth_of(data.features[name]) if name in data.features else 0
        if depth == IMAGE_AXES + 1:
            rows = [[*map(as_array, row or ())] for row in data.with_format(None)[name]]
            data = add_images(data.remove_columns(name), {name: as_lists(rows)})
        elif name != IMAGE_LISTS and (depth == IMAGE_AXES or (depth and "text" not in data.features)):
            arrays = map(as_array, data.with_format("numpy")[name])
            data = add_images(data.remove_columns(name), {name: as_cells(arrays)})
    return data


def as_array(values: Any) -> Any:
    """An image that a data set holds as lists of numbers."""
    array = np.asarray(values)
    return array.astype(np.uint8) if is_byte(array) else array


def is_byte(array: Any) -> bool:
    """Whether integers are those of eight bits; a data set widens what it holds."""
    return bool(
        np.issubdtype(array.dtype, np.integer) and array.size and 0 <= array.min() <= array.max() <= 255
    )


def depth_of(feature: Any) -> int:
    """How many lists are around each number of a column; 0 where it holds anything else."""
    from datasets import Value

    if hasattr(feature, "shape"):  # Array3D
        return len(feature.shape)
    lists = 0
    while hasattr(feature, "feature"):
        feature, lists = feature.feature, lists + 1
    is_number = isinstance(feature, Value) and feature.dtype not in ("string", "large_string", "binary")
    return lists if is_number else 0


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


def as_lists(cells: Iterable[Any]) -> list[list[Any]]:
    """Lists of images as `datasets` keeps them.

    Raises:
        InputError: with the row of what is not an image.
    """
    return [
        [cell_of(one) for one in read_pictures(f"the data set row {row}", cell)]
        for row, cell in enumerate(cells, 1)
    ]


def read_pictures(where: str, cell: Any, folders: Sequence[Path] = ()) -> list[Picture]:
    """The images of a cell of a row, ``where``; files may be named from one of some ``folders``.

    Raises:
        InputError: with the row of what is not an image.
    """
    try:
        sources = images_in_cell(cell)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    return [read_cell(where, source, folders) for source in sources]


def read_cell(where: str, cell: object, folders: Sequence[Path] = ()) -> Picture:
    """The one image of a cell.

    Raises:
        InputError: as `read_pictures`.
    """
    if isinstance(cell, str) and not is_file(Path(cell).expanduser()):
        cell = next((own for own in (folder / cell for folder in folders) if is_file(own)), cell)
    try:
        return as_picture(cell)
    except InputError as error:
        raise InputError(f"{where}: {error}") from error


def cell_of(picture: Picture) -> dict[str, Any]:
    """A picture as `datasets` keeps it."""
    return {"bytes": picture.content, "path": None if picture.name == NAMELESS else picture.name}

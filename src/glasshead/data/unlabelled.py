"""Inputs without labels: lines of a txt file, images of a folder, or what a table without labels holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from glasshead.data.image_folders import list_images
from glasshead.data.options import LoadOptions
from glasshead.data.pictures import read_picture
from glasshead.data.read import TREES, Columns, data_stem, read, read_utf8
from glasshead.data.schema import tabulate
from glasshead.data.trees import is_tree
from glasshead.errors import InputError

if TYPE_CHECKING:
    from datasets import Dataset


class PlainTexts(NamedTuple):
    """First and, of pairs, second texts; or images."""

    firsts: Sequence[Any]
    seconds: Sequence[str] | None


def has_lines(source: object) -> bool:
    """Whether a source is a txt file (also as .gz) of texts, one on each line, and not of labelled trees.

    Raises:
        InputError: if the file cannot be read.
    """
    if not isinstance(source, str | Path) or data_stem(Path(source), TREES) is None:
        return False
    path = Path(source)
    return path.is_file() and not any(is_tree(line) for line in lines_of(path)[:1])


def read_plain(source: Path | Dataset, options: LoadOptions) -> PlainTexts:
    """The texts, or images, of a source without labels.

    Raises:
        InputError: if there is none, or a row has no text.
    """
    if not isinstance(source, Path):
        columns = Columns("the data set", {name: list(source[name]) for name in source.column_names}, {})
    elif source.is_dir():
        return PlainTexts([read_picture(path) for path in list_images(source)], None)
    elif data_stem(source, TREES) is not None:
        return PlainTexts(lines_of(source), None)
    else:
        columns = read(source)
    size = len(next(iter(columns.values.values()), ()))
    labels = ["none"] * size  # what finds the texts of a table wants a label in each row
    table = tabulate(replace(columns, values=columns.values | {"label": labels}, coded={}), options)
    return PlainTexts(table.text if table.pictures is None else table.pictures, table.text_pair)


def lines_of(path: Path) -> list[str]:
    """The lines that hold something.

    Raises:
        InputError: if the file cannot be read, or there is no such line.
    """
    lines = [line.strip() for line in read_utf8(path).split("\n") if line.strip()]
    if not lines:
        raise InputError(f"{path} is empty: write a text on each line")
    return lines

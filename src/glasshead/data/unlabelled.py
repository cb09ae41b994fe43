"""Inputs without labels: lines of a txt file, images of a folder, or what a table without labels holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from glasshead.data.image_folders import list_images
from glasshead.data.options import LoadOptions
from glasshead.data.pictures import read_picture
from glasshead.data.read import TREES, Columns, data_stem, read
from glasshead.data.resolve import resolve_source
from glasshead.data.saved_sets import is_saved_whole
from glasshead.data.schema import tabulate
from glasshead.data.text_files import read_bytes, read_text
from glasshead.data.trees import is_tree
from glasshead.errors import InputError

if TYPE_CHECKING:
    from datasets import Dataset


LABELS = " labels"
"""The column of labels in a table that has none; no file can call one so."""


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
    # A tree is known by its brackets and digits, in whichever encoding its words are.
    return path.is_file() and not is_tree(lines_of(path, read_bytes(path).decode(errors="replace"))[0])


def read_plain(source: Path | Dataset, options: LoadOptions) -> PlainTexts:
    """The texts, or images, of a source without labels.

    Raises:
        InputError: if there is none, or a row has no text.
    """
    if not isinstance(source, Path):
        columns = Columns("the data set", {name: list(source[name]) for name in source.column_names}, {})
    elif is_saved_whole(source):
        return plain_splits(source, options)["train"]
    elif source.is_dir():
        return PlainTexts([read_picture(path) for path in list_images(source)], None)
    elif data_stem(source, TREES) is not None:
        return PlainTexts(lines_of(source, read_text(source, options.encoding)), None)
    else:
        columns = read(source, options)
    return plain_rows(columns, options)


def plain_splits(source: str | Path, options: LoadOptions) -> dict[str, PlainTexts]:
    """The texts, or images, of every split of a source, whose labels are not read.

    Raises:
        InputError: if it cannot be read, or a row has no text.
    """
    by_split, _ = resolve_source(source, options)
    return {split: plain_rows(columns, options) for split, columns in by_split.items()}


def plain_rows(columns: Columns, options: LoadOptions) -> PlainTexts:
    """The texts, or images, of a table.

    Raises:
        InputError: if there is none, or a row has no text.
    """
    size = len(next(iter(columns.values.values()), ()))
    labels = ["none"] * size  # what finds the texts of a table wants a label in each row
    labelled = replace(columns, values=columns.values | {LABELS: labels}, coded={})
    table = tabulate(labelled, replace(options, label_column=LABELS))
    return PlainTexts(table.text if table.pictures is None else table.pictures, table.text_pair)


def lines_of(path: Path, text: str) -> list[str]:
    """The lines of a file that hold something.

    Raises:
        InputError: if there is no such line.
    """
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    if not lines:
        raise InputError(f"{path} is empty: write one text per line")
    return lines

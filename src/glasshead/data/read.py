"""A file → its columns."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from glasshead.data.columns import check_names
from glasshead.data.json_files import json_document, json_lines
from glasshead.data.options import LoadOptions
from glasshead.data.separated_files import TAB, separated_columns
from glasshead.data.spreadsheets import spreadsheet_columns
from glasshead.data.text_files import read_text
from glasshead.data.trees import parse_trees
from glasshead.errors import InputError

if TYPE_CHECKING:
    from datasets import Features

SEPARATOR_OF = {".csv": ",", ".tsv": TAB}
JSON = {".json": json_document, ".jsonl": json_lines}
PARQUET, SPREADSHEET, TEXT = ".parquet", ".xlsx", ".txt"


def plain_and_gzipped(*suffixes: str) -> tuple[str, ...]:
    """Endings of files of text."""
    return tuple(suffix + packed for suffix in suffixes for packed in ("", ".gz"))


SUFFIXES = (*plain_and_gzipped(*SEPARATOR_OF, *JSON), PARQUET, SPREADSHEET)
TREES = plain_and_gzipped(TEXT)
"""Files of labelled trees."""
ZIP = ".zip"
"""A file of images."""
SPLITS = {"train": "train", "dev": "dev", "validation": "dev", "test": "test"}
"""What files and folders are called, and the split that each is."""
DEFAULTS = LoadOptions()


@dataclass(frozen=True)
class Columns:
    """Raw columns of equal length, by name; ``source`` is what error messages call them.

    ``coded`` holds the names behind integer codes, for columns whose source keeps such names.
    """

    source: str
    values: dict[str, list[Any]]
    coded: dict[str, list[str]]


def data_stem(path: Path, suffixes: Iterable[str] = SUFFIXES) -> str | None:
    """The name of a data file without its extension, in lower case; None if it has none of these."""
    name = path.name.lower()
    return next((name[: -len(suffix)] for suffix in suffixes if name.endswith(suffix)), None)


def read(path: Path, options: LoadOptions = DEFAULTS) -> Columns:
    """Read one file of a table (`SUFFIXES`), or of labelled trees (`TREES`).

    Raises:
        InputError: if the file is missing, a directory, empty, in another encoding, malformed, or of another
            kind.
    """
    if path.is_dir():
        raise InputError(f"{path} is a directory: give a file, or the folder that holds the train file")
    if not path.exists():
        raise InputError(f"no such file or folder: {path}")
    if data_stem(path, (*SUFFIXES, *TREES)) is None:
        raise InputError(f"cannot read {path}: give one of {', '.join((*SUFFIXES, *TREES))}")
    try:
        if path.stat().st_size == 0:
            raise InputError(f"{path} is empty: give a file with a header and rows")
        columns = columns_of_file(path, options)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error
    if not any(columns.values.values()):
        raise InputError(f"{path} is empty: it has no rows")
    return columns


def columns_of_file(path: Path, options: LoadOptions) -> Columns:
    """The columns of a file by the ending of its name.

    Raises:
        InputError: as `read`.
    """
    source, kind = str(path), Path(path.name.lower().removesuffix(".gz")).suffix
    if kind == PARQUET:
        return parquet_columns(path)
    if kind == SPREADSHEET:
        return Columns(source, spreadsheet_columns(path), {})
    text = read_text(path, options.encoding)
    if kind in JSON:
        return Columns(source, JSON[kind](source, text), {})
    if kind == TEXT:
        return Columns(source, *parse_trees(source, text.split("\n")))
    return Columns(source, separated_columns(source, text, options.separator or SEPARATOR_OF[kind]), {})


def parquet_columns(path: Path) -> Columns:
    """Columns of a parquet file; files written by `datasets` bring the names of their classes."""
    try:
        check_names(str(path), pq.read_schema(path).names)
        table = pq.read_table(path)
        values = {name: table.column(name).to_pylist() for name in table.column_names}
        coded = {}
        if b"huggingface" in (table.schema.metadata or {}):
            from datasets import Features

            coded = names_of_codes(Features.from_arrow_schema(table.schema))
    except (InputError, OSError):
        raise
    except Exception as error:  # pages, types and what `datasets` wrote beside them break in every way
        raise InputError(f"{path} is not a parquet file, or is damaged: write it again") from error
    return Columns(str(path), values, coded)


def names_of_codes(features: "Features") -> dict[str, list[str]]:
    """The names behind every column of class numbers, or of lists of them."""
    from datasets import ClassLabel

    plain = {name: getattr(kind, "feature", kind) for name, kind in features.items()}
    return {name: kind.names for name, kind in plain.items() if isinstance(kind, ClassLabel)}

"""A file → its columns, exactly as they were written.

CSV and TSV go through the csv module and not through pandas or `datasets`: those turn the texts ``NA`` and
``null`` into missing values, and fill a short row with empty fields without a word.
"""

import csv
import gzip
import io
import json
import re
import sys
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from glasshead.data.trees import parse_trees
from glasshead.errors import InputError, pluralise
from glasshead.reasons import because

if TYPE_CHECKING:
    from datasets import Features

SUFFIXES = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".jsonl", ".jsonl.gz", ".parquet")
TREES = (".txt", ".txt.gz")
"""Files of labelled trees."""
SEPARATORS = (";", "\t", "|", ",")
COLUMN = re.compile(r"\w[\w .-]{0,40}")
"""What looks like the name of a column, and not like a part of a sentence."""
ZIP = ".zip"
"""A file of images."""
SPLITS = {"train": "train", "dev": "dev", "validation": "dev", "test": "test"}
"""What files and folders are called, and the split that each is."""


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


def read(path: Path) -> Columns:
    """Read one csv, tsv, jsonl (each also as .gz) or parquet file, or one of labelled trees (txt).

    Raises:
        InputError: if the file is missing, a directory, empty, not UTF-8, malformed, or of another kind.
    """
    if path.is_dir():
        raise InputError(f"{path} is a directory: give a file, or the folder that holds the train file")
    if not path.exists():
        raise InputError(f"no such file or folder: {path}")
    if data_stem(path, (*SUFFIXES, *TREES)) is None:
        raise InputError(f"cannot read {path}: give one of {', '.join((*SUFFIXES, *TREES))}")
    name = path.name.lower().removesuffix(".gz")
    try:
        if path.stat().st_size == 0:
            raise InputError(f"{path} is empty: give a file with a header and rows")
        if name.endswith(".parquet"):
            columns = _parquet(path)
        elif name.endswith(".jsonl"):
            columns = Columns(str(path), _json_lines(path), {})
        elif name.endswith(".txt"):
            columns = Columns(str(path), *parse_trees(str(path), read_utf8(path).split("\n")))
        else:
            columns = Columns(str(path), _parse_separated(path, "\t" if name.endswith(".tsv") else ","), {})
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error
    if not any(columns.values.values()):
        raise InputError(f"{path} is empty: it has no rows")
    return columns


def read_utf8(path: Path) -> str:
    """The text of a UTF-8 file, without its byte order mark."""
    data = path.read_bytes()
    if path.name.lower().endswith(".gz"):
        try:
            data = gzip.decompress(data)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise InputError(f"{path} is not a whole gzip file ({error}): compress it again") from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # The codec counts from behind a byte order mark.
        start = error.start + (len(data) - len(error.object))
        line = data.count(b"\n", 0, start) + 1
        raise InputError(f"{path} line {line} is not UTF-8: convert the file to UTF-8") from error


def _parse_separated(path: Path, delimiter: str) -> dict[str, list[str]]:
    """Columns of a csv or tsv file; quotes are doubled inside quoted fields, blank lines are no rows."""
    text = read_utf8(path)
    _check_separator(path, text, delimiter)
    kept = csv.field_size_limit(sys.maxsize)  # its default refuses texts of 131,072 characters
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows, begins, last = [], [], 0
    try:
        for row in reader:
            if row:
                rows.append(row)
                begins.append(last + 1)
            last = reader.line_num
    except csv.Error as error:
        raise InputError(
            f"{path}: the record that begins on line {last + 1} has unbalanced quotes: "
            'quote the field and write " inside it as ""'
        ) from error
    finally:
        csv.field_size_limit(kept)
    if not rows:
        raise InputError(f"{path} is empty: give a file with a header and rows")
    header = [name.strip() for name in rows[0]]
    _check_names(path, header)
    for row, line in zip(rows, begins, strict=True):
        if len(row) != len(header):
            raise InputError(
                f"{path} line {line} has {pluralise(len(row), 'field')} where the header has {len(header)}: "
                "quote fields that contain the separator"
            )
        # Unbalanced quotes swallow the separators that follow them; no real tsv field holds a tab.
        if delimiter == "\t" and any("\t" in field for field in row):
            raise InputError(f"{path} line {line} has a tab inside a quoted field: save the file as csv")
    return {name: list(column) for name, column in zip(header, zip(*rows[1:], strict=True), strict=False)}


def _check_separator(path: Path, text: str, delimiter: str) -> None:
    """Raise InputError where the names of the columns are separated by something else."""
    header = next((line for line in text.splitlines() if line.strip()), "")
    for other in SEPARATORS:
        names = [name.strip().strip('"') for name in header.split(other)]
        if delimiter not in header and len(names) > 1 and all(map(COLUMN.fullmatch, names)):
            called = {"\t": "tabs"}.get(other, repr(other))
            raise InputError(
                f"{path} separates its columns by {called}: save it with commas as .csv, or with tabs as .tsv"
            )


def _check_names(path: Path, names: list[str]) -> None:
    if len(set(names)) < len(names):
        raise InputError(f"{path} names a column twice ({', '.join(names)}): rename one of them")


def _json_lines(path: Path) -> dict[str, list[Any]]:
    """Columns of a file with one JSON object per line; a key that a line lacks is None there."""
    records = []
    # Not splitlines: U+2028 and its like may stand inside a JSON string.
    for number, line in enumerate(read_utf8(path).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            if "\\u" in line:
                json.dumps(record, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            raise InputError(
                f"{path} line {number} holds half a surrogate pair: write it as UTF-8"
            ) from error
        except (ValueError, RecursionError) as error:
            raise InputError(
                f"{path} line {number} is not JSON{because(error)}: write one object per line"
            ) from error
        if not isinstance(record, dict):
            raise InputError(f"{path} line {number} is not a JSON object: write one object per line")
        records.append(record)
    return from_records(records)


def from_records(records: Iterable[dict[str, Any]]) -> dict[str, list[Any]]:
    """Columns of a list of records, named in order of appearance."""
    records = list(records)
    names = list(dict.fromkeys(name for record in records for name in record))
    return {name: [record.get(name) for record in records] for name in names}


def _parquet(path: Path) -> Columns:
    """Columns of a parquet file; files written by `datasets` bring the names of their classes."""
    try:
        _check_names(path, pq.read_schema(path).names)
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

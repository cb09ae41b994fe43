"""Parquet files, each as a whole, or some of its columns."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa


def read_parquet(path: Path, columns: Iterable[str] | None = None) -> pa.Table:
    """A file that fits into memory. ``pyarrow.parquet.read_table`` takes any number of them, and imports
    pandas for that."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        return file.read(columns=None if columns is None else list(columns), use_threads=False)

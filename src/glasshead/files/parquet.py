"""Parquet files, each as a whole, or some of its columns."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa


def read_parquet(path: Path, columns: Iterable[str] | None = None) -> pa.Table:
    """Read a Parquet file that fits into memory. ``pyarrow.parquet.read_table`` would import pandas."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        return file.read(columns=None if columns is None else list(columns), use_threads=False)

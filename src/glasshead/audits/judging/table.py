"""Measurements: columns with one row for each input; where a unit has a number, lists of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Table = Mapping[str, NDArray[Any]]
"""Column name → one entry for each input [N]; a list of numbers or words is an entry of dtype object."""
DType = Literal["float", "int", "number", "bool", "text", "floats", "ints", "flags", "texts"]
"""A number is whole or not, as the task has it."""
SAME_NUMBERS = 1e-6
"""Numbers this close to a measure in every text, relative to its largest there, are that measure."""
LISTS: dict[str, Any] = {
    "floats": (np.float64, pa.list_(pa.float64())),
    "ints": (np.int64, pa.list_(pa.int64())),
    "flags": (np.bool_, pa.list_(pa.bool_())),
    "texts": (object, pa.list_(pa.string())),
}
SCALARS: dict[str, Any] = {
    "float": (np.float64, pa.float64()), "int": (np.int64, pa.int64()), "bool": (np.bool_, pa.bool_()),
    "text": (object, pa.string()), "number": (np.float64, None),
}  # fmt: skip


class Column(NamedTuple):
    """Columns whose names match a ``pattern``, such as ``tau.*``: dtype, unit and meaning; whether they are
    ``shown`` among the numbers of every example, or only used by judges."""

    pattern: str
    dtype: DType
    unit: str
    meaning: str
    shown: bool = True


def column_of(name: str, columns: Sequence[Column]) -> Column | None:
    """The first declaration that matches."""
    return next((column for column in columns if fnmatchcase(name, column.pattern)), None)


def lists(values: Sequence[Any] | NDArray[Any]) -> NDArray[np.object_]:
    """A column of lists."""
    column = np.empty(len(values), dtype=object)
    for place, own in enumerate(values):
        column[place] = own if isinstance(own, np.ndarray) else np.asarray(own)
    return column


def unit_lists(values: NDArray[Any], mask: NDArray[np.bool_]) -> NDArray[np.object_]:
    """The numbers [N, n] of each input where it has units."""
    return lists([row[own] for row, own in zip(values, mask, strict=True)])


def among_first(ranks: NDArray[np.int64], most: int | None) -> NDArray[np.bool_]:
    """Which rows [N] are among the first so many in random order; None: all."""
    return np.ones(len(ranks), dtype=bool) if most is None else ranks < most


def pad(column: NDArray[Any], fill: Any = 0.0) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """A column of lists as an array [N, n], and where it has entries."""
    sizes = np.array([len(own) for own in column], dtype=np.int64)
    mask = np.arange(max(int(sizes.max(initial=0)), 1)) < sizes[:, None]
    flat = np.concatenate(column) if len(column) and sizes.any() else np.zeros(0)
    values = np.full(mask.shape, fill, dtype=flat.dtype if flat.size else np.float64)
    values[mask] = flat
    return values, mask


def same_numbers(values: NDArray[np.floating], others: NDArray[np.floating]) -> NDArray[np.floating]:
    """1 for texts in which two explanations [N, n] are one, such as two names of the gradient where no layer
    norm parts them; 0 where they differ, and NaN where both are 0 throughout."""
    size = np.maximum(np.abs(others), np.abs(values)).max(axis=1, initial=0.0)
    close = (np.abs(values - others) <= SAME_NUMBERS * size[:, None]).all(axis=1)
    return np.where(size > 0, close.astype(float), np.nan)


def stack_tables(tables: Sequence[Table], declared: Sequence[Column]) -> dict[str, NDArray[Any]]:
    """The rows of several tables; a column that some lack is NaN there, no, or empty."""
    names = list(dict.fromkeys(name for table in tables for name in table))
    sizes = [len(next(iter(table.values()))) if table else 0 for table in tables]
    result = {}
    for name in names:
        column = column_of(name, declared)
        parts = [
            table[name] if name in table else empty_column(size, column)
            for table, size in zip(tables, sizes, strict=True)
        ]
        result[name] = np.concatenate(parts)
    return result


def place_rows(
    columns: Table, asked: NDArray[np.bool_], declared: Sequence[Column]
) -> dict[str, NDArray[Any]]:
    """The rows of the inputs that were asked as those of all [N], and which these are."""
    placed: dict[str, NDArray[Any]] = {"asked": asked}
    for name, values in columns.items():
        column = empty_column(len(asked), column_of(name, declared))
        if values.dtype.kind in "iub":
            column = np.zeros(len(asked), dtype=values.dtype)
        column[asked] = values
        placed[name] = column
    return placed


def empty_column(size: int, column: Column | None) -> NDArray[Any]:
    """What stands in so many rows that were not measured."""
    kind = "float" if column is None else column.dtype
    if kind in LISTS:
        return lists([np.zeros(0, dtype=LISTS[kind][0])] * size)
    if kind == "float":
        return np.full(size, np.nan)
    return np.zeros(size, dtype=SCALARS[kind][0])


def to_arrow(table: Table, declared: Sequence[Column], metadata: dict[bytes, bytes]) -> pa.Table:
    """A table as Parquet holds it, with unit and meaning of each column.

    Raises:
        KeyError: on a column that is not declared.
    """
    fields, arrays = [], []
    for name, values in table.items():
        column = Column("id", "int", "", "digest of the input") if name == "id" else column_of(name, declared)
        if column is None:
            raise KeyError(name)
        plain = [list(own) for own in values] if column.dtype in LISTS else values.tolist()
        array = pa.array(plain, (LISTS | SCALARS)[column.dtype][1])
        about = {"unit": column.unit, "meaning": column.meaning}
        fields.append(pa.field(name, array.type, metadata=about))
        arrays.append(array)
    return pa.table(arrays, schema=pa.schema(fields, metadata=metadata))


def from_arrow(table: pa.Table) -> dict[str, NDArray[Any]]:
    """Read back."""
    columns = {}
    for field in table.schema:
        values = table[field.name].combine_chunks()
        if pa.types.is_list(field.type):
            columns[field.name] = list_column(values)
        elif pa.types.is_string(field.type):
            columns[field.name] = np.array(values.to_pylist(), dtype=object)
        else:
            columns[field.name] = plain_array(values)
    return columns


def list_column(values: pa.ListArray) -> NDArray[np.object_]:
    """A column of lists as arrays."""
    entries, dtype = values.flatten(), list_dtype(values.type)
    flat = np.array(entries.to_pylist(), dtype) if dtype is object else plain_array(entries).astype(dtype)
    ends = np.cumsum(plain_array(values.value_lengths())).tolist()
    return lists([flat[start:end] for start, end in zip([0, *ends], ends, strict=False)])


def plain_array(values: pa.Array) -> NDArray[Any]:
    """Numbers or flags; ``to_numpy`` of pyarrow imports pandas, which takes longer than to judge an audit."""
    if values.null_count:
        return np.asarray(values.to_numpy(zero_copy_only=False))
    if pa.types.is_boolean(values.type):
        return plain_array(values.cast(pa.uint8())).astype(bool)
    dtype = np.dtype(values.type.to_pandas_dtype())
    if not len(values):
        return np.zeros(0, dtype)
    return np.frombuffer(values.buffers()[1], dtype, len(values), values.offset * dtype.itemsize)


def list_dtype(kind: pa.DataType) -> Any:
    """The dtype of the entries of a list."""
    return next(dtype for dtype, own in LISTS.values() if own == kind)


def jsonable(column: Any) -> Any:
    """A column in which a number that does not exist is None; of curves, a list of such columns."""
    column = np.asarray(column)
    if column.ndim > 1 or (column.dtype == object and any(isinstance(part, np.ndarray) for part in column)):
        return [jsonable(part) for part in column]
    values = column.tolist()
    if column.dtype.kind == "f":
        missing = np.isnan(column)
        for place in np.flatnonzero(missing) if missing.any() else ():
            values[place] = None
    return values

"""What is written down of every map and of every weight: the columns of ``heads`` and of ``weights``."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

HEADS = pa.schema(
    {
        "text": pa.int64(), "layer": pa.int32(), "head": pa.int32(), "row": pa.int32(), "part": pa.int32(),
        "tokens": pa.int32(), "rank": pa.int32(), "nullity": pa.int32(), "expected": pa.int32(),
        "margin": pa.float64(), "kind": pa.string(),
        "learned": pa.bool_(), "projected": pa.bool_(), "identifiable": pa.bool_(), "width": pa.float64(),
        "may_be_zero": pa.float64(), "another_first": pa.bool_(), "given_keys": pa.string(),
        "given_keys_proven": pa.bool_(), "given_keys_gap": pa.float64(),
        "given_keys_smallest": pa.float64(), "given_keys_reason": pa.string(),
        "failed": pa.int32(), "unbounded": pa.int32(), "random_width": pa.float64(),
        "random_may_be_zero": pa.float64(), "random_another_first": pa.bool_(),
    }
)  # fmt: skip
WEIGHT_SCHEMA = pa.schema(
    {
        "text": pa.int64(), "layer": pa.int32(), "head": pa.int32(), "row": pa.int32(), "part": pa.int32(),
        "key": pa.int32(), "token": pa.string(), "weight": pa.float64(), "low": pa.float64(),
        "high": pa.float64(), "failed": pa.string(),
    }
)  # fmt: skip
SCHEMAS = {"heads": HEADS, "weights": WEIGHT_SCHEMA}
"""What lines about heads and about weights hold."""


def line_table(name: str, columns: Mapping[str, Sequence[Any]]) -> pa.Table:
    """Lines about ``heads`` or ``weights`` from the columns of parts; NaN means unknown."""
    schema = SCHEMAS[name]
    arrays = []
    for field in schema:
        values = [None if value != value else value for value in columns[field.name]]
        if pa.types.is_integer(field.type):
            values = [None if value is None else int(value) for value in values]
        if pa.types.is_boolean(field.type):
            values = [None if value is None else bool(value) for value in values]
        arrays.append(pa.array(values, field.type))
    return pa.table(arrays, schema=schema)

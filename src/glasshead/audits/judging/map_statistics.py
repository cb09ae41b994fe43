"""Statistics of the maps before each text: is each the only one, and how wide are its intervals?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasshead.arrays import AnyFloats

Columns = Mapping[str, NDArray[Any]]


def statistics_per_map(heads: Columns) -> dict[str, AnyFloats]:
    """The numbers of every map."""
    certificate = heads["given_keys"]
    decided = np.isin(certificate, ["unique", "not unique"])
    column_names = {"identifiable": "identifiable", "width": "width", "may-be-zero": "may_be_zero"}
    statistics = {statistic: floats(heads[name]) for statistic, name in column_names.items()}
    statistics["another-first"] = floats(heads["another_first"])
    return statistics | {"given-keys": np.where(decided, (certificate == "unique").astype(float), np.nan)}


def floats(column: NDArray[Any]) -> AnyFloats:
    """Numbers; what is None becomes NaN."""
    return np.array([np.nan if value is None else float(value) for value in column.tolist()])


def mean_per_text(text: NDArray[np.int64], values: AnyFloats, texts: int) -> AnyFloats:
    """The mean over the lines of each text that have a number; NaN where none has."""
    defined = ~np.isnan(values)
    total = np.bincount(text[defined], weights=values[defined], minlength=texts)
    count = np.bincount(text[defined], minlength=texts)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)

"""Further columns of the data, next to text and label: one text for each row, whatever the source holds."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Iterable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from glasshead.errors import InputError

if TYPE_CHECKING:
    from datasets import Dataset

IN_WORDS = (str, bool, int, float, Decimal, datetime.date, datetime.time)


def column_values(split: Dataset, name: str) -> list[str | None]:
    """The values of a column, as `cell_text`; those of a `ClassLabel` are its names.

    Raises:
        InputError: if there is no such column, or if it holds values other than texts, numbers, dates and
        booleans.
    """
    from datasets import ClassLabel

    require_column("the data set", split.column_names, name)
    values, kind = split[name][:], split.features[name]
    if isinstance(kind, ClassLabel):
        values = [None if value is None or value < 0 else kind.int2str(value) for value in values]
    return cell_texts("the data set", name, values)


def require_column(source: str, columns: Iterable[str], name: str) -> None:
    """Raise InputError if there is no such column."""
    columns = list(columns)
    if name not in columns:
        raise InputError(f"{source} has no column {name!r} (it has: {', '.join(columns)})")


def check_names(source: str, names: list[str]) -> None:
    """Raise InputError if two columns have one name."""
    if len(set(names)) < len(names):
        raise InputError(f"{source} names a column twice ({', '.join(names)}): rename one of them")


def cell_texts(source: str, name: str, values: Iterable[Any]) -> list[str | None]:
    """Each value as the same text, from whichever kind of file it came; None where it is missing or empty.

    Raises:
        InputError: with the row of a value that is neither text, number, date nor boolean.
    """
    texts = []
    for row, value in enumerate(values, start=1):
        if value is not None and not isinstance(value, IN_WORDS):
            raise InputError(
                f"{source} row {row} holds a {type(value).__name__} in the column {name!r}: "
                "take a column of texts, numbers or booleans"
            )
        texts.append(cell_text(value))
    return texts


def cell_text(value: Any) -> str | None:
    """``3`` of 3, "3" and "3.0", ``true`` of True and "TRUE"; None of what is missing or empty."""
    if value is None or (isinstance(value, float | Decimal) and math.isnan(value)):
        return None
    text = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()
    # Integers next to a missing value come as floats.
    if re.fullmatch(r"[+-]?\d+\.0", text):
        return text[:-2]
    return text.lower() if text.lower() in ("true", "false") else text or None

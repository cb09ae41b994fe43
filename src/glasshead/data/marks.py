"""Human marks: the parts of a text, or of an image, that people say make its class."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any

from glasshead.errors import InputError
from glasshead.spelling import spell

if TYPE_CHECKING:
    from datasets import Dataset, List

MARKS = "marks"
"""The column of a loaded split, and that of a source that names no other."""
Span = tuple[int, int]
Mark = tuple[int, ...]
Marks = list[Mark] | None
"""Spans [start, end) of characters from 0, of images boxes (left, top, right, bottom) of pixels; None where
no one has marked anything."""
LETTERS_SHOWN = 60


def marks_feature() -> List:
    """The type of the column in a loaded split."""
    from datasets import List, Value

    return List(List(Value("int64")))


def marks_of(split: Dataset) -> list[Marks] | None:
    """The marks of each text of a loaded split; None where it has none."""
    if split.features.get(MARKS) != marks_feature():
        return None
    rows: Iterable[Any] = split[MARKS][:]
    return [None if spans is None else [tuple(span) for span in spans] for spans in rows]


def find_marks(
    source: str,
    cells: Mapping[str, list[Any]],
    rows: Sequence[int],
    texts: Sequence[str],
    column: str | None,
    *,
    boxes: bool = False,
) -> list[Marks] | None:
    """The marks of the ``rows`` (from 1) of a source with these texts, by the name of their column.

    Without a name a column called ``marks`` holds them, if there is nothing but spans in it: others may call
    so what they like. Of images, marks are ``boxes``.

    Raises:
        InputError: where a named column is missing, or with the row of what is not a list of spans of its
            text.
    """
    name = column or MARKS
    if name not in cells:
        if column is None:
            return None
        raise InputError(
            f"{source} has no column {name!r} (it has: {', '.join(cells)}): name it with "
            f"{spell('marks_column')}"
        )
    values = [cells[name][row - 1] for row in rows]
    try:
        parse = parse_boxes if boxes else parse_marks
        marks = list(map(parse, repeat(source), rows, values, texts))
    except InputError:
        if column is None:
            return None
        raise
    return None if column is None and all(spans is None for spans in marks) else marks


def parse_marks(source: str, row: int, value: Any, text: str) -> Marks:
    """The spans of one cell: a list of pairs, or the same as JSON; None where the cell is empty.

    Raises:
        InputError: with the row, where it is no such list, or a span is empty or not in the text.
    """
    if is_empty(value):
        return None
    spans = parse_lists(value, 2)
    if spans is None:
        raise InputError(
            f"{source} row {row}: {as_typed(value)} is not a list of spans: write them in characters from 0, "
            "as [[0, 4], [10, 15]], or [] where nothing is marked"
        )
    for start, end in spans:
        if not 0 <= start < end <= len(text):
            raise InputError(
                f"{source} row {row}: [{start}, {end}] is not part of its text, which has {len(text):,} "
                "characters: count from 0, with the end after the last character"
            )
    return [(int(start), int(end)) for start, end in spans]


def parse_boxes(source: str, row: int, value: Any, name: str) -> Marks:
    """The boxes of one cell, of the image of that ``name``: a list of four numbers each, or the same as JSON;
    None where the cell is empty.

    Raises:
        InputError: with the row, where it is no such list, or a box is empty.
    """
    if is_empty(value):
        return None
    boxes = parse_lists(value, 4)
    if boxes is None or any(
        not (0 <= left < right and 0 <= top < bottom) for left, top, right, bottom in boxes
    ):
        raise InputError(
            f"{source} row {row}: {as_typed(value)} is not a list of boxes of {name}: write them in pixels "
            "as [[left, top, right, bottom]], or [] where nothing is marked"
        )
    return [tuple(map(int, box)) for box in boxes]


def is_empty(value: Any) -> bool:
    """Whether a cell holds nothing."""
    return value is None or (isinstance(value, float) and math.isnan(value)) or value == ""


def parse_lists(value: Any, size: int) -> list[Any] | None:
    """A list of lists of so many integers, or the same as JSON; None where it is another thing."""
    try:
        lists = json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return None
    if not isinstance(lists, list | tuple) or not all(is_numbers(one, size) for one in lists):
        return None
    return list(lists)


def is_numbers(value: object, size: int) -> bool:
    """Whether it is so many integers."""
    return (
        isinstance(value, list | tuple)
        and len(value) == size
        and all(isinstance(place, int) and not isinstance(place, bool) for place in value)
    )


def as_typed(value: object) -> str:
    """A value as it would be typed, cut to a few letters."""
    written = repr(value)
    return written if len(written) <= LETTERS_SHOWN else f"{written[:LETTERS_SHOWN]}…"

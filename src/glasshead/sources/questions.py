"""Many questions, each with its passages: as files, tables and rows have them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from glasshead.data import is_chat, read_columns
from glasshead.errors import InputError, brief
from glasshead.results import Passage
from glasshead.sources.passages import read_passages

QUESTION = ("question", "user_input", "query")
CONTEXT = ("context", "contexts", "passages", "documents", "retrieved_contexts")
ANSWER = ("answer", "response")
"""What columns are called."""


@dataclass(frozen=True)
class AskedQuestion:
    """A question, the passages before it, and the answer that is given (None: the model writes one)."""

    question: Any
    passages: Sequence[Passage]
    answer: str | None


def read_questions(source: Any, split: str | None = None) -> list[AskedQuestion]:
    """The questions of a file, a table, a data set or a list of rows.

    Raises:
        InputError: if there are none, and with the row of one that lacks its question or its passages.
    """
    if isinstance(source, str | Path):
        columns = read_columns(Path(source)).values
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    elif hasattr(source, "to_list"):  # a data set
        rows = source.to_list()
    elif hasattr(source, "to_dict"):  # a table of pandas
        rows = source.to_dict("records")
    else:
        rows = source
    if not isinstance(rows, Sequence) or not rows or not all(isinstance(row, Mapping) for row in rows):
        raise InputError("questions are a file, a table or a list of rows with question and context")
    return [read_row(row, f"row {number}", split) for number, row in enumerate(rows, 1)]


def read_row(row: Mapping[str, Any], where: str, split: str | None) -> AskedQuestion:
    """One question.

    Raises:
        InputError: if it lacks something.
    """
    question, context = (value_of(row, names, where) for names in (QUESTION, CONTEXT))
    if not isinstance(question, str) and not is_chat(question):
        raise InputError(f"{where}: the question must be a text or a chat, not {ascii(question)[:60]}")
    if isinstance(context, str) and context.lstrip().startswith("["):  # as a table holds a list
        try:
            context = json.loads(context)
        except ValueError as error:  # a text may begin with a footnote: [1]
            if context.rstrip().endswith("]"):
                raise InputError(f"{where}: the context in [ ] is not a JSON list") from error
    try:
        passages = read_passages(context, split)
    except InputError as error:
        raise InputError(f"{where}: {error}") from error
    answer = next((own for name in ANSWER if not is_empty(own := row.get(name))), None)
    if not isinstance(answer, str | int | float | None) or isinstance(answer, bool):
        raise InputError(f"{where}: the answer must be a text or a number, not {ascii(answer)[:60]}")
    if isinstance(answer, float) and answer.is_integer():  # as tables hold 1984 where others are missing
        answer = int(answer)
    return AskedQuestion(question, passages, None if answer is None else str(answer))


def value_of(row: Mapping[str, Any], names: Sequence[str], where: str) -> Any:
    """The value of the first column that there is."""
    name = next((name for name in names if name in row), None)
    if name is None:
        has = brief(", ".join(map(str, row)))
        raise InputError(f"{where} has no {names[0]} (it has: {has}): questions need question and context")
    if is_empty(row[name]):
        raise InputError(f"{where} has nothing in the column {name!r}")
    return row[name]


def is_empty(value: Any) -> bool:
    """Whether a cell is empty; NaN is what tables hold there."""
    return value is None or (isinstance(value, float) and value != value) or not str(value).strip()

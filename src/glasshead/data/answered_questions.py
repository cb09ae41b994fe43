"""Questions about a text, of which the answer is a part: tables as SQuAD has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glasshead.data.label_columns import columns_of
from glasshead.data.options import LoadOptions
from glasshead.errors import InputError

if TYPE_CHECKING:
    from datasets import Dataset, DatasetDict

QUESTIONS_AND_ANSWERS = ("question", "context", "answers")
"""What the columns are called; ``answers`` has ``text`` and ``answer_start``, or is the answer itself."""


@dataclass(frozen=True)
class AnsweredQuestion:
    """A question, the text that holds the answer, and the characters of the answer there."""

    question: str
    context: str
    answer: tuple[int, int]


def read_answered(
    source: str | Path | Dataset | DatasetDict, split: str, options: LoadOptions
) -> list[AnsweredQuestion]:
    """The rows of a split; those without an answer in the text are left out.

    Raises:
        InputError: if there are none, and with the row of an answer that does not stand where it is said to.
    """
    columns = columns_of(source, split, options)
    if missing := [name for name in QUESTIONS_AND_ANSWERS if name not in columns.values]:
        has = ", ".join(columns.values)
        raise InputError(
            f"{columns.source} has no column {missing[0]!r} (it has: {has}): questions about a text need "
            f"{', '.join(QUESTIONS_AND_ANSWERS)}"
        )
    found = []
    values = (columns.values[name] for name in QUESTIONS_AND_ANSWERS)
    for row, (question, context, answers) in enumerate(zip(*values, strict=True), 1):
        answer = first_answer(context, answers, f"{columns.source} row {row}")
        if answer is not None:
            found.append(AnsweredQuestion(question, context, answer))
    if not found:
        raise InputError(f"{columns.source} has no question whose answer is a part of its text")
    return found


def first_answer(context: str, answers: Any, where: str) -> tuple[int, int] | None:
    """The characters of the first of the answers; None: there is none.

    Raises:
        InputError: if it is not in the text, or several times and nothing says where.
    """
    start: int | None = None
    if isinstance(answers, Mapping):
        starts = as_list(answers.get("answer_start"))
        start, answers = (starts[0] if starts else None), answers.get("text")
    text = next(iter(as_list(answers)), None)
    if not text:
        return None
    if start is None:
        if context.count(text) > 1:
            raise InputError(f"{where}: the answer {text[:40]!r} is there more than once: say answer_start")
        start = context.find(text)
    if start < 0 or context[start : start + len(text)] != text:
        raise InputError(f"{where}: the answer {text[:40]!r} does not stand where it is said to")
    return start, start + len(text)


def as_list(value: Any) -> list[Any]:
    """A list as it is, anything else as one of one; an empty one of nothing."""
    return value if isinstance(value, list) else [] if value is None else [value]

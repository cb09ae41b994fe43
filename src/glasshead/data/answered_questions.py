"""Questions about a text, of which the answer is a part: tables as SQuAD has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glasshead.data.label_columns import columns_of, refuse_choices
from glasshead.data.options import LoadOptions
from glasshead.errors import InputError

if TYPE_CHECKING:
    from datasets import Dataset, DatasetDict

QUESTIONS_AND_ANSWERS = ("question", "context", "answers")
"""What the columns are called; ``answers`` has ``text`` and ``answer_start``, or is the answer itself."""


@dataclass(frozen=True)
class AnsweredQuestion:
    """A question, the text that holds the answer, and the characters of all answers that are right."""

    question: str
    context: str
    answers: tuple[tuple[int, int], ...]


def read_answered(
    source: str | Path | Dataset | DatasetDict, split: str, options: LoadOptions
) -> list[AnsweredQuestion]:
    """The rows of a split; some questions may have no answer in their text.

    Raises:
        InputError: if there are none, and with the row of a value that is not a text, or of an answer that
        is not at its stated place.
    """
    refuse_choices(options)
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
        where = f"{columns.source} row {row}"
        for name, text in (("question", question), ("context", context)):
            if not isinstance(text, str):
                raise InputError(f"{where}: the {name} is {text!r}, and no text")
        places = tuple(find_answer(context, *answer, where) for answer in listed_answers(answers, where))
        found.append(AnsweredQuestion(question, context, places))
    return found


def listed_answers(answers: Any, where: str) -> list[tuple[str, int | None]]:
    """Answers with the character at which each begins, if that is said: of lists of both, as `datasets` has
    them, of a list of objects, as the files of SQuAD have it, or of texts alone.

    Raises:
        InputError: on anything else.
    """
    if isinstance(answers, Mapping):
        texts, starts = as_list(answers.get("text")), as_list(answers.get("answer_start"))
        pairs = [
            (text, starts[number] if number < len(starts) else None) for number, text in enumerate(texts)
        ]
    else:
        each = as_list(answers)
        pairs = [
            (one.get("text"), one.get("answer_start")) if isinstance(one, Mapping) else (one, None)
            for one in each
        ]
    for text, start in pairs:
        if not isinstance(text, str) or not (start is None or (isinstance(start, int) and start >= 0)):
            raise InputError(
                f"{where}: an answer must be a text and the number of a character, not {text!r}, {start!r}"
            )
    return [(text, start) for text, start in pairs if text]


def find_answer(context: str, text: str, start: int | None, where: str) -> tuple[int, int]:
    """The characters of an answer.

    Raises:
        InputError: if it is not in the text, or several times and nothing says where.
    """
    if start is None:
        if context.count(text) > 1:
            raise InputError(f"{where}: the answer {text[:40]!r} occurs more than once: give answer_start")
        start = context.find(text)
    if start < 0 or context[start : start + len(text)] != text:
        raise InputError(f"{where}: the answer {text[:40]!r} is not at answer_start")
    return start, start + len(text)


def as_list(value: Any) -> list[Any]:
    """A list as it is, anything else as one of one; an empty one of nothing."""
    return value if isinstance(value, list) else [] if value is None else [value]

"""Questions with choices of which one is right: tables as data sets of multiple choice have them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glasshead.data.label_columns import columns_of, refuse_choices
from glasshead.data.options import LoadOptions
from glasshead.data.read import Columns
from glasshead.errors import InputError
from glasshead.spelling import spell

if TYPE_CHECKING:
    from datasets import Dataset, DatasetDict

PASSAGES = ("context", "article", "passage", "premise")
"""Columns of a text that a question is about."""
QUESTIONS = ("question", "sent1", "goal", "ctx", "text")
"""Columns of questions, or of beginnings that are gone on with."""
BEGINNINGS = ("sent2",)
"""Columns of words with which every choice begins."""
CHOICES = ("choices", "options", "endings")
"""Columns of lists of choices."""
NUMBERED = re.compile(r"(choice|option|ending|sol|answer)_?(\d+)")
"""A column for each choice."""
RIGHT = ("label", "answer", "answerKey", "answer_key")
"""Columns of the right one: its number from 0, its letter, or the choice itself."""


@dataclass(frozen=True)
class OfferedChoices:
    """A text, the second texts that follow it, one for each choice, and the number of the right one."""

    text: str
    seconds: tuple[str, ...]
    right: int

    def others(self, number: int) -> list[str]:
        """All second texts except one."""
        return [second for place, second in enumerate(self.seconds) if place != number]


def read_offered(
    source: str | Path | Dataset | DatasetDict, split: str, options: LoadOptions
) -> list[OfferedChoices]:
    """The rows of a split. Where there is a passage, the question comes after it, before each choice.

    Raises:
        InputError: if there are none, and with the row of a question without several choices or a right one.
    """
    refuse_choices(options)
    columns = columns_of(source, split, options)
    text = find(columns, (options.text_column,) if options.text_column else (*PASSAGES, *QUESTIONS))
    right = find(columns, (options.label_column,) if options.label_column else RIGHT)
    lists = [name for name in CHOICES if name in columns.values]
    numbered = sorted(
        (name for name in columns.values if name != right and NUMBERED.fullmatch(name)),
        key=lambda name: int(NUMBERED.fullmatch(name)[2]),  # type: ignore[index]
    )
    if text is None or right is None or not (lists or len(numbered) > 1):
        has = ", ".join(columns.values)
        raise InputError(
            f"{columns.source} has the columns {has}: a choice needs a question, choices (a list, or "
            f"choice1, choice2, …), and label, the number of the right one from 0; name others with "
            f"{spell('text_column')} and {spell('label_column')}"
        )
    behind = (*(QUESTIONS if text in PASSAGES else ()), *BEGINNINGS)
    beginnings = [name for name in behind if name in columns.values and name != text]
    check_numbers(columns, right, lists[0] if lists else None, len(numbered))
    found = []
    for place in range(len(columns.values[text])):
        where = f"{columns.source} row {place + 1}"
        row = {name: cells[place] for name, cells in columns.values.items()}
        offered = row[lists[0]] if lists else [row[name] for name in numbered]
        texts, letters = listed_choices(offered, where)
        for name in (text, *beginnings):
            if not isinstance(row[name], str):
                raise InputError(f"{where}: {name} is {row[name]!r}, and no text")
        number = number_of_right(row[right], texts, letters, where)
        seconds = tuple(" ".join([*(row[name] for name in beginnings), one]) for one in texts)
        found.append(OfferedChoices(row[text], seconds, number))
    return found


def find(columns: Columns, names: Sequence[str]) -> str | None:
    """The first of these columns that there is."""
    return next((name for name in names if name in columns.values), None)


def listed_choices(offered: Any, where: str) -> tuple[list[str], list[str]]:
    """Choices and what they are called: by letters, unless the data have other names.

    Raises:
        InputError: if they are not a list of several different texts.
    """
    names: Any = None
    if isinstance(offered, Mapping):
        offered, names = offered.get("text"), offered.get("label")
    if not isinstance(offered, Sequence) or not all(isinstance(one, str) and one for one in offered):
        raise InputError(f"{where}: the choices are {offered!r}, not a list of texts")
    if len(set(offered)) < max(2, len(offered)):
        raise InputError(f"{where}: two or more different choices are needed, not {list(offered)!r}")
    letters = [chr(ord("A") + number) for number in range(len(offered))]
    return list(offered), [str(name) for name in names] if names is not None else letters


def check_numbers(columns: Columns, right: str, lists: str | None, numbered: int) -> None:
    """Raise InputError where the numbers of right choices count from 1."""
    numbers = [int(cell) for cell in columns.values[right] if is_number(cell)]
    sizes = [numbered] if lists is None else [len(cell or ()) for cell in columns.values[lists]]
    names = any(isinstance(cell, Mapping) for cell in columns.values[lists]) if lists else False
    if numbers and not names and 0 not in numbers and max(numbers) == max(sizes):
        raise InputError(
            f"{columns.source}: the right choices are numbered from 1 ({right!r}), and Glasshead counts from "
            "0: subtract 1"
        )


def is_number(right: Any) -> bool:
    """Whether a cell is the number of a choice, or the digits of one."""
    return type(right) is int or (isinstance(right, str) and right.isdecimal())


def number_of_right(right: Any, texts: Sequence[str], letters: Sequence[str], where: str) -> int:
    """The number of the right choice, by its name, as it is written, or by its number from 0.

    Raises:
        InputError: if it is none of them, or one that is called as another is numbered.
    """
    if right in letters:
        return letters.index(right)
    found = {texts.index(right)} if right in texts else set()
    if is_number(right) and int(right) < len(texts):
        found.add(int(right))
    if len(found) > 1:
        raise InputError(
            f"{where}: the right choice is {right!r}, which is one of them and also the number of another: "
            "use its letter"
        )
    if not found:
        known = ", ".join(texts)[:80]
        raise InputError(f"{where}: the right choice is {right!r}, not one of {known}")
    return found.pop()

"""Prompts with an answer that is given, perhaps beside another one: tables as data sets of text to text have
them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from glasshead.data.chats import is_chat
from glasshead.data.label_columns import columns_of, refuse_choices
from glasshead.data.options import LoadOptions
from glasshead.data.schema import NoTextError
from glasshead.data.unlabelled import has_lines
from glasshead.errors import InputError
from glasshead.spelling import spell

if TYPE_CHECKING:
    from datasets import Dataset, DatasetDict

PAIRS = (
    ("prompt", "completion"),
    ("prompt", "response"),
    ("prompt", "answer"),
    ("prompt", "chosen"),
    ("question", "answer"),
    ("source", "target"),
    ("instruction", "output"),
    ("instruction", "response"),
    ("text", "summary"),
    ("document", "summary"),
    ("article", "highlights"),
)
"""What the columns of prompts and of their answers are called."""
AGAINST = ("against", "rejected")
"""Columns of the answer with which another one is compared."""
BESIDE = ("context", "input", "passage", "system")
"""Columns that belong to a prompt, in a place that only a template knows."""


@dataclass(frozen=True)
class GivenAnswer:
    """A prompt, or the source of an encoder–decoder, the answer that is given to it, and perhaps another."""

    prompt: str
    answer: str
    against: str | None = None


class AnswerColumns(NamedTuple):
    """What the columns of prompts, answers, and answers to compare with are called."""

    prompt: str
    answer: str
    against: str | None


def find_answer_columns(names: Collection[str], options: LoadOptions) -> AnswerColumns | None:
    """The columns of prompts and answers, by their names or as they are named; None: these are plain texts,
    which also a column of texts alone says when it is named."""
    if options.label_column is None and options.text_column is not None:
        return None
    prompts = [options.text_column] if options.text_column else list(dict.fromkeys(one for one, _ in PAIRS))
    pairs = PAIRS if options.label_column is None else [(one, options.label_column) for one in prompts]
    found = next(((prompt, answer) for prompt, answer in pairs if {prompt, answer} <= {*names}), None)
    if found is None:
        return None
    # Named columns are all that is read: what else a table holds may mean anything.
    others = AGAINST if options.label_column is None else ()
    return AnswerColumns(*found, next((name for name in others if name in names), None))


def columns_of_answers(
    source: str | Path | Dataset | DatasetDict, split: str, options: LoadOptions
) -> AnswerColumns | None:
    """Which columns of a source are prompts with answers; None: there are no such.

    Raises:
        InputError: if there is no such source or split.
    """
    from datasets import Dataset

    if has_lines(source):
        return None
    if isinstance(source, Dataset):
        return find_answer_columns(source.column_names, options)
    return find_answer_columns(columns_of(source, split, options).values, options)


def read_given(
    source: str | Path | Dataset | DatasetDict, split: str, options: LoadOptions
) -> list[GivenAnswer]:
    """The rows of a split.

    Raises:
        InputError: if there is no such split, with the row of what is no text, and where a prompt has a
            second part in another column, unless the columns are named.
    """
    refuse_choices(options)
    columns = columns_of(source, split, options)
    names = find_answer_columns(columns.values, options)
    if names is None:
        raise InputError(
            f"{columns.source} has no answers (its columns are {', '.join(columns.values)}): name the "
            f"columns of prompts and answers with {spell('text_column')} and {spell('label_column')}"
        )
    for name in BESIDE if options.label_column is None else ():
        for row, value in enumerate(columns.values.get(name, ()), 1):
            if value:
                raise InputError(
                    f"{columns.source} row {row} has {name!r} beside {names.prompt!r}: write both into one "
                    f"column, as the model reads them, or name {spell('text_column')} and "
                    f"{spell('label_column')}"
                )
    cells = [columns.values[name] for name in names if name is not None]
    for row, values in enumerate(zip(*cells, strict=True), 1):
        for column, value in zip(names, values, strict=False):
            if is_chat(value):
                raise InputError(
                    f"{columns.source} row {row}: {column!r} is a list of chat messages: apply the "
                    "chat template of the tokenizer to them first (apply_chat_template)"
                )
            if not isinstance(value, str) or not value.strip():
                raise InputError(
                    f"{columns.source} row {row}: {column!r} is {str(value)[:40]!r}, which is no text: "
                    "give one, or remove the row"
                )
    return [GivenAnswer(*values) for values in zip(*cells, strict=True)]


def no_prompts(error: NoTextError) -> InputError:
    """What a language model says of a table with neither texts nor prompts that it knows."""
    return InputError(
        f"{error}, or name prompts and their answers with {spell('text_column')} and {spell('label_column')}"
    )

"""Prompts with an answer that is given, perhaps next to another one: tables as data sets of text to text have
them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from glasshead.data.chats import is_chat
from glasshead.data.image_columns import IMAGE_COLUMNS, IMAGE_LISTS, read_pictures
from glasshead.data.label_columns import columns_of, refuse_choices
from glasshead.data.options import LoadOptions
from glasshead.data.pictures import Picture
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
ABOUT_IMAGES = ("text", "answer")
"""What they are called, too, next to images."""
AGAINST = ("against", "rejected")
"""Columns of the answer with which another one is compared."""
BESIDE = ("context", "input", "passage", "system")
"""Columns that belong to a prompt, in a place that only a template knows."""
MESSAGES = "messages"
"""A column of whole chats, whose last message is the answer."""
ASSISTANT = "assistant"


@dataclass(frozen=True)
class GivenAnswer:
    """A prompt, or the source of an encoder–decoder, its answer, and perhaps another answer. A prompt of
    chat messages has no text until a tokenizer has made one. ``images`` are those that the prompt is about,
    if there are any, and ``other`` is another prompt about them: that of the next row with the same images
    or, if there is none, of the next row with as many.
    """

    prompt: Any
    answer: str
    against: str | None = None
    images: tuple[Picture, ...] = ()
    other: str | None = None


class AnswerColumns(NamedTuple):
    """What the columns of prompts, answers, answers to compare with, and images are called."""

    prompt: str
    answer: str
    against: str | None
    image: str | None


def find_answer_columns(names: Collection[str], options: LoadOptions) -> AnswerColumns | None:
    """The columns of prompts and answers, by their names or as they are named; None: these are plain texts,
    which also a column of texts alone says when it is named."""
    if options.label_column is None and options.text_column is not None:
        return None
    image = image_column_of(names)
    known = PAIRS if image is None else (*PAIRS, ABOUT_IMAGES)
    prompts = [options.text_column] if options.text_column else list(dict.fromkeys(one for one, _ in known))
    pairs = known if options.label_column is None else [(one, options.label_column) for one in prompts]
    found = next(((prompt, answer) for prompt, answer in pairs if {prompt, answer} <= {*names}), None)
    if found is None and options.text_column is options.label_column is None and "text" not in names:
        found = (MESSAGES, MESSAGES) if MESSAGES in names else None
    if found is None:
        return None
    # Named columns are all that is read: what else a table holds may mean anything.
    others = AGAINST if options.label_column is None else ()
    against = next((name for name in others if name in names), None)
    return AnswerColumns(*found, against, image)


def image_column_of(names: Collection[str]) -> str | None:
    """The column of the images that texts are about; None: there is none.

    Raises:
        InputError: if there are two.
    """
    found = [name for name in (*IMAGE_COLUMNS, IMAGE_LISTS) if name in names]
    if IMAGE_LISTS in found[1:]:
        raise InputError(
            f"the data have the columns {found[0]!r} and {IMAGE_LISTS!r}: remove one, or write all images of "
            f"a row into {IMAGE_LISTS!r}"
        )
    return found[0] if found else None


def names_of_columns(
    source: str | Path | Dataset | DatasetDict, split: str, options: LoadOptions
) -> Collection[str]:
    """What the columns of a source are called; lines of texts have none.

    Raises:
        InputError: if there is no such source or split.
    """
    from datasets import Dataset

    if has_lines(source):
        return ()
    return source.column_names if isinstance(source, Dataset) else columns_of(source, split, options).values


def read_given(
    source: str | Path | Dataset | DatasetDict, split: str, options: LoadOptions
) -> list[GivenAnswer]:
    """The rows of a split.

    Raises:
        InputError: if there is no such split, with the row of a value that is not a text or an image, and
        if a prompt has a second part in another column, unless the columns are named.
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
                    f"{columns.source} row {row} has both {name!r} and {names.prompt!r}: write both into "
                    f"one column in the form that the model reads, or name {spell('text_column')} and "
                    f"{spell('label_column')}"
                )
    of_text = [name for name in names[:3] if name is not None]
    given = []
    for row, cells in enumerate(zip(*(columns.values[name] for name in of_text), strict=True), 1):
        own = GivenAnswer(*read_row(f"{columns.source} row {row}", of_text, cells))
        if names.image is not None and not isinstance(own.prompt, str):
            raise InputError(f"{columns.source} row {row} has an image and chat messages: give a text")
        given.append(own)
    if names.image is None:
        return given
    folders = (Path(source), Path(source).parent) if isinstance(source, str | Path) else ()
    for row, cell in enumerate(columns.values[names.image], 1):
        where = f"{columns.source} row {row}"
        pictures = tuple(read_pictures(where, cell, folders))
        if not pictures:
            raise InputError(f"{where} has no image in the column {names.image!r}: remove the row")
        given[row - 1] = replace(given[row - 1], images=pictures)
    return with_others(given)


def read_row(where: str, names: Sequence[str], cells: Sequence[Any]) -> list[Any]:
    """The prompt, a text or chat messages, and the answers of a row, texts.

    Raises:
        InputError: with the row, of what is neither, and of chat messages that are no single answer.
    """
    first, *answers = cells
    if names[0] == names[1]:  # whole chats
        if not is_chat(first) or len(first) < 2:
            raise InputError(f"{where}: {names[0]!r} is not a chat of two messages or more: remove the row")
        first, answers = first[:-1], [first[-1:]]
    values = [first, *map(reply_in, answers)]
    for name, value in zip(names, values, strict=True):
        if is_chat(value) and value is not first:
            raise InputError(
                f"{where}: {name!r} does not end with one message of the assistant that is a text: give such "
                "an answer, or remove the row"
            )
        if not is_chat(value) and not (isinstance(value, str) and value.strip()):
            raise InputError(
                f"{where}: {name!r} is {str(value)[:40]!r}, which is not a text: give one, or remove the row"
            )
    return values


def reply_in(cell: Any) -> Any:
    """What a single message of the assistant says; anything else as it is."""
    if not is_chat(cell) or len(cell) != 1 or cell[0]["role"] != ASSISTANT:
        return cell
    return cell[0].get("content", cell)


def with_others(rows: Sequence[GivenAnswer]) -> list[GivenAnswer]:
    """Rows about images, each with another prompt about as many."""
    by_count, by_images = defaultdict[int, list[int]](list), defaultdict[Any, list[int]](list)
    for number, one in enumerate(rows):
        by_count[len(one.images)].append(number)
        by_images[tuple(picture.content for picture in one.images)].append(number)
    found: dict[int, str] = {}
    for numbers in (*by_count.values(), *by_images.values()):
        found |= next_prompts(rows, numbers)
    return [replace(one, other=found.get(number)) for number, one in enumerate(rows)]


def next_prompts(rows: Sequence[GivenAnswer], numbers: Sequence[int]) -> dict[int, str]:
    """For some rows, in a circle, the prompt of the next one that has another prompt."""
    found: dict[int, str] = {}
    other = None
    for own, behind in reversed([*pairwise([*numbers, *numbers])]):
        if rows[own].prompt != rows[behind].prompt:
            other = str(rows[behind].prompt)
        if other is not None:
            found[own] = other
    return found


def no_prompts(error: NoTextError) -> InputError:
    """The error about a table with neither texts nor prompts for a language model."""
    return InputError(
        f"{error}, or name prompts and their answers with {spell('text_column')} and {spell('label_column')}"
    )

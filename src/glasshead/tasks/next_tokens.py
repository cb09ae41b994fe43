"""Texts without labels as a data set for a language model: what stands before a token, and that token."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from transformers import PreTrainedTokenizerBase

from glasshead.data import (
    Encoded,
    LoadOptions,
    NoLabelError,
    NoTextError,
    PlainTexts,
    encode,
    has_lines,
    no_prompts,
    read_plain,
    read_plain_split,
    read_split,
)
from glasshead.errors import InputError
from glasshead.huggingface import NextTokenClassifier, TaskModel, class_names
from glasshead.tasks.task import QUESTIONS, Chosen, Questions, question_rows

if TYPE_CHECKING:
    from datasets import Dataset, DatasetDict

LEAST = 4
"""Tokens before the one that is asked for; in shorter texts one."""
BEHIND = (
    "In each text one token is the target, drawn at random from those that begin a word; the model reads "
    "only what comes before it"
)
LACKS = "a token, after the first word, that a language model could predict"


class Prompts(NamedTuple):
    """What a model reads of each text, and the token that comes next; of texts that have both."""

    texts: list[str]
    tokens: list[int]
    rows: list[int]


class TextQuestions(Questions):
    """Questions to texts of which labels are not read."""

    def read(
        self, source: str | Path | Dataset | DatasetDict, split: str, options: LoadOptions
    ) -> Sequence[str]:
        """Texts; labels are not read."""
        return read_texts(source, split, options)

    def texts(self, rows: Sequence[str]) -> tuple[list[str], None]:
        """The texts as they are."""
        return list(rows), None


class NextTokens(TextQuestions):
    """Which token comes next?"""

    model = NextTokenClassifier

    def draw(
        self, model: TaskModel, tokenizer: PreTrainedTokenizerBase, chosen: Chosen
    ) -> tuple[Dataset, str]:
        """The beginning of each text up to a token that is drawn, and this token as the label.

        Tokens that begin a word are drawn, with four tokens before them (in shorter texts one). They are as
        the tokenizer splits the whole text: a beginning that it would split otherwise is not taken.

        Raises:
            InputError: if no text has two words.
        """
        prompts = draw_prompts(tokenizer, chosen)
        asked = {
            row: {"text": text, "label": token}
            for text, token, row in zip(prompts.texts, prompts.tokens, prompts.rows, strict=True)
        }
        return question_rows(class_names(model), chosen, asked, BEHIND, LACKS)


def read_texts(source: str | Path | Dataset | DatasetDict, split: str, options: LoadOptions) -> Sequence[str]:
    """Texts; labels are not read.

    Raises:
        InputError: if there are none, or they are pairs.
    """
    from datasets import Dataset

    if has_lines(source):
        return single_texts([read_plain(Path(str(source)), options)])
    try:
        if isinstance(source, Dataset):
            return single_texts([read_plain(source, options)])
        texts: Sequence[str] = read_split(source, split, options)["text"][:]
        return texts
    except NoLabelError:
        return single_texts(read_plain_split(source, split, options))
    except NoTextError as error:
        raise no_prompts(error) from error


def single_texts(parts: Sequence[PlainTexts]) -> Sequence[str]:
    """Texts one after the other.

    Raises:
        InputError: if they are pairs or images.
    """
    if any(plain.seconds is not None for plain in parts):
        raise InputError("these are pairs, but a language model reads one text: give single texts")
    if any(not isinstance(text, str) for plain in parts for text in plain.firsts[:1]):
        raise InputError("these are images, but a language model reads texts: give texts")
    return [text for plain in parts for text in plain.firsts]


def draw_prompts(tokenizer: PreTrainedTokenizerBase, chosen: Chosen) -> Prompts:
    """A beginning of each text, in the order of the texts."""
    texts = chosen.rows
    encoded = encode(tokenizer, texts)
    places = {
        row: list(chosen.random(row).permutation(find_word_starts(encoded, row))) for row in range(len(texts))
    }
    beginning_of: dict[int, tuple[str, int]] = {}
    while waiting := [row for row, left in places.items() if left]:
        drawn = {row: int(places[row].pop()) for row in waiting}
        beginnings = [text_before(texts[row], encoded, row, place) for row, place in drawn.items()]
        again = encode(tokenizer, beginnings)
        for number, (row, place) in enumerate(drawn.items()):
            if same_tokens(encoded, row, place, again, number):
                beginning_of[row] = beginnings[number], int(encoded.ids[row, place])
                places[row] = []
    rows = sorted(beginning_of)
    return Prompts([beginning_of[row][0] for row in rows], [beginning_of[row][1] for row in rows], rows)


def find_word_starts(encoded: Encoded, row: int) -> NDArray[np.intp]:
    """Tokens of a text that begin a word, behind enough others."""
    words = encoded.words[row]
    begins = (words >= 0) & (words != np.concatenate([[-1], words[:-1]]))
    (places,) = np.nonzero(begins)
    places = places[1:]
    late = places[places >= LEAST]
    return late if len(late) else places


def text_before(text: str, encoded: Encoded, row: int, place: int) -> str:
    """The text up to the end of the token before: a blank between belongs to the next one."""
    return text[: int(encoded.offsets[row, place - 1, 1])]


def same_tokens(encoded: Encoded, row: int, place: int, again: Encoded, number: int) -> bool:
    """Whether a beginning alone has the tokens that it has in the whole text; of a long one its last ones."""
    ids = again.ids[number][again.mask[number]].tolist()
    before = encoded.ids[row, :place].tolist()
    return len(ids) >= len(before) > 0 and ids[-len(before) :] == before


QUESTIONS.register("next-tokens")(NextTokens())

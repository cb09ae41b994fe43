"""Texts without labels as a data set for a language model: what stands before a token, and that token."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from datasets import ClassLabel, Dataset, Features, Value
from numpy.typing import NDArray
from transformers import PreTrainedTokenizerFast

from glasshead.data import PLACE, RANK, Encoded, encode
from glasshead.errors import InputError
from glasshead.trace import Subject

LEAST = 4
"""Tokens before the one that is asked for; in shorter texts one."""


class Prompts(NamedTuple):
    """What a model reads of each text, and the token that comes next; of texts that have both."""

    texts: list[str]
    tokens: list[int]
    rows: list[int]


def next_token_data(
    subject: Subject,
    texts: Sequence[str],
    places: NDArray[np.int64],
    ranks: NDArray[np.int64],
    seed: int,
) -> tuple[Dataset, str]:
    """One row for each text: its beginning up to a token that is drawn, this token as its label, and where
    the text is in the data and in their random order; and a sentence about it.

    Tokens that begin a word are drawn, with four tokens before them (in shorter texts one). They are as the
    tokenizer splits the whole text: a beginning that it would split otherwise is not taken. What is drawn for
    a text follows from the seed and its place, whatever texts are beside it.

    Raises:
        InputError: if no text has two words.
    """
    prompts = draw_prompts(subject.tokenizer, texts, places, seed)
    if not prompts.texts:
        raise InputError(
            "no text has a token after its first word, which a language model could be asked for"
        )
    columns = {"text": prompts.texts, "label": prompts.tokens, PLACE: places[prompts.rows]}
    numbers = {PLACE: Value("int64"), RANK: Value("int64")}
    features = Features({"text": Value("string"), "label": ClassLabel(names=subject.labels), **numbers})
    rows = Dataset.from_dict({**columns, RANK: ranks[prompts.rows]}, features=features)
    left_out = len(texts) - len(prompts.texts)
    few = f" {left_out:,} of {len(texts):,} texts are too short and left out." if left_out else ""
    return rows, (
        "Of each text the model reads what stands before one token, drawn at random among those that begin a "
        f"word, and is asked for that token.{few}"
    ).removesuffix(".")


def draw_prompts(
    tokenizer: PreTrainedTokenizerFast, texts: Sequence[str], numbers: NDArray[np.int64], seed: int
) -> Prompts:
    """A beginning of each text, in the order of the texts; what is drawn follows from the seed and the number
    of the text."""
    encoded = encode(tokenizer, texts)
    places = {
        row: list(np.random.default_rng([seed, number]).permutation(find_word_starts(encoded, row)))
        for row, number in enumerate(numbers.tolist())
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

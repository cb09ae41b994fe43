"""Which word of a text each token belongs to, and where it stands, whatever the tokenizer calls a word."""

import re
from collections.abc import Sequence

import numpy as np
from jaxtyping import Int
from tokenizers import Encoding
from tokenizers.models import WordLevel, WordPiece
from transformers import PreTrainedTokenizerFast

SPACE = re.compile(r"\s")
UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
"""Letters of scripts without blanks: Thai, Lao, Burmese, Khmer, Japanese, Chinese."""

Place = tuple[int, int]


def word_places(
    tokenizer: PreTrainedTokenizerFast, row: Encoding, texts: Sequence[str]
) -> tuple[Int[np.ndarray, " tokens"], Int[np.ndarray, "tokens 2"]]:
    """The word of each token, −1 for special ones, and the characters that it stands for; each text of a pair
    counts from 0."""
    words = np.array([-1 if word is None else word for word in row.word_ids], dtype=np.int64)
    offsets = np.array(row.offsets, dtype=np.int64).reshape(-1, 2)
    if isinstance(tokenizer.backend_tokenizer.model, WordLevel | WordPiece):
        return words, offsets  # these are told where words end before they look
    for which, text in enumerate(texts):
        (tokens,) = np.nonzero(np.array([number == which for number in row.sequence_ids]) & (words >= 0))
        if len(tokens):
            words[tokens], offsets[tokens] = divide(text, words[tokens].tolist(), offsets[tokens].tolist())
    return words, offsets


def divide(text: str, words: Sequence[int], offsets: Sequence[Place]) -> tuple[list[int], list[Place]]:
    """Words and places of tokens of byte-level and SentencePiece tokenizers, to which blanks are letters.

    They stay as they are but for three things. White space divides words. A token of nothing but white space
    belongs to the word after it, or to the last one; where there is none it belongs to no word. Every token
    of a script without blanks is a word.
    """
    places = [trim(text, place) for place in offsets]
    divided = [-1] * len(places)
    current, last, end = -1, -1, 0
    for index, (word, (start, stop)) in enumerate(zip(words, places, strict=True)):
        if start == stop:
            continue
        unspaced = start >= end and UNSPACED.match(text, start) is not None
        if current < 0 or word != last or unspaced or SPACE.search(text, end, max(start, end)):
            current += 1
        divided[index], last, end = current, word, max(end, stop)
    word, at = current, end
    for index in reversed(range(len(places))):
        if divided[index] >= 0:
            word, at = divided[index], places[index][0]
        else:
            divided[index], places[index] = word, (at, at)
    return divided, places


def trim(text: str, place: Place) -> Place:
    """Characters of a text without the blanks at both ends; none where all are blanks."""
    start, stop = place
    while start < stop and text[start].isspace():
        start += 1
    while start < stop and text[stop - 1].isspace():
        stop -= 1
    return start, stop

"""What the tokens of a text are: special ones by their names, punctuation, words, frequent words."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from transformers import PreTrainedTokenizerFast

from glasshead.data import Encoded, UnitReader, token_names

PUNCTUATION, WORD, FIRST, SPECIAL = "punctuation", "word", "first token", "special tokens"
FREQUENT_TYPES = 20
"""So many of the commonest words that are never split stand beside special tokens."""


@dataclass(frozen=True)
class TokenTable:
    """Tokens of encoded texts: of each its name and ``kinds`` [texts, tokens]: the name of a special token,
    punctuation, or word; and whether it is a ``frequent`` word that these texts never split."""

    names: Sequence[Sequence[str]]
    kinds: NDArray[np.str_]
    frequent: NDArray[np.bool_]
    specials: tuple[str, ...]


def make_token_table(
    tokenizer: PreTrainedTokenizerFast | UnitReader, encoded: Encoded, texts: Sequence[str]
) -> TokenTable:
    """The table of some texts; of a pair, of both with a line between."""
    real = encoded.mask.numpy()
    kinds = np.full(real.shape, WORD, dtype=object)
    names = [
        token_names(tokenizer, ids[keep].tolist())
        for ids, keep in zip(encoded.ids.numpy(), real, strict=True)
    ]
    pieces: Counter[tuple[int, int]] = Counter()
    for row, words in enumerate(encoded.words):
        for place in np.flatnonzero(real[row]):
            if words[place] < 0:
                kinds[row, place] = names[row][place]
                continue
            pieces[row, int(words[place])] += 1
            if is_punctuation(texts[row][slice(*encoded.offsets[row, place])]):
                kinds[row, place] = PUNCTUATION
    specials = dict.fromkeys(kinds[real & (encoded.words < 0)].tolist())
    return TokenTable(names, kinds, frequent_words(encoded, kinds, pieces, texts), tuple(specials))


def is_punctuation(text: str) -> bool:
    """Whether nothing in it is a letter, a digit or a blank."""
    return bool(text) and all(unicodedata.category(character)[0] in "PS" for character in text)


def frequent_words(
    encoded: Encoded, kinds: NDArray[np.object_], pieces: Counter[tuple[int, int]], texts: Sequence[str]
) -> NDArray[np.bool_]:
    """Which tokens are among the commonest words that are one token wherever they occur."""
    written = np.full(kinds.shape, "", dtype=object)
    counts: Counter[str] = Counter()
    split: set[str] = set()
    for row, place in zip(*np.nonzero(encoded.mask.numpy() & (kinds == WORD)), strict=True):
        word = int(encoded.words[row, place])
        text = texts[row][slice(*encoded.offsets[row, place])].strip().lower()
        if pieces[row, word] > 1:
            split.add(text)
        else:
            written[row, place] = text
            counts[text] += 1
    common = [text for text, count in counts.most_common() if text and text not in split and count > 1]
    return np.isin(written, common[:FREQUENT_TYPES]) & (written != "")

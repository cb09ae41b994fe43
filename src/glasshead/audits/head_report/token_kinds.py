"""What the tokens of a text are: special ones by their names, punctuation, words, frequent words."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from transformers import PreTrainedTokenizerBase

from glasshead.audits.head_report.text_statistics import IMAGE, PUNCTUATION, WORD
from glasshead.data import Encoded, UnitReader, token_names

FREQUENT_TYPES = 20
"""So many of the commonest words that are never split is next to special tokens."""


@dataclass(frozen=True)
class TokenTable:
    """Tokens of encoded texts [texts, tokens]. ``kinds`` are the name of a special token, part of the image,
    punctuation, or word; ``unsplit`` are the words that are one token there, in lower case, else empty;
    ``split`` are the words of these texts that are several tokens somewhere."""

    kinds: NDArray[np.object_]
    unsplit: NDArray[np.object_]
    split: frozenset[str]


def make_token_table(
    tokenizer: PreTrainedTokenizerBase | UnitReader, encoded: Encoded, texts: Sequence[str]
) -> TokenTable:
    """The table of some texts; of a pair, of both with a line between."""
    real = encoded.mask.numpy()
    kinds, unsplit = np.full(real.shape, WORD, dtype=object), np.full(real.shape, "", dtype=object)
    split = set()
    for row, (ids, keep, words) in enumerate(zip(encoded.ids.numpy(), real, encoded.words, strict=True)):
        names = token_names(tokenizer, ids[keep].tolist())
        in_image = encoded.in_image(row)
        pieces = Counter(words[keep].tolist())
        for place in np.flatnonzero(keep):
            if words[place] < 0:
                kinds[row, place] = names[place]
                continue
            if in_image[place]:
                kinds[row, place] = IMAGE
                continue
            written = texts[row][slice(*encoded.offsets[row, place])]
            if is_punctuation(written):
                kinds[row, place] = PUNCTUATION
            elif pieces[int(words[place])] > 1:
                split.add(written.strip().lower())
            else:
                unsplit[row, place] = written.strip().lower()
    return TokenTable(kinds, unsplit, frozenset(split))


def is_punctuation(text: str) -> bool:
    """Whether nothing in it is a letter, a digit or a blank."""
    return bool(text) and all(unicodedata.category(character)[0] in "PS" for character in text)


def frequent_tokens(table: TokenTable) -> NDArray[np.bool_]:
    """Which tokens are among the commonest words that are one token wherever they occur."""
    counts = Counter(table.unsplit[table.unsplit != ""].tolist())
    common = [word for word, count in counts.most_common() if word not in table.split and count > 1]
    return np.isin(table.unsplit, common[:FREQUENT_TYPES]) & (table.unsplit != "")

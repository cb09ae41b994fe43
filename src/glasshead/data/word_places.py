"""Which word of a text each token belongs to, and where it stands, whatever the tokenizer calls a word."""

import re
import unicodedata
from collections.abc import Collection, Sequence

import numpy as np
from jaxtyping import Bool, Int
from tokenizers import Encoding
from tokenizers.models import WordLevel, WordPiece
from transformers import PreTrainedTokenizerBase, PreTrainedTokenizerFast

from glasshead.data.aligned_pieces import Pieces

BLANKS = re.compile(r"\s")
UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
"""Letters of scripts without blanks: Thai, Lao, Burmese, Khmer, Japanese, Chinese."""

JOINER = "\u200d"
SKINS = "\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"

Span = tuple[int, int]


def special_ids(tokenizer: PreTrainedTokenizerBase) -> frozenset[int]:
    """Tokens that are not part of a text wherever they stand in it, such as the marks of a chat.

    An unknown or a hidden word is a word.
    """
    own = {number for number, token in tokenizer.added_tokens_decoder.items() if token.special}
    ends = {tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.pad_token_id}
    return frozenset(own - ({tokenizer.unk_token_id, tokenizer.mask_token_id} - ends))


def word_places(
    tokenizer: PreTrainedTokenizerBase,
    row: Encoding | Pieces,
    texts: Sequence[str],
    special: Collection[int] = (),
) -> tuple[Int[np.ndarray, " tokens"], Int[np.ndarray, "tokens 2"], Int[np.ndarray, " tokens"]]:
    """The word of each token, −1 for ``special`` ones and those around the text, the characters that it
    stands for, and what the tokenizer itself calls its word; each text of a pair counts from 0."""
    words = np.array([-1 if word is None else word for word in row.word_ids], dtype=np.int64)
    offsets = np.array(row.offsets, dtype=np.int64).reshape(-1, 2)
    own = words.copy()
    words[[number in special for number in row.ids]] = -1
    is_fast = isinstance(tokenizer, PreTrainedTokenizerFast)
    splits_first = is_fast and isinstance(tokenizer.backend_tokenizer.model, WordLevel | WordPiece)
    for which, text in enumerate(texts):
        (tokens,) = np.nonzero(np.array([number == which for number in row.sequence_ids]) & (words >= 0))
        if splits_first:  # these are told where words end before they look
            words[tokens] = np.unique(words[tokens], return_inverse=True)[1]
            continue
        behind = 0
        for run in np.split(tokens, np.nonzero(np.diff(tokens) > 1)[0] + 1) if len(tokens) else ():
            divided, offsets[run] = divide(text, words[run].tolist(), offsets[run].tolist())
            words[run] = [word if word < 0 else word + behind for word in divided]
            behind = max(behind, words[run].max() + 1)
    return words, offsets, own


def word_beginnings(
    own: Int[np.ndarray, "texts tokens"],
    words: Int[np.ndarray, "texts tokens"],
    offsets: Int[np.ndarray, "texts tokens 2"],
) -> Bool[np.ndarray, "texts tokens"]:
    """Which token begins each of the ``words`` to a model: the first of it, unless that is a blank alone
    which the tokenizer, by its ``own`` words, keeps apart from what follows."""
    starts = np.ones(words.shape, dtype=bool)
    starts[:, 1:] = words[:, 1:] != words[:, :-1]
    apart = np.zeros(words.shape, dtype=bool)
    apart[:, :-1] = ~starts[:, 1:] & (own[:, 1:] != own[:, :-1]) & (offsets[:, :-1, 0] == offsets[:, :-1, 1])
    usable = (words >= 0) & ~apart
    count = usable.cumsum(axis=1)  # of all, and before each word
    before = np.maximum.accumulate(np.where(starts, count - usable, 0), axis=1)
    return np.asarray(usable & (count - before == 1))


def divide(text: str, words: Sequence[int], offsets: Sequence[Span]) -> tuple[list[int], list[Span]]:
    """Words and places of tokens of byte-level and SentencePiece tokenizers, to which blanks are letters.

    They stay as they are but for four things. White space divides words. A token of nothing but white space
    belongs to the word after it, or to the last one; if there is none it belongs to no word. Every token of a
    script without blanks is a word. What continues a character, and letters behind it, begin no word.
    """
    places = [trim(text, place) for place in offsets]
    divided = [-1] * len(places)
    current, last, end = -1, -1, 0
    for index, (word, (start, stop)) in enumerate(zip(words, places, strict=True)):
        if start == stop:
            continue
        unspaced = start >= end and UNSPACED.match(text, start) is not None
        is_new = current < 0 or BLANKS.search(text, end, max(start, end)) is not None
        if is_new or ((word != last or unspaced) and not continues(text, start, unspaced)):
            current += 1
        divided[index], last, end = current, word, max(end, stop)
    word, at = current, end
    for index in reversed(range(len(places))):
        if divided[index] >= 0:
            word, at = divided[index], places[index][0]
        else:
            divided[index], places[index] = word, (at, at)
    return divided, places


def continues(text: str, start: int, unspaced: bool) -> bool:
    """Whether a character and the one before it are read together: accents and vowel signs, letters behind
    them as in Devanagari, and what is joined to one emoji."""
    if start == 0:
        return False
    own, before = text[start], text[start - 1]
    if own in JOINER + SKINS or before == JOINER or unicodedata.category(own).startswith("M"):
        return True
    return not unspaced and own.isalpha() and unicodedata.category(before).startswith("M")


def trim(text: str, place: Span) -> Span:
    """Characters of a text without the blanks at both ends; none where all are blanks."""
    start, stop = place
    while start < stop and text[start].isspace():
        start += 1
    while start < stop and text[stop - 1].isspace():
        stop -= 1
    return start, stop

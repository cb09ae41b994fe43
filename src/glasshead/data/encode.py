"""Texts → one padded batch of ids that remembers where every token came from."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Int
from tokenizers import Encoding
from tokenizers.models import WordLevel
from torch import Tensor
from transformers import PreTrainedTokenizerFast

LONGEST = 100_000  # a maximum length beyond this means that there is none


class Encoded(NamedTuple):
    """Right-padded token ids; ``words`` is −1 on padding and special tokens, ``offsets`` are characters."""

    ids: Int[Tensor, "texts tokens"]
    mask: Bool[Tensor, "texts tokens"]
    words: Int[np.ndarray, "texts tokens"]
    offsets: Int[np.ndarray, "texts tokens 2"]


def encode(tokenizer: PreTrainedTokenizerFast, texts: Sequence[str], *, chunk: int = 4096) -> Encoded:
    """Tokenise once, truncated to the tokenizer's maximum length; an empty text has no real token."""
    rows = [
        encoding
        for start in range(0, len(texts), chunk)
        for encoding in encodings(tokenizer, texts[start : start + chunk])
    ]
    length = max((len(row) for row in rows), default=0)
    ids = np.full((len(rows), max(length, 1)), tokenizer.pad_token_id)
    mask = np.zeros(ids.shape, dtype=bool)
    words = np.full(ids.shape, -1)
    offsets = np.zeros((*ids.shape, 2), dtype=np.int64)
    for index, row in enumerate(rows):
        n = len(row)
        if n:
            ids[index, :n] = row.ids
            mask[index, :n] = True
            words[index, :n] = [-1 if word is None else word for word in row.word_ids]
            offsets[index, :n] = row.offsets
    return Encoded(torch.from_numpy(ids), torch.from_numpy(mask), words, offsets)


def occurrences(
    encoded: Encoded, labels: Int[Tensor, " texts"], *, classes: int, vocabulary: int
) -> Int[np.ndarray, "classes vocabulary"]:
    """How often each id occurs in the texts of each class, as far as the model reads them (for γ_e)."""
    rows, columns = encoded.mask.nonzero(as_tuple=True)
    cells = labels[rows] * vocabulary + encoded.ids[rows, columns]
    return np.bincount(cells.numpy(), minlength=classes * vocabulary).reshape(classes, vocabulary)


def encodings(tokenizer: PreTrainedTokenizerFast, texts: Sequence[str]) -> list[Encoding]:
    """Truncated encodings, without reading the far tail of a long text if nothing there can matter.

    A word-level tokenizer reads from left to right: once the beginning of a text overflows the maximum
    length, what follows cannot change the tokens that are kept. Other tokenizers may look at the whole text.
    """

    def read(some: Sequence[str]) -> list[Encoding]:
        return tokenizer(list(some), truncation=True, verbose=False).encodings or [] if some else []

    limit = tokenizer.model_max_length
    if not isinstance(tokenizer.backend_tokenizer.model, WordLevel) or limit > LONGEST:
        return read(texts)
    heads = [beginning(text, 8 * limit) for text in texts]  # English words have five letters and a space
    rows = read(heads)
    short = [i for i, text in enumerate(texts) if len(text) > len(heads[i]) and not rows[i].overflowing]
    for index, row in zip(short, read([texts[index] for index in short]), strict=True):
        rows[index] = row
    return rows


def beginning(text: str, size: int) -> str:
    """At most so many characters of a text, cut between two tokens: at white space outside of a tag."""
    if len(text) <= size:
        return text
    head = "".join(text[:size].rsplit(maxsplit=1)[:-1])
    opened = head.rfind("<")  # a tag is the one token that may hold white space
    return head if head.find(">", opened) >= 0 or opened < 0 else head[:opened]

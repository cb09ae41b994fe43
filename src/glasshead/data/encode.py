"""Texts → one padded batch of ids that remembers where every token came from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from jaxtyping import Int
from tokenizers import Encoding
from tokenizers.models import WordLevel
from torch import Tensor
from transformers import PreTrainedTokenizerBase, PreTrainedTokenizerFast

from glasshead.data.aligned_pieces import Pieces, read_pieces
from glasshead.data.encoded import Encoded, Unit
from glasshead.data.pictures import Picture
from glasshead.data.texts_with_images import TextWithImages, with_images
from glasshead.data.unit_reader import UnitReader
from glasshead.data.word_places import special_ids, word_beginnings, word_places
from glasshead.errors import InputError, pluralise
from glasshead.spelling import spell

HALF_CHARACTER = re.compile("[\ud800-\udfff]")
NO_MAXIMUM = 100_000  # a maximum length beyond this means that there is none
ONE_LENGTH = "batches_of_one_length"
"""What `keep_lengths_apart` sets of a tokenizer."""
LETTERS_PER_TOKEN = 16  # so many letters of most texts are several tokens


def as_encoded(ids: Int[Tensor, "texts tokens"]) -> Encoded:
    """Token ids of texts of one length, each token taken as a word."""
    words = np.tile(np.arange(ids.shape[1]), (len(ids), 1))
    return Encoded(ids, torch.ones_like(ids, dtype=torch.bool), words, np.zeros((*ids.shape, 2), dtype=int))


def is_utf8(text: str) -> bool:
    """Whether a text can be written as UTF-8: no undecoded byte and no half of a surrogate pair."""
    return HALF_CHARACTER.search(text) is None


def check_utf8(*texts: str) -> None:
    """Raise InputError for texts with undecoded bytes or half a character."""
    for half in filter(None, map(HALF_CHARACTER.search, texts)):
        if "\udc80" <= half[0] <= "\udcff":
            raise InputError(
                "the text is not UTF-8: convert it to UTF-8 or, if you typed it, set the terminal to UTF-8"
            )
        raise InputError(
            f"the text contains half a character, {half[0]!a}: it was cut "
            "within a pair of surrogates, or decoded "
            "wrongly"
        )


def join_pair(text: str, pair: str | None) -> str:
    """One text unchanged, or two with a line between them: words and offsets refer to this."""
    return text if pair is None else f"{text}\n{pair}"


def encode(
    tokenizer: PreTrainedTokenizerBase | UnitReader,
    texts: Sequence[Any],
    pairs: Sequence[str] | None = None,
    *,
    unit: Unit = "token",
    chunk: int = 4096,
) -> Encoded:
    """Tokenise once, truncated to the tokenizer's maximum length; an empty text has no word. ``unit`` is what
    is taken out of a text as a whole.

    For a pair that is too long, the longer text is cut first. Special tokens within a text, such as those
    of a chat, belong to no word; one that begins the text is not added again.

    A `UnitReader` takes the place of the tokenizer for inputs other than texts.

    Raises:
        ValueError: if there are not as many pairs as texts.
        InputError: on what is not a text, if the maximum length leaves no room for a word, and as the reader
            says.
    """
    if isinstance(tokenizer, UnitReader):
        if pairs is not None:
            raise InputError(
                f"this model reads one image at a time: leave the second one out ({spell('pairs')})"
            )
        return tokenizer.encode(texts)
    check_strings(texts)
    if pairs is not None and len(pairs) != len(texts):
        raise ValueError(f"{len(texts)} texts need as many second texts, not {len(pairs)}")
    check_room(tokenizer, pair=pairs is not None)
    rows = [
        encoding
        for start in range(0, len(texts), chunk)
        for encoding in encodings(
            tokenizer,
            texts[start : start + chunk],
            None if pairs is None else pairs[start : start + chunk],
        )
    ]
    special = special_ids(tokenizer)
    firsts = [int(begins_twice(tokenizer, row.ids)) for row in rows]
    length = max((len(row) - first for row, first in zip(rows, firsts, strict=True)), default=0)
    ids = np.full((len(rows), max(length, 1)), tokenizer.pad_token_id)
    mask = np.zeros(ids.shape, dtype=bool)
    words = np.full(ids.shape, -1)
    offsets = np.zeros((*ids.shape, 2), dtype=np.int64)
    called = np.full(ids.shape, -1)
    types = np.zeros(ids.shape, dtype=np.int64) if "token_type_ids" in tokenizer.model_input_names else None
    for index, (row, first) in enumerate(zip(rows, firsts, strict=True)):
        n = len(row) - first
        if n:
            ids[index, :n] = row.ids[first:]
            mask[index, :n] = True
            read = texts[index : index + 1] if pairs is None else (texts[index], pairs[index])
            own, places, names = word_places(tokenizer, row, read, special)
            words[index, :n], offsets[index, :n], called[index, :n] = (
                own[first:],
                places[first:],
                names[first:],
            )
            if types is not None:
                types[index, :n] = row.type_ids[first:]
            if pairs is not None:
                second = np.array([which == 1 for which in row.sequence_ids[first:]])
                words[index, :n][second] += words[index, :n][~second].max(initial=-1) + 1
                offsets[index, :n][second] += len(join_pair(texts[index], ""))
    encoded = Encoded(
        torch.from_numpy(ids),
        torch.from_numpy(mask),
        words,
        offsets,
        None if types is None else torch.from_numpy(types),
        unit,
        one_length=getattr(tokenizer, ONE_LENGTH, False),
        begins=word_beginnings(called, words, offsets),
    )
    return with_images(encoded, texts) if any(isinstance(text, TextWithImages) for text in texts) else encoded


def keep_lengths_apart(tokenizer: PreTrainedTokenizerBase) -> None:
    """Let this tokenizer make batches of one length, because padding changes the predictions of its model."""
    setattr(tokenizer, ONE_LENGTH, True)


def check_strings(texts: Sequence[Any]) -> None:
    """Raise InputError where a tokenizer is given anything but texts."""
    for text in texts:
        if isinstance(text, Picture):
            raise InputError(
                f"{text} is an image, and this model reads texts: give texts, or an image classifier"
            )
    check_utf8(*texts)


def check_room(tokenizer: PreTrainedTokenizerBase, *, pair: bool) -> None:
    """Raise InputError if a text is cut to so few tokens that none of its own is left.

    Some tokenizers cut nothing where not even the special tokens fit, so this is tried.
    """
    limit, special = tokenizer.model_max_length, tokenizer.num_special_tokens_to_add(pair=pair)
    if limit > special:
        return
    texts = ["a", "a"] if pair else ["a"]
    if limit > 0 and len(tokenizer(*texts, truncation=True, verbose=False)["input_ids"]) > special:
        return
    raise InputError(
        f"{'pairs' if pair else 'texts'} are cut to {pluralise(limit, 'token')}, which leaves no room for a "
        "word: allow more, by model_max_length of the tokenizer or in the pipeline"
    )


def begins_twice(tokenizer: PreTrainedTokenizerBase, ids: Sequence[int]) -> bool:
    """Whether the tokenizer added a first token that the chat template had already added, or a processor
    behind the tokens of an image."""
    begin = tokenizer.bos_token_id
    if begin is None or len(ids) < 2 or ids[0] != begin:
        return False
    if ids[1] == begin:
        return True
    end = next((place for place, token in enumerate(ids) if place and token != ids[1]), 0)
    return end > 2 and ids[end] == begin and ids[1] in tokenizer.all_special_ids


def occurrences(
    encoded: Encoded, labels: Int[Tensor, " texts"], *, classes: int, vocabulary: int
) -> Int[np.ndarray, "classes vocabulary"]:
    """How often each id occurs in the texts of each class, as far as the model reads them (for γ_e)."""
    rows, columns = encoded.mask.nonzero(as_tuple=True)
    cells = labels[rows] * vocabulary + encoded.ids[rows, columns]
    return np.bincount(cells.numpy(), minlength=classes * vocabulary).reshape(classes, vocabulary)


def encodings(
    tokenizer: PreTrainedTokenizerBase, texts: Sequence[str], pairs: Sequence[str] | None = None
) -> Sequence[Encoding | Pieces]:
    """Truncated encodings, without reading the far tail of a long text if nothing there can matter.

    Tokenizers in Python read all of a text, and their pieces are found in it.

    A word-level tokenizer reads from left to right: once the beginning of a text overflows the maximum
    length, what follows cannot change the tokens that are kept. Of others a beginning is taken if one that is
    twice as long has the same tokens (`beginning`).
    """

    if not isinstance(tokenizer, PreTrainedTokenizerFast):
        both = [(text, None) for text in texts] if pairs is None else list(zip(texts, pairs, strict=True))
        return [read_pieces(tokenizer, *each) for each in both]

    def read(some: Sequence[str]) -> list[Encoding]:
        return tokenizer(list(some), truncation=True, verbose=False).encodings or [] if some else []

    limit = tokenizer.model_max_length
    is_whole = limit > NO_MAXIMUM or tokenizer.truncation_side != "right"
    if pairs is not None:
        if not is_whole:
            cut = [pair_beginnings(tokenizer, *pair) for pair in zip(texts, pairs, strict=True)]
            texts, pairs = [text for text, _ in cut], [pair for _, pair in cut]
        return tokenizer(list(texts), list(pairs), truncation=True, verbose=False).encodings or []
    if is_whole:
        return read(texts)
    if not isinstance(tokenizer.backend_tokenizer.model, WordLevel):
        return read([beginning(tokenizer, text) for text in texts])
    heads = [safe_prefix(text, 8 * limit) for text in texts]  # English words have five letters and a space
    rows = read(heads)
    short = [i for i, text in enumerate(texts) if len(text) > len(heads[i]) and not rows[i].overflowing]
    for index, row in zip(short, read([texts[index] for index in short]), strict=True):
        rows[index] = row
    return rows


def beginning(tokenizer: PreTrainedTokenizerFast, text: str) -> str:
    """The part of a text that decides which of its tokens are kept: a beginning that overflows the maximum
    length, if another one of half its length has the same tokens at the same places, so that what follows is
    too far away to matter; else more, and in the end the whole text."""
    size = LETTERS_PER_TOKEN * tokenizer.model_max_length
    while 2 * size < len(text):
        heads = [text[:size], text[: 2 * size]]
        first, second = tokenizer(heads, truncation=True, verbose=False).encodings or []
        overflow = first.overflowing and second.overflowing
        if overflow and first.ids == second.ids and first.offsets == second.offsets:
            return heads[1]
        size *= 4
    return text


def pair_beginnings(tokenizer: PreTrainedTokenizerFast, text: str, pair: str) -> tuple[str, str]:
    """Beginnings of a pair, of which one is long and the other so short that it has fewer tokens than what is
    left of the long one: which of the two is cut, and how far, stays as it is."""
    limit = tokenizer.model_max_length
    if len(pair.encode()) <= limit:  # no token is less than a byte
        return beginning(tokenizer, text), pair
    if len(text.encode()) <= limit:
        return text, beginning(tokenizer, pair)
    return text, pair


def safe_prefix(text: str, size: int) -> str:
    """The first so many characters of a text, cut between two tokens: at white space outside of a tag."""
    if len(text) <= size:
        return text
    head = "".join(text[:size].rsplit(maxsplit=1)[:-1])
    opened = head.rfind("<")  # a tag is the one token that may hold white space
    return head if head.find(">", opened) >= 0 or opened < 0 else head[:opened].rstrip("<")

"""Where the tokens of a written text stand in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from transformers import PreTrainedTokenizerBase

from glasshead.data import TextImages, begins_twice, number_units, offsets_of, seen_tokens, token_names

BROKEN = "\ufffd"
"""What stands for bytes that are not whole characters yet."""


@dataclass(frozen=True)
class PromptTokens:
    """What stands before an answer as the model reads it, with the characters that each token stands for; an
    encoder reads the first ``source`` tokens, if there is one."""

    text: str
    ids: tuple[int, ...]
    offsets: tuple[tuple[int, int], ...]
    source: int = 0

    @property
    def inputs(self) -> tuple[int, ...]:
        """What the model is given."""
        return self.ids[: self.source] if self.source else self.ids

    @property
    def answer_start(self) -> tuple[int, ...]:
        """What the answer goes on with: the prompt, or the token with which a decoder begins."""
        return self.ids[self.source :]

    def with_answer_start(self, begin: int, at: int) -> PromptTokens:
        """A prompt of an encoder–decoder, whose answer begins with a token of its own, at a character."""
        ids, offsets = (*self.ids, begin), (*self.offsets, (at, at))
        return PromptTokens(self.text, ids, offsets, len(self.ids))


def read_prompt(tokenizer: PreTrainedTokenizerBase, prompt: str) -> PromptTokens:
    """The tokens of a prompt, uncut. A token that begins texts is added once, also if a chat template has it
    already."""
    ids, offsets = offsets_of(tokenizer, prompt)
    first = int(begins_twice(tokenizer, ids))
    return PromptTokens(prompt, tuple(ids[first:]), tuple(offsets[first:]))


def answer_spans(
    tokenizer: PreTrainedTokenizerBase, before: Sequence[int], answer: Sequence[int], at: int
) -> tuple[str, list[tuple[int, int]]]:
    """The text of an answer behind the tokens ``before``, and the characters of each of its tokens, counted
    from ``at``; special tokens have none.

    A character whose bytes are several tokens belongs to all of them.
    """
    special = set(tokenizer.all_special_ids)
    begin = decode_tokens(tokenizer, before)
    spans: list[tuple[int, int]] = []
    text, waiting = "", 0
    for count, token in enumerate(answer, start=1):
        grown = decode_tokens(tokenizer, [*before, *answer[:count]])[len(begin) :]
        if token in special:
            spans.append((at + len(text), at + len(text)))
            continue
        if grown.endswith(BROKEN) and count < len(answer):
            spans.append((-1, -1))
            waiting += 1
            continue
        span = (at + len(text), at + len(grown))
        spans = [span if own == (-1, -1) else own for own in spans] if waiting else spans
        spans.append(span)
        text, waiting = grown, 0
    # Bytes that never became a character, before a special token at the end.
    full = decode_tokens(tokenizer, [*before, *answer])[len(begin) :]
    return full, [(at + len(text), at + len(full)) if own == (-1, -1) else own for own in spans]


def decode_tokens(tokenizer: PreTrainedTokenizerBase, ids: Sequence[int]) -> str:
    """The text of tokens, with every blank, without special tokens."""
    text = tokenizer.decode(list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False)
    assert isinstance(text, str)
    return text


def word_numbers(text: str, offsets: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """The word of each token: words are apart by blanks, and a blank belongs to what follows it; −1 for
    tokens without characters."""
    numbers, word, begun = list[int](), -1, 0
    for start, stop in offsets:
        if stop <= start:
            numbers.append(-1)
            continue
        letters_before = text[begun:start].strip()
        if word < 0 or (letters_before and (text[start].isspace() or text[start - 1].isspace())):
            word, begun = word + 1, start
        numbers.append(word)
    return tuple(numbers)


def lay_out(
    tokenizer: PreTrainedTokenizerBase,
    text: str,
    ids: Sequence[int],
    offsets: Sequence[tuple[int, int]],
    images: TextImages | None,
) -> dict[str, Any]:
    """The text, its tokens, their words and where they stand in it; if it has images,
    without the placeholders of image tokens. Each of these is a separate word with a place in its image."""
    laid: dict[str, Any] = {"text": text, "offsets": tuple(offsets), "ids": tuple(ids)}
    laid["tokens"] = token_texts(tokenizer, text, ids, offsets)
    if images is None:
        return laid | {"words": word_numbers(text, offsets)}
    numbers = np.array(ids)
    laid |= images.drawing(numbers, offsets, text)
    words = np.array(word_numbers(laid["text"], laid["offsets"]))
    laid["words"] = tuple(number_units(words, seen_tokens(numbers, images)).tolist())
    laid["tokens"] = tuple(images.name_tokens(numbers, laid["tokens"]))
    return laid


def token_texts(
    tokenizer: PreTrainedTokenizerBase, text: str, ids: Sequence[int], offsets: Sequence[tuple[int, int]]
) -> tuple[str, ...]:
    """Each token as it stands in the text; one without characters as the vocabulary has it."""
    names = token_names(tokenizer, ids)
    return tuple(text[a:b] or name for name, (a, b) in zip(names, offsets, strict=True))

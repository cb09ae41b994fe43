"""A tokenizer, asked as what reads other inputs is asked."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from glasshead.data.chats import is_chat
from glasshead.data.token_ids import are_ids, texts_of_ids
from glasshead.data.unit_reader import UnitReader
from glasshead.errors import InputError, ParameterError
from glasshead.nouns import TEXTS, Nouns
from glasshead.spelling import spell


@dataclass(frozen=True)
class TextReader:
    """Texts are read as they are and in full, unless they are too long."""

    tokenizer: Any
    nouns: ClassVar[Nouns] = TEXTS
    usual_limit: ClassVar[int | None] = None
    reads_all: ClassVar[bool] = False

    def inputs(self, sources: Sequence[Any]) -> list[Any]:
        """Texts and chats as they are; token ids are decoded.

        Raises:
            InputError: if they are none of these.
        """
        read = list[Any]()
        for source in sources:
            if isinstance(source, Mapping) and {"image", "images"} & set(source):
                raise InputError(
                    "this model was opened to read only texts: if it also reads images, pass its processor "
                    f"(AutoProcessor) as {spell('tokenizer')}"
                )
            read += texts_of_ids(self.tokenizer, source) if are_ids(source) else [source]
        as_texts(text for text in read if not is_chat(text))
        return read

    def with_limit(self, max_length: int | None, blocks: int | None) -> Any:
        """The tokenizer, set to truncate texts to ``limit`` tokens if it does not already cut them shorter.

        Raises:
            InputError: if there is no room for a word, and on blocks, which texts do not have.
        """
        if blocks is not None:
            raise ParameterError("blocks", "is for images: texts have words")
        if max_length is None:
            return self.tokenizer
        least = self.tokenizer.num_special_tokens_to_add(pair=True) + 2
        if max_length < least:
            raise ParameterError(
                "max_length", f"{max_length} leaves no room for words: give at least {least}"
            )
        shorter = copy.deepcopy(self.tokenizer)
        shorter.model_max_length = min(self.tokenizer.model_max_length, max_length)
        return shorter

    def cost_note(self, inputs: int, total: int) -> str | None:
        """Nothing is left out by default."""
        return None


IMAGE_READER = "reads_texts_with_images"
"""Where a tokenizer keeps what reads texts with images, of a model that does."""


def reader_of(tokenizer: Any) -> TextReader | UnitReader:
    """What reads the inputs of a model: what takes the place of a tokenizer, or the tokenizer."""
    if isinstance(tokenizer, UnitReader):
        return tokenizer
    reader: TextReader = getattr(tokenizer, IMAGE_READER, None) or TextReader(tokenizer)
    return reader


SINGLE = (str, bytes, bytearray, memoryview, Mapping)
"""What has parts and is one thing all the same."""
IMAGE_AXES = (2, 3)
"""An array of so many axes is one image; of four, several."""


def as_sources(inputs: Any) -> list[Any]:
    """One input that is not a text, or several."""
    single = isinstance(inputs, SINGLE) or is_chat(inputs) or getattr(inputs, "ndim", None) in IMAGE_AXES
    return list(inputs) if isinstance(inputs, Iterable) and not single else [inputs]


def as_texts(texts: str | Iterable[str]) -> list[str]:
    """One text, or several.

    Raises:
        InputError: if they are not strings.
    """
    listed = as_sources(texts)
    for text in listed:
        if not isinstance(text, str):
            second = "; second texts are a separate argument, pairs" if isinstance(text, tuple) else ""
            raise InputError(f"a text must be a string, not {text!r}{second}")
    return listed

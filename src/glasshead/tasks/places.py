"""A model that gives every token something, asked at one place of a text: a mark at a token is the question,
which therefore moves with its word."""

from __future__ import annotations

import re
from abc import abstractmethod
from dataclasses import replace

import numpy as np
import torch
from jaxtyping import Bool, Int
from numpy.typing import NDArray
from torch import Tensor

from glasshead.data import Encoded
from glasshead.errors import ParameterError, pluralise
from glasshead.huggingface import At, Inputs, TaskModel
from glasshead.registry import did_you_mean


class PartModel(TaskModel):
    """A model that is asked about a part of a text."""

    main_input_name = "input_ids"
    asks_words = True

    @abstractmethod
    def place(self, encoded: Encoded, row: int) -> slice:
        """The tokens that an input is asked about."""

    def question_in_words(self, encoded: Encoded, row: int, text: str) -> str:
        """The part of the text."""
        return text[slice(*stretch(encoded.offsets[row, self.place(encoded, row)]))]


class PlaceModel(PartModel):
    """A model that is asked about words: the ``question`` [b, n] is 1 at the first token of one."""

    def about(self, encoded: Encoded, places: Int[Tensor, " texts"]) -> Encoded:
        """Inputs, each asked about the word that begins at a token."""
        question = torch.zeros_like(encoded.ids).scatter(1, places[:, None], 1)
        return replace(encoded, question=question, asks_place=True)

    def place(self, encoded: Encoded, row: int) -> slice:
        """The tokens of the word that an input is asked about."""
        assert encoded.question is not None
        first = int(encoded.question[row].argmax())
        words = encoded.words[row]
        return slice(first, int(np.flatnonzero(words == words[first])[-1]) + 1)


def at_places(values: Tensor, question: Int[Tensor, "b n"] | None) -> Tensor:
    """Of values [b, n, …] those [b, …] at the places that are asked about."""
    if question is None:
        raise ValueError("no question: name the word")
    places = question.argmax(dim=1).to(values.device)
    return values[torch.arange(len(places), device=places.device), places]


def first_tokens(encoded: Encoded) -> Bool[Tensor, "texts tokens"]:
    """Which tokens begin a word."""
    assert encoded.begins is not None
    return torch.from_numpy(encoded.begins) & encoded.mask


def find_words(inputs: Inputs, at: At) -> Int[Tensor, " texts"]:
    """The first token of a word of each text, by its number or as it is written.

    Raises:
        ParameterError: as `find_word`.
    """
    rows = range(len(inputs.texts))
    return torch.tensor([find_word(inputs.encoded, row, inputs.joined(row), at) for row in rows])


def find_word(encoded: Encoded, row: int, text: str, at: At) -> int:
    """The first token of a word, by its number or as it is written.

    Raises:
        ParameterError: if the text, as far as it is read, has no such word, or several.
    """
    places = first_tokens(encoded)[row].nonzero()[:, 0].tolist()
    if isinstance(at, int):
        if not 0 <= at < len(places):
            raise ParameterError("at", f"is {at}, and {text[:40]!r} has {pluralise(len(places), 'word')}")
        return int(places[at])
    spelled, name = [word_at(encoded, row, text, place) for place in places], str(at)
    found = [number for number, word in enumerate(spelled) if word == name]
    if not found and name.strip():  # words that the tokenizer divides
        spans = [characters_at(encoded, row, place) for place in places]
        found = [
            number
            for match in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text)
            for number, (start, _) in enumerate(spans)
            if start == match.start()
        ]
    if len(found) > 1:
        several = ", ".join(map(str, found))
        raise ParameterError("at", f"is {name!r}, which occurs more than once: give its number ({several})")
    if not found and name.isdecimal() and int(name) < len(places):
        found = [int(name)]
    if not found:
        meant = did_you_mean(name, spelled)
        raise ParameterError("at", f"is {name!r}, which is not a word of {text[:40]!r}: {meant}")
    return int(places[found[0]])


def word_at(encoded: Encoded, row: int, text: str, place: int) -> str:
    """How the word is written that begins at a token."""
    return text[slice(*characters_at(encoded, row, place))]


def characters_at(encoded: Encoded, row: int, place: int) -> tuple[int, int]:
    """The first character of the word that begins at a token, and the one behind it."""
    return stretch(encoded.offsets[row][encoded.words[row] == encoded.words[row][place]])


def stretch(offsets: NDArray[np.int64]) -> tuple[int, int]:
    """The first character of tokens and the one behind the last; blanks alone among others have none."""
    written = offsets[:, 0] < offsets[:, 1]
    own = offsets[written] if written.any() else offsets
    return int(own[:, 0].min()), int(own[:, 1].max())


WORD_AT = "first character of the word"
"""The column of where the word begins that a row is asked about."""


def places_of_rows(encoded: Encoded, starts: list[int]) -> Int[Tensor, " texts"]:
    """The tokens at which the words begin that begin at these characters."""
    found = torch.from_numpy(encoded.offsets[..., 0]) == torch.tensor(starts)[:, None]
    found &= first_tokens(encoded)
    assert found.any(dim=1).all()  # words that are not read were not drawn
    return found.long().argmax(dim=1)

"""Aggregate tokens to words: numbers of sub-words are added up, or their vectors."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float
from torch import Tensor

from glasshead.errors import InputError
from glasshead.results import Attribution
from glasshead.trace import unit_of_each, word_pieces


def word_starts(words: Sequence[int]) -> list[int]:
    """Where each word begins among the tokens, from the word of each token; a special token (word −1) is a
    word."""
    units = unit_of_each(words)
    return [place for place, unit in enumerate(units) if place == 0 or unit != units[place - 1]]


def by_word(attribution: Attribution) -> Attribution:
    """An attribution whose tokens are words of the original text.

    A word's score is the sum over its tokens (attention *to* a split-up word adds up, Clark et al. 2019),
    or the result of the method on their vectors, so that a word does not win by being divided. Its place
    runs from its first to its last character. Special tokens (word −1) stay as they are.

    Raises:
        InputError: if tokens that would be added up have intervals.
    """
    if attribution.boxes is not None and not attribution.has_words:  # patches of an image are whole
        return attribution
    starts = word_starts(attribution.words)
    check_ends(attribution, len(starts))
    ends = [*starts[1:], len(attribution.words)]
    pieces = list(zip(starts, ends, strict=True)) if starts else []

    def add(values: tuple[float, ...]) -> tuple[float, ...]:
        return tuple(np.add.reduceat(values, starts).tolist()) if starts else ()

    offsets = tuple((attribution.offsets[a][0], attribution.offsets[b - 1][1]) for a, b in pieces)
    return replace(
        attribution,
        tokens=tuple(
            (attribution.text[begin:end] if attribution.words[a] != -1 else "") or attribution.tokens[a]
            for (a, _), (begin, end) in zip(pieces, offsets, strict=True)
        ),
        ids=tuple(attribution.ids[a] for a in starts),
        words=tuple(attribution.words[a] for a in starts),
        offsets=offsets,
        scores=add(attribution.scores if attribution.word_scores is None else attribution.word_scores),
        word_scores=None,
        boxes=None if attribution.boxes is None else tuple(attribution.boxes[a] for a in starts),
        image_numbers=(
            None if attribution.image_numbers is None else tuple(attribution.image_numbers[a] for a in starts)
        ),
        contributions=None if attribution.contributions is None else add(attribution.contributions),
        image_sinks=tuple(place for place, a in enumerate(starts) if a in attribution.image_sinks),
    )


def sum_words(vectors: Float[Tensor, "*q n d"], words: Sequence[int]) -> Float[Tensor, "*q n d"]:
    """The sum of the vectors of each word at its first token, zeros at the others; tokens beyond ``words``
    stay as they are."""
    return word_pieces([words], vectors.shape[-2])[0].to(vectors) @ vectors


def check_ends(attribution: Attribution, units: int) -> None:
    """Raise InputError if tokens that have intervals were to be added up to fewer units."""
    if attribution.intervals is not None and units < len(attribution.scores):
        raise InputError(
            "the interval of a sum is not the sum of the intervals: add up first, then call with_intervals"
        )

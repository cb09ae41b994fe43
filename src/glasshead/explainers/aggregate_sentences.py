"""Aggregate tokens to sentences, for models that read sentences one by one."""

from dataclasses import replace

import numpy as np
import torch
from jaxtyping import Int
from numpy.typing import NDArray
from transformers import PreTrainedModel

from glasshead.data import Encoded
from glasshead.errors import InputError
from glasshead.explainers.aggregate_words import check_ends
from glasshead.models import HierarchicalClassifier
from glasshead.results import Attribution
from glasshead.trace import no_sentences


def sentence_numbers(model: PreTrainedModel, encoded: Encoded) -> Int[torch.Tensor, "texts tokens"]:
    """The number of the sentence of each token, as the model splits the text; −1 on padding.

    Raises:
        InputError: if the model knows no sentences.
    """
    if not isinstance(model, HierarchicalClassifier):
        raise InputError(no_sentences())
    segments = model.segments(encoded.ids, encoded.mask, encoded.types)
    numbers = torch.full(encoded.mask.shape, -1)
    numbers[encoded.mask] = segments.number[segments.places // segments.mask.shape[1]]
    return numbers


def by_sentence(attribution: Attribution, numbers: NDArray[np.int64]) -> Attribution:
    """An attribution whose tokens are sentences: numbers add up, places run from first to last token.

    Raises:
        InputError: if tokens that would be added up have intervals.
    """
    starts = np.flatnonzero(np.diff(numbers, prepend=-1)).tolist()
    check_ends(attribution, len(starts))
    ends = [*starts[1:], len(numbers)]
    pieces = list(zip(starts, ends, strict=True)) if starts else []
    offsets = tuple((attribution.offsets[a][0], attribution.offsets[b - 1][1]) for a, b in pieces)

    def add(values: tuple[float, ...]) -> tuple[float, ...]:
        return tuple(np.add.reduceat(values, starts).tolist()) if starts else ()

    return replace(
        attribution,
        tokens=tuple(attribution.text[begin:end] for begin, end in offsets),
        ids=(-1,) * len(pieces),
        words=tuple(range(len(pieces))),
        offsets=offsets,
        scores=add(attribution.scores),
        contributions=None if attribution.contributions is None else add(attribution.contributions),
    )

"""Attention sinks among the parts of an image that is read with a text."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from glasshead.arrays import Floats, Integers
from glasshead.attention import AttentionInputs
from glasshead.data import EncodedTextsWithImages, Inputs, batches
from glasshead.errors import InputError
from glasshead.explainers.explanation_context import ExplanationContext
from glasshead.explainers.removals.removal import logits_edited
from glasshead.explainers.targets import value_change
from glasshead.results import SMALL_CHANGE
from glasshead.statistics import find_sinks
from glasshead.trace import Edit, intervene, record_stack


class PartWeights(NamedTuple):
    """The weights of all heads on the parts of the image of one text, in the rows that predict, and the
    places of these parts."""

    weights: Floats
    places: Integers


def image_sinks(context: ExplanationContext) -> list[tuple[int, ...]]:
    """The tokens of the image of each text that are attention sinks (`find_sinks`): by the weights of all
    heads up to the selected layer in the rows that predict, and by how much ŷ changes if nothing is read from
    them.

    Empty also where they cannot be found: where attention cannot be followed through all layers, or heads are
    too few.
    """
    return [
        tuple(own.places[sinks_among(context, row, own)].tolist())
        for row, own in enumerate(weights_on_parts(context))
    ]


def sinks_among(context: ExplanationContext, row: int, own: PartWeights) -> Integers:
    """The numbers of the parts of a text that are attention sinks."""
    tokens = context.encoded.ids[row][context.encoded.mask[row]].numpy()
    effects = effects_of_parts(context, row, own.places)
    return find_sinks(own.weights, effects, small=SMALL_CHANGE, tokens=tokens)


def weights_on_parts(context: ExplanationContext) -> list[PartWeights]:
    """The weights [heads of all layers, rows, parts] of each text; no heads where there is no such map."""
    encoded, site = context.encoded, context.site
    assert isinstance(encoded, EncodedTextsWithImages)
    assert site is not None
    parts = [np.flatnonzero(encoded.in_image(row)) for row in range(len(encoded.ids))]
    found = [PartWeights(np.zeros((0, 1, len(own))), own) for own in parts]
    for texts, inputs in batches(encoded, device=context.model.device, maps=site.num_heads * site.num_layers):
        try:
            stack = record_stack(context.model, inputs, site, context.rows, texts)
        except InputError:
            return found
        layers = [layer.weights for layer in stack.layers]
        for place, row in enumerate(texts.tolist()):
            read = stack.row_shares[place] > 0
            maps = [layer[place, :, read][..., parts[row]].double().cpu().numpy() for layer in layers]
            found[row] = PartWeights(np.concatenate(maps), parts[row])
    return found


def effects_of_parts(context: ExplanationContext, row: int, places: Integers) -> Callable[[Integers], Floats]:
    """|ŷ − ŷ where nothing is read from one part| of a text, of parts by their number."""

    def measure(chosen: Integers) -> Floats:
        removed = torch.zeros(len(chosen), context.encoded.ids.shape[1], dtype=torch.bool)
        removed[torch.arange(len(chosen)), torch.from_numpy(places[chosen])] = True
        return np.abs(changes_unread(context, torch.full((len(chosen),), row), removed))

    return measure


def changes_unread(
    context: ExplanationContext, texts: Int[Tensor, " variants"], removed: Bool[Tensor, "variants tokens"]
) -> Floats:
    """ŷ − ŷ where no layer reads anything from some tokens: their weights are zero, and all others stay."""

    def unread(rows: Tensor, inputs: Inputs) -> AbstractContextManager[None]:
        return intervene(context.model, not_read(removed[rows]))

    after = logits_edited(context, texts, unread)
    before, target = context.logits[texts], context.target[texts]
    return np.asarray(value_change(context.target_fn, before, after, target).double().numpy())


def not_read(removed: Bool[Tensor, "b n"]) -> Edit:
    """The weights of every query on some tokens become zero."""

    def edit(layer: int, weights: Float[Tensor, "b h q k"], call: AttentionInputs) -> Tensor:
        gone = removed[:, None, None, : weights.shape[-1]].to(weights.device)
        return weights.masked_fill(gone, 0.0)

    return edit

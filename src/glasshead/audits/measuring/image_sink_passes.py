"""The attention sinks of images, how much of a map is on them, and what is left of an answer without them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch

from glasshead.arrays import Floats, Integers
from glasshead.audits.measuring.removal_curves import in_float32
from glasshead.audits.measuring.view import ModelView
from glasshead.explainers import ExplanationContext, changes_unread, sinks_among, weights_on_parts
from glasshead.statistics import can_have_sinks, much_attended

AUDIT = "image-sinks"
DRAWS = 3
"""Random orders of the weights of each head."""


class SinkNumbers(NamedTuple):
    """The share of a map on sinks, and on parts that heads agree on by chance; whether there are any; |Δŷ|
    with nothing read from them. NaN of what is not known."""

    share: float = np.nan
    share_by_chance: float = np.nan
    found: float = np.nan
    found_by_chance: float = np.nan
    effect: float = np.nan


def measure_sinks(view: ModelView) -> Iterator[SinkNumbers]:
    """The numbers of each text."""
    context = in_float32(view)
    scores = np.abs(view.scores)
    for row, parts in enumerate(weights_on_parts(context)):
        if not can_have_sinks(parts.weights):
            yield SinkNumbers()
            continue
        rng, own = view.rng(AUDIT, row), scores[row, parts.places]
        sinks = sinks_among(context, row, parts)
        chance = [much_attended(shuffle_parts(parts.weights, rng)) for _ in range(DRAWS)]
        yield SinkNumbers(
            share_on(own, sinks),
            float(np.mean([share_on(own, np.flatnonzero(one)) for one in chance])),
            float(len(sinks) > 0),
            float(np.mean([one.any() for one in chance])),
            effect_of_all(context, row, parts.places[sinks]),
        )


def effect_of_all(context: ExplanationContext, row: int, sinks: Integers) -> float:
    """|Δŷ| of a text with nothing read from all its sinks; NaN where it has none."""
    if not len(sinks):
        return np.nan
    removed = torch.zeros(1, context.encoded.ids.shape[1], dtype=torch.bool)
    removed[0, sinks] = True
    return float(np.abs(changes_unread(context, torch.tensor([row]), removed))[0])


def share_on(scores: Floats, chosen: np.ndarray) -> float:
    """The share of some parts; NaN where all is zero."""
    total = scores.sum()
    return float(scores[chosen].sum() / total) if total > 0 else np.nan


def shuffle_parts(weights: Floats, rng: np.random.Generator) -> Floats:
    """The weights of each head with the parts in a random order, one for all its rows."""
    orders = [rng.permutation(weights.shape[-1]) for _ in weights]
    return np.stack([head[:, order] for head, order in zip(weights, orders, strict=True)])

"""Attention sinks in the image that an answer was written about."""

from __future__ import annotations

import numpy as np
import torch

from glasshead.arrays import Floats, Integers
from glasshead.explainers import not_read
from glasshead.generation.attention_rows import row_layers
from glasshead.generation.erasure_rows import ALL_LAYERS, ErasureRows
from glasshead.generation.target import AnswerTarget
from glasshead.generation.text import ReadText
from glasshead.results import SMALL_CHANGE
from glasshead.statistics import find_sinks
from glasshead.trace import intervene


@torch.no_grad()
def image_sinks_of_text(text: ReadText, parts: Integers) -> tuple[int, ...]:
    """The places among ``parts`` that are attention sinks (`find_sinks`): by the weights of all heads in the
    rows that the answer was written from, and by the mean |change| of its log-probabilities if nothing is
    read from a part."""
    layers = row_layers(text, None)
    weights = np.concatenate([layer.weights[0][..., parts].double().cpu().numpy() for layer in layers])
    target, step = AnswerTarget("log-probability", text.answer), ErasureRows(ALL_LAYERS).step(text)

    def measure(chosen: Integers) -> Floats:
        own, changes = target(text.logits()), list[torch.Tensor]()
        for places in torch.from_numpy(parts[chosen]).split(step):
            removed = places[:, None] == torch.arange(text.before.shape[1])
            with intervene(text.model, not_read(removed)):
                logits = text.logits(text.ids.expand(len(places), -1))
            changes.append((own - target(logits)).abs().mean(dim=1))
        return np.asarray(torch.cat(changes).double().cpu().numpy())

    places = find_sinks(weights, measure, small=SMALL_CHANGE, tokens=text.ids[0].cpu().numpy())
    return tuple(parts[places].tolist())

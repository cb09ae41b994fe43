"""What a prediction loses without a head."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy.typing import NDArray
from torch import Tensor

from glasshead.data import batches, heads_of
from glasshead.explainers import ExplanationContext, value_change
from glasshead.trace import ResumedPasses, find_shortcut, zero_heads

HeadRemoval = tuple[int, tuple[int, ...]]
"""A layer, and which of its heads are taken out together."""


def ablate_heads(
    context: ExplanationContext, target: Int[Tensor, " texts"], removals: Sequence[HeadRemoval],
    on_edits: Callable[[int, int], None],
) -> NDArray[np.float64]:  # fmt: skip
    """ŷ(x) − ŷ(x without the heads) [texts, removals] of the ``target`` class, or of the rating: their
    weights are zero. ``on_edits`` is told how many of texts × removals are done.

    The model is entered at the layer that is edited, where it can be. Source: Michel, Levy and Neubig (2019),
    eq. 1.
    """
    model, encoded = context.model, context.encoded
    drops = np.zeros((len(encoded.ids), len(removals)))
    lengths = encoded.mask.sum(dim=1)
    ends = torch.stack([lengths.argmax(), lengths.argmin()])
    layers = sorted({layer for layer, _ in removals})
    shortcuts = {layer: find_shortcut(model, encoded.inputs(ends, model.device), layer) for layer in layers}
    done, total = 0, len(lengths) * len(removals)
    for texts, inputs in batches(encoded, device=model.device, maps=heads_of(model.config)):
        for layer in layers:
            passes = ResumedPasses(model, inputs, shortcuts[layer])
            unchanged = passes.logits(lambda number, weights, call: weights).cpu()
            for place, (number, heads) in enumerate(removals):
                if number == layer:
                    drops[texts.numpy(), place] = drop(
                        context, unchanged, passes.logits(zero_heads(*heads)), target[texts]
                    )
                    done += len(texts)
                    on_edits(done, total)
    return drops


def drop(
    context: ExplanationContext,
    before: Float[Tensor, "b classes"],
    after: Float[Tensor, "b classes"],
    target: Int[Tensor, " b"],
) -> NDArray[np.float64]:
    """How much smaller the predicted number of each text has become."""
    return np.asarray(value_change(context.sized_fn, before, after.cpu(), target).double().numpy())

"""Attention of all layers as one map: their mean, maximum, minimum or sum."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from glasshead.explainers.explainer import register
from glasshead.explainers.explanation_context import ExplanationContext
from glasshead.explainers.stack_explainer import StackExplainer
from glasshead.trace import SUMMARY, AttentionStack, StackLayer

OPERATIONS = {
    "mean": (lambda maps: maps.mean(dim=0), "mean"),
    "max": (lambda maps: maps.amax(dim=0), "largest"),
    "min": (lambda maps: maps.amin(dim=0), "smallest"),
    "sum": (lambda maps: maps.sum(dim=0), "sum"),
}


class LayerAggregation(StackExplainer):
    """op_ℓ comb_h A_ℓh of the layers between the vectors that are read, in the canonical gauge; nothing is
    followed from layer to layer. Where a learned query reads the top, it reads the rows of this map too."""

    sign_is_gauge = True

    def __init__(self, operation: str) -> None:
        self.operation, word = OPERATIONS[operation]
        self.is_linear = operation in ("mean", "sum")
        self.description = f"{word} of the attention of all layers"
        # The paper has means, sums and products of layers.
        self.citation = "Mylonas, Mollas and Tsoumakas 2023" if self.is_linear else "this project"

    def signed(self, context: ExplanationContext) -> bool:
        return context.observation.signed

    def explain_pooled(self, context: ExplanationContext) -> Float[Tensor, "texts tokens"]:
        return context.observation.canonical

    def adds_up(self, context: ExplanationContext) -> bool:
        return super().adds_up(context) and self.is_linear

    def relevance(self, stack: AttentionStack) -> Float[Tensor, "r k"]:
        def combine_heads(layer: StackLayer) -> Tensor:
            maps = stack.join(layer, stack.canonical_weights(layer))
            return stack.spread(layer, stack.combine(maps))

        below = [layer for layer in stack.layers if layer.target != SUMMARY]
        reader = None
        if len(below) < len(stack.layers):
            reader = combine_heads(stack.top)
            if not below:
                return stack.read(reader)
        target = below[-1].target
        maps = torch.stack(
            [
                combine_heads(layer) @ stack.start[layer.source].to(stack.logits)
                for layer in below
                if layer.target == target
            ]
        )
        total: Tensor = self.operation(maps)
        return stack.read(total if reader is None else reader @ total)


for name in OPERATIONS:
    register(f"layer-{name}", LayerAggregation(name))

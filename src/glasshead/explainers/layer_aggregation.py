"""Attention of all layers as one map: their mean, maximum, minimum or sum, read by row or by column."""

from __future__ import annotations

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from glasshead.explainers.explainer import register
from glasshead.explainers.explanation_context import ExplanationContext
from glasshead.explainers.method_options import take_options
from glasshead.explainers.readings import FROM, READINGS, check_reading, not_square
from glasshead.explainers.stack_explainer import StackExplainer
from glasshead.trace import SUMMARY, AttentionStack, StackLayer

OPERATIONS: dict[str, tuple[Callable[[Tensor], Tensor], str]] = {
    "mean": (lambda maps: maps.mean(dim=0), "mean"),
    "max": (lambda maps: maps.amax(dim=0), "largest"),
    "min": (lambda maps: maps.amin(dim=0), "smallest"),
    "sum": (lambda maps: maps.sum(dim=0), "sum"),
}
ROUNDING = 1e-4
"""Means of rows that differ by less, relative to their size, are one number."""


class LayerAggregation(StackExplainer):
    """op_ℓ comb_h A_ℓh of the layers between the vectors that are read, in the canonical gauge; nothing is
    followed from layer to layer. Where a learned query reads the top, it reads the rows of this map too.

    ``reading`` says what one number per token is taken from this map (`glasshead.explainers.readings`).
    """

    sign_is_gauge = True

    def __init__(self, operation: str, reading: str = FROM) -> None:
        self.name_of_operation, self.reading_of_map = operation, reading
        self.operation, word = OPERATIONS[operation]
        self.is_linear = operation in ("mean", "sum")
        self.description = f"{word} of the attention of all layers"
        # Mylonas et al. have means, sums and products of layers, Inseq means, maxima and minima.
        self.citation = "Mylonas, Mollas and Tsoumakas 2023" if self.is_linear else "Sarti et al. 2023"

    def with_options(self, options: dict[str, float | str]) -> LayerAggregation:
        own = take_options(self.name, options, {"reading": None})
        return LayerAggregation(self.name_of_operation, check_reading(own["reading"]))

    def read_in_words(self, context: ExplanationContext) -> str:
        return READINGS[self.reading_of_map].words.format(rows=context.rows.in_words)

    def caveat(self, context: ExplanationContext) -> str | None:
        """Rows of softmax sum to one."""
        if self.reading_of_map != "mean-rows":
            return None
        numbers, mask = self.importance(context), context.encoded.mask
        means = numbers.sum(dim=1, keepdim=True) / mask.sum(dim=1, keepdim=True).clamp(min=1)
        if bool(((numbers - means).abs() > ROUNDING * means.abs())[mask].any()):
            return None
        return "every row of this attention has the same sum, so its mean orders nothing"

    def signed(self, context: ExplanationContext) -> bool:
        return context.observation.signed

    def explain_pooled(self, context: ExplanationContext) -> Float[Tensor, "texts tokens"]:
        if self.reading_of_map != FROM:
            raise not_square(context.model, self.name)
        return context.observation.canonical

    def adds_up(self, context: ExplanationContext) -> bool:
        reading = READINGS[self.reading_of_map]
        if not reading.of_columns:
            return True
        return super().adds_up(context) and self.is_linear and reading.is_linear

    def relevance(self, stack: AttentionStack) -> Float[Tensor, "r k"]:
        def combine_heads(layer: StackLayer) -> Tensor:
            maps = stack.join(layer, stack.canonical_weights(layer))
            return stack.spread(layer, stack.combine(maps))

        if self.reading_of_map != FROM and not stack.is_square:
            raise not_square(stack.model, self.name)
        below = [layer for layer in stack.layers if layer.target != SUMMARY]
        rows = stack.row_shares.to(stack.logits)
        if len(below) < len(stack.layers):
            rows = stack.read(combine_heads(stack.top))
            if not below:
                return rows
        target = below[-1].target
        maps = torch.stack(
            [
                combine_heads(layer) @ stack.start[layer.source].to(stack.logits)
                for layer in below
                # What an answer looks at in itself is nothing of the text.
                if layer.target == target and not (stack.reads_answer and layer.source == target)
            ]
        )
        total: Tensor = self.operation(maps)
        return READINGS[self.reading_of_map].read(total, rows, stack.mask)[:, : stack.mask.shape[1]]


for name in OPERATIONS:
    register(f"layer-{name}", LayerAggregation(name))

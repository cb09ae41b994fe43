"""Norms of what attention adds up: weights times the values behind them."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor

from glasshead.explainers.explainer import register
from glasshead.explainers.explanation_context import ExplanationContext
from glasshead.explainers.gradient import fill_texts
from glasshead.explainers.stack_explainer import StackExplainer
from glasshead.explainers.value_vectors import (
    block_vectors,
    check_post_norm,
    has_projection,
    row_chunks,
    value_vectors,
)
from glasshead.identifiability import read_pooled_batches
from glasshead.models import PooledClassifier
from glasshead.nouns import TEXTS
from glasshead.trace import SUMMARY, AttentionStack


class ValueNorm(StackExplainer):
    """‖Σ_h a_ij^h T_j^h‖₂ of the selected attention, the length of what token j adds to row i: a large
    weight on a small vector has little effect.

    ``with_residual``: ‖T_i(x_j)‖₂, with the residual δ_ij x_i and behind the layer norm, in encoders that
    normalise after the residual. The number of a divided word is the norm of the sum of its tokens' vectors.
    """

    family = "attention of one layer"
    combines_heads = False

    def __init__(self, *, with_residual: bool = False) -> None:
        self.with_residual = self.needs_norms = with_residual
        self.template = "length of the vector that {a_token} adds to the row, ‖weight × value‖" + (
            ", with residual and layer norm" if with_residual else ""
        )
        self.description = TEXTS.fill(self.template)
        self.citation = "Kobayashi et al. " + ("2021" if with_residual else "2020")

    def reading(self, context: ExplanationContext) -> str | None:
        site = context.site
        if site is None:
            return None
        heads = f"head {site.head}" if site.head is not None else "all heads"
        return f"layer {site.layer} ({site.name}), {heads}, {context.rows.in_words}"

    def settings(self, context: ExplanationContext) -> str | None:
        self.importance(context)
        return context.cache.get(f"{self.name} settings")

    def tokens(
        self, context: ExplanationContext, stack: AttentionStack, texts: Int[Tensor, " b"]
    ) -> Float[Tensor, "b n"]:
        if stack.top.target != SUMMARY and not has_projection(stack.top):
            context.cache[f"{self.name} settings"] = (
                "no single linear map reads the heads, so these are the values themselves"
            )
        return super().tokens(context, stack, texts)

    def adds_up(self, context: ExplanationContext) -> bool:
        return False

    def explain_pooled(self, context: ExplanationContext) -> Float[Tensor, "texts tokens"]:
        """|a_i| ‖h_i‖."""
        if self.with_residual:
            return super().explain_pooled(context)
        assert isinstance(context.model, PooledClassifier)
        norms = (
            (batch.texts, batch.weights.abs() * batch.values.norm(dim=-1))
            for batch in read_pooled_batches(context.model, context.encoded)
        )
        return fill_texts(context, norms)

    def relevance(self, stack: AttentionStack) -> Float[Tensor, "r k"]:
        layer = stack.top
        vectors_of = block_vectors if self.with_residual else value_vectors
        if self.with_residual:
            check_post_norm(stack, layer, self.name)
        parts = []
        for chunk in row_chunks(layer, layer.record.call.q.shape[2]):
            vectors = stack.join_vectors(layer, vectors_of(stack, layer, chunk))
            parts.append(vectors.norm(dim=-1))
        return stack.read(torch.cat(parts, dim=1) @ stack.start[layer.source].to(parts[0]))


register("value-norm", ValueNorm())
register("value-norm-residual", ValueNorm(with_residual=True))

"""ALTI: how much nearer the output of a block comes by each token, followed through all layers."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from glasshead.explainers.explainer import register
from glasshead.explainers.explanation_context import ExplanationContext
from glasshead.explainers.rollout import scale_rows
from glasshead.explainers.stack_explainer import StackExplainer, refuse_decoder
from glasshead.explainers.value_vectors import block_vectors, check_post_norm, row_chunks
from glasshead.nouns import TEXTS
from glasshead.trace import SUMMARY, AttentionStack, StackLayer


class ALTI(StackExplainer):
    """R = C_L ⋯ C_1 with c_ij = max(0, ‖y_i‖₁ − ‖y_i − T_i(x_j)‖₁), every row scaled to one.

    T_i(x_j) is token j's part of what the attention block gives for token i, layer norm included, and y_i is
    all of it, Σ_j T_i(x_j) and what the biases make.

    The feed-forward part of a layer moves nothing between tokens and is not counted. A row in which no token
    brings the output nearer stays zero. The vector of a divided word is the sum of those of its tokens.
    """

    template = "how much nearer each {token} brings the output of every attention block, through all layers"
    description = TEXTS.fill(template)
    citation = "Ferrando, Gállego and Costa-jussà 2022"
    combines_heads = False
    needs_norms = True

    def adds_up(self, context: ExplanationContext) -> bool:
        return False

    def relevance(self, stack: AttentionStack) -> Float[Tensor, "r k"]:
        refuse_decoder(stack, self.name, "rollout")

        def step(layer: StackLayer, states: dict[str, Tensor]) -> Tensor:
            shares = contribution_shares(stack, layer, self.name)
            return shares @ states[layer.source].to(shares)

        return stack.read(stack.follow(step))


def contribution_shares(stack: AttentionStack, layer: StackLayer, method: str) -> Float[Tensor, "r q k"]:
    """C of a layer."""
    check_post_norm(stack, layer, method)
    rows = layer.record.call.q.shape[2]
    parts = []
    for chunk in row_chunks(layer, rows):
        vectors = stack.join_vectors(layer, block_vectors(stack, layer, chunk))
        if layer.norm is None or layer.target == SUMMARY:
            output = vectors.sum(dim=2)
        else:
            output = layer.norm.output(chunk).to(vectors)
        nearer = output.abs().sum(dim=-1)[:, :, None] - (output[:, :, None] - vectors).abs().sum(dim=-1)
        parts.append(nearer.clamp(min=0))
    return stack.spread(layer, scale_rows(torch.cat(parts, dim=1)))


register("alti", ALTI())

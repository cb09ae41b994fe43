"""Value zeroing: how far the output of a block turns if the value of one token is zero."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from glasshead.data import batch_size
from glasshead.errors import InputError
from glasshead.explainers.explainer import register
from glasshead.explainers.explanation_context import ExplanationContext
from glasshead.explainers.rollout import scale_rows
from glasshead.explainers.stack_explainer import StackExplainer, refuse_decoder
from glasshead.explainers.value_vectors import value_vectors
from glasshead.huggingface import class_name
from glasshead.nouns import TEXTS
from glasshead.spelling import spell
from glasshead.trace import SUMMARY, AttentionStack, BlockRun, StackLayer, run_blocks


class ValueZeroing(StackExplainer):
    """R = C_L ⋯ C_1 with c_ij = 1 − cos(x̃_i^{¬j}, x̃_i), every row scaled to one.

    x̃_i is what a whole block gives for token i, residual and feed-forward included, x̃_i^{¬j} the same where
    the value of token j is zero in all heads. A block is run once for each token. For a divided word, the
    values of all tokens are.
    """

    template = "turn of every block's output without the value of {a_token}, through all layers"
    description = TEXTS.fill(template)
    citation = "Mohebbi et al. 2023"
    combines_heads = False

    def adds_up(self, context: ExplanationContext) -> bool:
        return False

    def relevance(self, stack: AttentionStack) -> Float[Tensor, "r k"]:
        refuse_decoder(stack, self.name, "value-norm")
        if stack.site.head is not None:
            raise InputError(f"{self.name!r} removes the value from all heads: leave {spell('head')} out")
        runs = run_blocks(stack.model, stack.inputs)

        def step(layer: StackLayer, states: dict[str, Tensor]) -> Tensor:
            if layer.target == SUMMARY:
                turns = summary_turns(stack, layer)
            elif layer.record.layer in runs:
                turns = block_turns(stack, layer, runs[layer.record.layer])
            else:
                raise InputError(
                    f"{layer.description} of {class_name(stack.model)} is not a block that can be run by "
                    f"itself, which {self.name!r} needs: use 'value-norm' or 'rollout'"
                )
            shares = stack.spread(layer, scale_rows(turns.to(stack.logits)))
            return shares @ states[layer.source].to(shares)

        return stack.read(stack.follow(step))


def block_turns(stack: AttentionStack, layer: StackLayer, run: BlockRun) -> Float[Tensor, "r n n"]:
    """1 − cos of the states of a block with and without the values of each token, or word."""
    mask, size = stack.mask, layer.record.call.k.shape[2]
    own = torch.eye(size, dtype=torch.bool, device=mask.device).expand(len(mask), -1, -1)
    pieces = own if stack.pieces is None else stack.pieces[layer.source]
    assert run.output is not None
    output = run.output.double()
    turns = output.new_zeros(len(mask), output.shape[1], size)
    texts, keys = (mask & pieces.any(dim=2)[:, : mask.shape[1]]).nonzero(as_tuple=True)
    step = batch_size(mask.shape[1], layer.record.call.q.shape[1])
    for start in range(0, len(texts), step):
        part, gone = texts[start : start + step], keys[start : start + step]
        states = run.without_values(part, pieces[part, gone]).double()
        turns[part, :, gone] = 1 - torch.cosine_similarity(states, output[part], dim=-1)
    return turns.clamp(min=0)


def summary_turns(stack: AttentionStack, layer: StackLayer) -> Float[Tensor, "r 1 k"]:
    """The turns of the one vector of a learned query, which is a sum."""
    vectors = stack.join_vectors(layer, value_vectors(stack, layer, slice(None)).double())
    total = vectors.sum(dim=2, keepdim=True)
    return (1 - torch.cosine_similarity(total - vectors, total.expand_as(vectors), dim=-1)).clamp(min=0)


register("value-zeroing", ValueZeroing())

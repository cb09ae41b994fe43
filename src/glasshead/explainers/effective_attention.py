"""Effective attention as an explanation: the part of the weights that the output of the head can show."""

from functools import partial

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from transformers import PreTrainedModel

from glasshead.explainers.explainer import Explainer, register
from glasshead.explainers.explanation_context import ExplanationContext
from glasshead.explainers.forward_observation import apply_head_signs, observe_weights
from glasshead.identifiability import (
    FLOAT32_EPS,
    effective_weights,
    project_values,
    query_values,
    read_pooled_batches,
)
from glasshead.models import PooledClassifier
from glasshead.trace import LayerRecord

# A direction that float32 cannot tell from rounding does not count in float64 either: parameters were trained
# in float32, and what is left of such a direction differs from batch to batch.


class Effective(Explainer):
    """a U Uᵀ with U an orthonormal basis of the column space of T: a without what the left null space of T
    swallows, in the canonical gauge, read like the weights themselves (mean of heads and rows).

    Negative numbers are possible for any activation, and rows need not sum to one. What each token adds to a
    class score is not determined: Σ_i e_i o_i = Σ_i a_i o_i where the score is linear in the weights, but the
    parts of this sum are no more certain than the weights are.
    """

    family = "attention of one layer"
    description = "the part of attention that the head's output can show (outside the left null space of T)"
    citation = "Brunner et al. 2019"
    reads_attention = True
    reads_target_fn = False
    sign_is_gauge = True

    def importance(self, context: ExplanationContext) -> Float[Tensor, "texts tokens"]:
        if isinstance(context.model, PooledClassifier):
            return effective_pooled(context.model, context)
        assert context.site is not None
        return observe_weights(
            context.model,
            context.encoded,
            context.site,
            context.rows,
            context.logits.dtype,
            partial(canonical_effective, context.model),
            known=context.known,
        )[0]


register("effective-attention", Effective())


def effective_pooled(model: PooledClassifier, context: ExplanationContext) -> Float[Tensor, "texts tokens"]:
    """That of the one attention of a pooled classifier."""
    result = torch.zeros(context.encoded.mask.shape, dtype=context.logits.dtype)
    for batch in read_pooled_batches(model, context.encoded):
        eps = max(float(torch.finfo(batch.values.dtype).eps), FLOAT32_EPS)
        effective = effective_weights(batch.weights[:, None], batch.values, batch.mask, eps=eps)[:, 0]
        result[batch.texts, : batch.mask.shape[1]] = model.config.gauge * effective.to(result.dtype)
    return result


def canonical_effective(
    model: PreTrainedModel, layer: LayerRecord, pairs: Bool[Tensor, "r q k"]
) -> Float[Tensor, "r h q k"]:
    """That of a recorded layer in the canonical gauge."""
    return apply_head_signs(model, layer, effective_layer(layer, pairs))


def effective_layer(layer: LayerRecord, pairs: Bool[Tensor, "r q k"]) -> Float[Tensor, "r h q k"]:
    """That of a recorded layer, raw, in the rows and over the keys that are asked about; zeros elsewhere."""
    allowed = layer.allowed & pairs[:, None]  # [r, h, q, k]
    values_by_query = layer.call.mechanism.position.changes_output
    eps = max(float(torch.finfo(layer.call.v.dtype).eps), FLOAT32_EPS)

    def part(text: Tensor, query: Tensor, v: Tensor) -> Tensor:
        """Some rows of some texts, whose queries attend to the same keys."""
        T, embed_dim = project_values(v[text], layer.projection)
        keys = allowed[text][:, :, query].any(dim=2)
        values = torch.from_numpy(T).to(v.device)
        return effective_weights(layer.weights[text][:, :, query], values, keys, embed_dim=embed_dim, eps=eps)

    wanted = pairs.any(dim=2)  # [r, q]
    result = torch.zeros_like(layer.weights)
    every = torch.arange(len(pairs), device=pairs.device)
    if (
        not values_by_query
        and (allowed == allowed.any(dim=2, keepdim=True))[wanted[:, None].expand(allowed.shape[:3])].all()
    ):
        result[:] = part(every, torch.arange(pairs.shape[1], device=pairs.device), layer.v)
        return result * wanted[:, None, :, None]
    for query in wanted.any(dim=0).nonzero():
        text = wanted[:, query[0]].nonzero()[:, 0]
        values = query_values(layer, int(query)) if values_by_query else layer.v
        result[text, :, int(query)] = part(text, query, values)[:, :, 0]
    return result

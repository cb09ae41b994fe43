"""What the vectors of an attention block are sums of: one vector for every token that is looked at."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from jaxtyping import Float
from torch import Tensor

from glasshead.attention import upcast_half
from glasshead.errors import InputError
from glasshead.huggingface import class_name
from glasshead.trace import SUMMARY, AttentionStack, StackLayer

BYTES_HELD = 2**26
"""Memory of the vectors that are held at once."""


def value_vectors(stack: AttentionStack, layer: StackLayer, rows: slice) -> Float[Tensor, "r q k d"]:
    """Σ_h a_ij^h T_j^h of some query rows, T_j^h being the value of token j behind the projection of head h.

    One head alone where one is read. Nothing stands behind a learned query. Where no single linear map reads
    the heads (`has_projection`), the values themselves stand side by side, [a_ij^h v_j^h]_h.

    Raises:
        InputError: if the values cannot be read.

    Source: Kobayashi et al. (2020), eq. 7.
    """
    record = layer.record
    values = record.projected_values if has_projection(layer) else upcast_half(record.v)  # [r, h, k, d]
    weights = layer.weights[:, :, rows].to(values)
    if stack.site.head is not None and weights.shape[1] > 1:
        head = slice(stack.site.head, stack.site.head + 1)
        values, weights = values[:, head], weights[:, head]
    if has_projection(layer):
        return torch.einsum("rhqk,rhkd->rqkd", weights, values)
    return torch.einsum("rhqk,rhkd->rqkhd", weights, values).flatten(-2)


def has_projection(layer: StackLayer) -> bool:
    """Whether a linear map behind the heads is known, once their values can be read.

    Raises:
        InputError: if the values cannot be read.
    """
    layer.record.v  # noqa: B018
    return layer.record.projection is not None


def block_vectors(stack: AttentionStack, layer: StackLayer, rows: slice) -> Float[Tensor, "r q k d"]:
    """T_i(x_j): the same with the residual, δ_ij x_i, behind the layer norm whose deviation is held.

    Σ_j T_i(x_j) and what the biases make is what the block gives, if it has this form (`check_post_norm`).

    Source: Kobayashi et al. (2021), eq. 12; Ferrando, Gállego and Costa-jussà (2022), eq. 8.
    """
    vectors = value_vectors(stack, layer, rows)
    if layer.target == SUMMARY:
        return vectors
    assert layer.norm is not None
    own = torch.arange(vectors.shape[2])[rows]
    vectors[:, torch.arange(len(own)), own] += layer.norm.hidden[:, rows].to(vectors)
    return layer.norm.linear(vectors, rows)


def check_post_norm(stack: AttentionStack, layer: StackLayer, method: str) -> None:
    """Raise InputError unless a text looks at itself in a layer, and the norm behind it reads residual +
    attention; a summary has none."""
    if layer.target == SUMMARY:
        return
    is_cross = layer.source != layer.target
    if layer.norm is None or is_cross or not _is_post_norm(stack, layer):
        raise InputError(
            f"{method!r} is for encoders that normalise the sum of residual and attention (post-norm), as "
            f"BERT does, and {layer.description} of {class_name(stack.model)} "
            f"{'is cross-attention' if is_cross else 'does not'}: use 'value-norm'"
        )


def _is_post_norm(stack: AttentionStack, layer: StackLayer) -> bool:
    if not has_projection(layer) or layer.norm is None:
        return False
    values = layer.record.projected_values
    attended = torch.einsum("rhqk,rhkd->rqd", layer.weights.to(values), values)
    return layer.norm.is_post_norm(attended, stack.mask)


def row_chunks(layer: StackLayer, rows: int) -> Iterator[slice]:
    """So many query rows of a layer, as many at a time as memory allows."""
    record = layer.record
    width = record.output.shape[-1] if record.projection is None else record.projection.shape[-1]
    one = len(record.output) * record.call.k.shape[2] * width * record.output.element_size()
    step = max(1, BYTES_HELD // max(one, 1))
    for start in range(0, rows, step):
        yield slice(start, min(start + step, rows))

"""Dot-product attention in linear time: q′(k′ᵀv) instead of (q′k′ᵀ)v."""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import pad

from glasshead.attention.kernels.kernel import KERNELS, Kernel, prefixes_reason, products_reason
from glasshead.attention.mechanism import AttentionInputs
from glasshead.attention.precision import upcast_half

QUERY_CHUNK = 64
"""Queries that share one sum over the past; among themselves they are compared in pairs."""


class Linear(Kernel):
    """Activations that are linear in scores that are dot products of features, causal or not.

    Σ_j (q′_i·k′_j) v_j = q′_i (Σ_j k′_j v_jᵀ), over the number of keys or over Σ_j q′_i·k′_j, which is one
    more column of the same product (Qin et al. 2022, eq. 4; Wang et al. 2018).
    """

    linear_memory = True

    def unsupported_reason(self, call: AttentionInputs) -> str | None:
        dropped = "it never stores the weights that dropout would act on: set dropout=0"
        return not_linear_reason(call) or prefixes_reason(call) or (dropped if call.dropout else None)

    def is_preferred(self, call: AttentionInputs) -> bool:
        """Whether k′ᵀv costs less than the pairs of tokens."""
        queries, keys, size, value_dim = *call.q.shape[2:3], *call.k.shape[2:4], call.v.shape[3]
        return queries * keys * (size + value_dim) > (queries + keys) * size * value_dim

    def __call__(self, call: AttentionInputs) -> Float[Tensor, "b h q d_v"]:
        k, v = call.expand_heads()
        q, k, v = upcast_half(call.q), upcast_half(k), upcast_half(v)
        q, k = call.mechanism.position.features(q, k, call.scale, call.token_positions())
        real = call.mask.padding
        if real is None:
            real = torch.ones(1, k.shape[2], dtype=torch.bool, device=k.device)
        k = k.masked_fill(~real[:, None, :, None], 0.0)
        if call.mechanism.activation.linear == "sum":
            v = pad(v, (0, 1), value=1.0)  # its weighted sum is the sum of the weights
        start = call.mask.first if call.mask.causal else None
        if start is not None:
            total = up_to_itself(q, k, v, start)
            count = real.cumsum(dim=-1)[:, start : start + call.mask.queries]
        else:
            total, count = q @ (k.transpose(-1, -2) @ v), real.sum(dim=-1, keepdim=True)
        if call.mechanism.activation.linear == "sum":
            return divide_or_zero(total[..., :-1], total[..., -1:]).to(call.q.dtype)
        return divide_or_zero(total, count[:, None, :, None].to(total.dtype)).to(call.q.dtype)


def not_linear_reason(call: AttentionInputs) -> str | None:
    """Refuses weights that are not Σ_j q′_i·k′_j with nothing cut off."""
    linear = call.mechanism.activation.linear
    if linear is None:
        return "its weights are not linear in the scores"
    if (
        call.mechanism.position.is_dot_product
        and linear == "sum"
        and not call.mechanism.position.nonnegative_scores
    ):
        return "its scores can be negative, and the sum activation sets those to zero: add a cosine position"
    return products_reason(call)


def divide_or_zero(total: Tensor, normaliser: Tensor) -> Tensor:
    """Their quotient, and zero where there is nothing to divide."""
    empty = normaliser == 0
    return (total / normaliser.masked_fill(empty, 1.0)).masked_fill(empty, 0.0)


def up_to_itself(
    q: Float[Tensor, "b h q f"], k: Float[Tensor, "b h k f"], v: Float[Tensor, "b h k d_v"], start: int
) -> Float[Tensor, "b h q d_v"]:
    """Σ_{j ≤ start + i} (q_i·k_j) v_j for every query i.

    Chunk by chunk: what lies before a chunk is one matrix Σ k_j v_jᵀ, and what lies within it is compared in
    pairs.
    """
    queries = q.shape[2]
    past = k[:, :, :start].transpose(-1, -2) @ v[:, :, :start]  # [B, H, f, d_v]
    k, v = k[:, :, start : start + queries], v[:, :, start : start + queries]
    missing = -queries % QUERY_CHUNK
    q, k, v = (pad(tensor, (0, 0, 0, missing)).unflatten(2, (-1, QUERY_CHUNK)) for tensor in (q, k, v))
    sums = k.transpose(-1, -2) @ v  # [B, H, chunks, f, d_v]
    before = torch.cat([past[:, :, None], sums[:, :, :-1]], dim=2).cumsum(dim=2)
    within = (q @ k.transpose(-1, -2)).tril()  # [B, H, chunks, CHUNK, CHUNK]
    return (q @ before + within @ v).flatten(2, 3)[:, :, :queries]


KERNELS.register("linear")(Linear())

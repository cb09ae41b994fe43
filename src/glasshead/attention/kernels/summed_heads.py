"""Summed heads: Σ_h A_h V_h without an output of every head, where that is cheaper."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor, nn

from glasshead.attention.attend import run_kernel
from glasshead.attention.kernels.blocking import in_blocks
from glasshead.attention.kernels.blockwise import blockwise_rows as block_rows
from glasshead.attention.kernels.kernel import KERNELS
from glasshead.attention.mechanism import AttentionInputs
from glasshead.attention.precision import no_autocast, upcast_half


def one_by_one(call: AttentionInputs) -> Float[Tensor, "b 1 q d_v"]:
    """A_h V_h of every head, then their sum; by the formula while it is small, since values are wide here.

    Fused kernels want queries and keys as wide as the values.
    """
    return run_kernel(call, "reference" if is_small(call) else "auto").sum(dim=1, keepdim=True)


def sum_heads(call: AttentionInputs) -> Float[Tensor, "b 1 q d_v"]:
    """Σ_h A_h V_h = [A_1 … A_H] [V_1; …; V_H]: one product over all keys of all heads, which sums as it goes.

    It takes the weights of a block of rows (of all rows, where they are few), and copies them: less work than
    outputs of all heads where there are no more keys than value numbers, the very case in which the weights
    of summed heads are identifiable. Longer texts, and positions that add to values, go head by head.
    """
    if call.mechanism.position.changes_output or call.k.shape[2] > call.v.shape[3]:
        return one_by_one(call)
    return in_blocks(call, rows_per_sum(call), sum_heads_block, heads=1)


def sum_heads_block(call: AttentionInputs) -> Float[Tensor, "b 1 q d_v"]:
    """`sum_heads` for all rows of a call."""
    weights = of_key_heads(call, call.mechanism.apply_dropout(call, call.mechanism.compute_weights(call)))
    values = call.v.transpose(1, 2).flatten(1, 2)  # [B, K·G, d_v], a view of what the projection made
    with no_autocast(values.device):
        output = weights.permute(0, 2, 3, 1).flatten(2) @ upcast_half(values)
    return output[:, None].to(call.q.dtype)


def project_weighted_inputs(call: AttentionInputs, value: nn.Linear) -> Float[Tensor, "b 1 q d_v"]:
    """Σ_h A_h (X W_h + 1 b_hᵀ) = Σ_h (A_h X) W_h + (A_h 1) b_hᵀ for a call whose values are X.

    The rows of A_h need not sum to one. For fewer queries than keys it is cheaper than values for all keys:
    H (q n d + q d²) products and not H (n d² + q n d).
    """
    return in_blocks(call, rows_per_sum(call), lambda block: project_block(block, value), heads=1)


def project_block(call: AttentionInputs, value: nn.Linear) -> Float[Tensor, "b 1 q d_v"]:
    """`project_weighted_inputs` for all rows of a call."""
    groups, size = call.k.shape[1], value.out_features // call.k.shape[1]
    weights = of_key_heads(
        call, call.mechanism.apply_dropout(call, call.mechanism.compute_weights(call))
    ).transpose(1, 2)
    with no_autocast(weights.device):  # [B, Q, G, K] from here on
        read = (weights.flatten(1, 2) @ upcast_half(call.v[:, 0])).unflatten(1, (-1, groups)).flatten(2)
    maps = value.weight.unflatten(0, (groups, size)).transpose(0, 1).flatten(1)  # [d_v, G·d]
    output = nn.functional.linear(read.to(call.q.dtype), maps)
    if value.bias is not None:
        sums = weights.sum(dim=-1).to(call.q.dtype)
        output = output + sums @ value.bias.unflatten(0, (groups, size)).to(sums.dtype)
    return output[:, None]


def of_key_heads(call: AttentionInputs, weights: Float[Tensor, "b h q k"]) -> Float[Tensor, "b g q k"]:
    """Query heads that share values: their weights add up."""
    if call.groups == 1:
        return weights
    return weights.unflatten(1, (-1, call.groups)).sum(dim=2)


def rows_per_sum(call: AttentionInputs) -> int:
    """Query rows of one block: all of them where the whole matrix may be held."""
    return max(1, call.q.shape[2]) if is_small(call) else block_rows(call)


def is_small(call: AttentionInputs) -> bool:
    """Whether the whole matrix may be held."""
    return KERNELS["reference"].is_preferred(call)

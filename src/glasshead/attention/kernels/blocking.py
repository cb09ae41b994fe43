"""Attention in blocks of query rows or heads: exact, because no row and no head knows of another."""

from collections.abc import Callable
from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from glasshead.attention.mechanism import AttentionInputs, pick_heads

MIN_BLOCK_ROWS = 16
"""Rows of a block, however long they are."""


def in_blocks(
    call: AttentionInputs, rows: int, compute: Callable[[AttentionInputs], Tensor], heads: int | None = None
) -> Float[Tensor, "b h q d_v"]:
    """``compute`` on so many query rows at a time, under a causal mask on the keys up to the last of them.

    ``heads`` is how many of them its output has, if not those of the queries.

    Where a gradient may be asked for, a block forgets its matrices and computes them again in the backward
    pass, with the same random numbers. All rows in one block are computed without that.
    """
    queries = call.q.shape[2]
    if queries <= rows:
        return compute(crop_future_keys(call))
    positions = [slice(at, at + rows) for at in range(0, queries, rows)]
    # Cut one by one: the backward pass then frees the gradient of one cut before it makes the next.
    blocks = (crop_future_keys(call.rows(place)) for place in positions)
    if call.needs_gradient:
        return torch.cat([compute_with_checkpoint(block, compute) for block in blocks], dim=2)
    batch, every = call.q.shape[:2]
    output = call.q.new_empty(batch, heads or every, queries, call.v.shape[3])
    for place, block in zip(positions, blocks, strict=True):
        output[:, :, place] = compute(block)
    return output


def in_groups(
    call: AttentionInputs, heads: int, compute: Callable[[AttentionInputs], Tensor]
) -> Float[Tensor, "b h q d_v"]:
    """``compute`` on so many key heads, and the query heads that read them, at a time."""
    if heads >= call.k.shape[1]:
        return compute(call)
    output = call.q.new_empty(*call.q.shape[:3], call.v.shape[3])
    for at in range(0, call.k.shape[1], heads):
        keys, queries = slice(at, at + heads), slice(at * call.groups, (at + heads) * call.groups)
        output[:, queries] = compute(
            replace(
                call,
                mechanism=call.mechanism.of_heads(queries),
                q=call.q[:, queries],
                k=call.k[:, keys],
                v=call.v[:, keys],
                mask=replace(call.mask, attn_mask=pick_heads(call.mask.attn_mask, queries)),
                bias=pick_heads(call.bias, queries),
            )
        )
    return output


def compute_with_checkpoint(
    call: AttentionInputs, compute: Callable[[AttentionInputs], Tensor]
) -> Float[Tensor, "b h q d_v"]:
    """``compute``, of which nothing is kept for the backward pass but the call."""
    return checkpoint(
        lambda q, k, v: compute(replace(call, q=q, k=k, v=v)),
        *(call.q, call.k, call.v),  # named, so that the random numbers of their device are the ones kept
        use_reentrant=False,
        preserve_rng_state=call.dropout > 0,
    )


def crop_future_keys(call: AttentionInputs) -> AttentionInputs:
    """The call without the keys that come after its last query, if it is causal and its queries are a range.

    A single query then has nothing left that causality forbids.
    """
    mask = call.mask
    if not mask.causal or mask.span is None:
        return call
    keys = mask.span[1] + 1
    known = replace(
        mask,
        keys=keys,
        padding=None if mask.padding is None else mask.padding[:, :keys],
        attn_mask=None if mask.attn_mask is None else mask.attn_mask[..., :keys],
        causal=mask.queries > 1,
    )
    bias = None if call.bias is None else call.bias[..., :keys]
    return replace(call, k=call.k[:, :, :keys], v=call.v[:, :, :keys], mask=known, bias=bias)

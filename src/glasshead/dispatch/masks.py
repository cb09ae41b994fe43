"""What a Hugging Face model tells an attention module about who may attend to whom.

Transformers builds one mask per forward pass and hands it through the layers to the attention function. What
a module says of itself need not be true of the call (NLLB-MoE and Moonshine pass ``is_causal=False`` to
causal attention), so our mask says itself what it means, by its type:

- ``int8 [B, 1, 1, K]``: causal, the queries are the last Q of the K keys;
- ``int16 [B, 1, 1, K]``: every query may attend to every key that is not padding;
- ``int16 [B, 1, Q, K]``: any other pattern, and a static cache, whose K says nothing about where the queries
  stand.

Only the last one is quadratic. All are additive, as models expect that add a bias to the mask (BEiT) or read
the padding off it (NLLB-MoE): 0 where a query may attend, else the lowest number. The first two have stride 0
without padding: one number.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor
from transformers.masking_utils import (
    bidirectional_mask_function,
    causal_mask_function,
    prepare_padding_mask,
    sdpa_mask,
)

from glasshead.attention import Mask
from glasshead.errors import InputError

LEAST_FORBIDDING = -9e3
"""An additive mask forbids below this: models write −1e4, the smallest number of their type, or −∞."""

CAUSAL, WHOLE = torch.int8, torch.int16
"""Types of our masks, which no others have; the least number of the second is below `LEAST_FORBIDDING`."""


def mask_function(
    batch_size: int,
    q_length: int,
    kv_length: int,
    q_offset: Any = 0,
    kv_offset: Any = 0,
    mask_function: Callable = causal_mask_function,
    attention_mask: Tensor | None = None,
    local_size: int | None = None,
    allow_is_causal_skip: bool = True,
    allow_is_bidirectional_skip: bool = False,
    device: torch.device | str = "cpu",
    **others: Any,
) -> Tensor:
    """The mask of one forward pass, under the signature that `AttentionMaskInterface` asks for.

    Where the model wants a whole mask (to join it with another), or the pattern is neither plain causal nor
    plain bidirectional, it is ``[B, 1, Q, K]`` of Transformers' own SDPA path. A window wider than the keys
    is not a pattern.
    """
    # A static cache gives tensors, and more keys than there are tokens.
    start = kv_offset if isinstance(kv_offset, int) and isinstance(q_offset, int) else None
    unwindowed = local_size is not None and start == 0 and kv_length < local_size
    causal = allow_is_causal_skip and (mask_function is causal_mask_function or unwindowed)
    bidirectional = allow_is_bidirectional_skip and (
        mask_function is bidirectional_mask_function or unwindowed
    )
    at_the_end = start is not None and q_offset + q_length == start + kv_length
    if start is not None and (bidirectional or (causal and at_the_end)):
        padding = prepare_padding_mask(attention_mask, kv_length, start)
        if padding is not None:
            padding = padding[:, start : start + kv_length]
        kind = CAUSAL if causal else WHOLE
        # A compiler could not look at the values.
        if padding is None or (not torch.compiler.is_compiling() and bool(padding.all())):
            return torch.zeros((), dtype=kind, device=device).expand(batch_size, 1, 1, kv_length)
        return additive(padding[:, None, None, :], kind)
    mask = sdpa_mask(
        batch_size,
        q_length,
        kv_length,
        q_offset,
        kv_offset,
        mask_function,
        attention_mask,
        local_size,
        allow_is_causal_skip=False,
        allow_is_bidirectional_skip=False,
        device=device,
        **others,
    )
    assert mask is not None
    return additive(mask, WHOLE)


def additive(allowed: Tensor, kind: torch.dtype) -> Tensor:
    """0 where it is true, the lowest number of the type elsewhere."""
    return (~allowed).to(kind) * torch.iinfo(kind).min


class ParsedMask(NamedTuple):
    """What a mask says: who may attend to whom, and what is added to the scores."""

    mask: Mask
    bias: Tensor | None


def parse_mask(
    attention_mask: Tensor | None, query: Tensor, key: Tensor, *, causal: bool | None, needs_positions: bool
) -> ParsedMask:
    """The mask that reached an attention module.

    ``causal`` is what the module says of itself, None where it says nothing; it decides only where no mask is
    given. ``needs_positions`` asks for the places of the queries also where that takes a look at the mask.

    Raises:
        InputError: where the pattern cannot be known.
    """
    queries, keys = query.shape[2], key.shape[2]
    same = range(queries) if queries == keys else None
    end = range(keys - queries, keys)
    if attention_mask is None:
        # As in Transformers' SDPA path: causal unless the module says otherwise, and one query sees all keys.
        causal = causal is not False
        if causal and same is None and queries > 1:
            raise InputError(
                f"a causal module got {queries} queries and {keys} keys but no mask, so the positions of "
                "the queries are unknown: pass an attention_mask"
            )
        return ParsedMask(
            Mask(queries, keys, causal=causal and queries > 1, query_positions=end if causal else same), None
        )
    if attention_mask.ndim != 4:
        raise InputError(
            f"a mask of shape {list(attention_mask.shape)} and type {attention_mask.dtype} reached the "
            "attention of a plugged model: pass attention_mask as [batch, keys] to the model, or a whole one "
            "of four dimensions"
        )
    if attention_mask.shape[3] != keys:
        raise InputError(f"a mask for {attention_mask.shape[3]} keys reached attention over {keys} keys")
    allowed, bias = split_additive_mask(attention_mask)
    if allowed.shape[1] == allowed.shape[2] == 1:
        pairs = None
        padding = None if is_unpadded(attention_mask) else allowed[:, 0, 0].expand(query.shape[0], -1)
    else:
        # A key that nobody attends to is padding, and no distance counts it.
        padding = allowed.any(dim=1).any(dim=1).expand(query.shape[0], -1) if needs_positions else None
        pairs = allowed.expand(-1, -1, queries, -1)
    if attention_mask.dtype == CAUSAL:
        return ParsedMask(Mask(queries, keys, padding, causal=queries > 1, query_positions=end), None)
    at: range | Tensor | None = same
    if needs_positions and same is None and causal is not False:
        at = infer_query_positions(allowed, queries)
    return ParsedMask(Mask(queries, keys, padding, pairs, query_positions=at), bias)


def is_unpadded(attention_mask: Tensor) -> bool:
    """Whether a mask is one single number, which ours are where nothing is padded."""
    return attention_mask.dtype in (CAUSAL, WHOLE) and not any(attention_mask.stride())


def split_additive_mask(attention_mask: Tensor) -> tuple[Tensor, Tensor | None]:
    """An additive mask is what it forbids and, where it is more than that, a bias of the scores.

    Raises:
        InputError: if it is of another type, or somebody's zeros and ones in the type of our masks; their
            values are looked at only where that is not a round trip to a GPU.
    """
    if attention_mask.dtype == torch.bool:
        return attention_mask, None
    readable = attention_mask.device.type == "cpu" and not torch.compiler.is_compiling()
    if attention_mask.dtype in (CAUSAL, WHOLE) and not (readable and bool((attention_mask > 0).any())):
        return attention_mask == 0, None
    if not attention_mask.is_floating_point():
        raise InputError(f"a mask of four dimensions must be boolean or additive, not {attention_mask.dtype}")
    allowed = attention_mask > LEAST_FORBIDDING
    bias = attention_mask.masked_fill(~allowed, 0.0)
    return allowed, bias if bool(bias.any()) else None


def infer_query_positions(allowed: Tensor, queries: int) -> Tensor:
    """Where queries stand among more keys than queries, read off a causal mask.

    A query's own key is the last that it may attend to, unless it is padding, whose last is earlier: the
    first query stands at the largest of (last key of query i) − i.
    """
    steps = torch.arange(queries, device=allowed.device)
    keys = torch.arange(allowed.shape[3], device=allowed.device)
    last = torch.where(allowed, keys, -queries).amax(dim=(0, 1, 3))
    return (last - steps).amax().clamp(min=0) + steps

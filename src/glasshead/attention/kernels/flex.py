"""Flex attention of torch: whatever changes scores before a softmax, compiled into one kernel."""

import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn.functional import pad

from glasshead.attention.kernels.kernel import KERNELS, Kernel, acts_late_reason, double_precision_reason
from glasshead.attention.mask import Mask
from glasshead.attention.mechanism import AttentionInputs
from glasshead.attention.precision import upcast_half
from glasshead.errors import InputError

FLEX_BLOCK = 128
"""Queries and keys of a block, which is left out, computed with the mask or without it."""
WIDEST_HEAD = 256
MIN_ROW_SIZE = 16
"""Numbers that a row of q, k or v needs on a GPU."""
VARIANTS = 256
"""Kinds of calls that torch may compile for one process."""
MOST_COMPILATIONS = 32
"""Kinds up to which the automatic choice has new ones compiled: varying lengths would go on for ever."""
SEEN: set[tuple[object, ...]] = set()
"""The kinds that were computed."""


class Flex(Kernel):
    """Activations that are a softmax of something, over scores that are a change of q·k each.

    The first call of a kind compiles for seconds. On a CPU there is no backward pass. On a GPU the gradients
    of learned tables are added atomically, so their last bits vary.
    """

    linear_memory = True

    def unsupported_reason(self, call: AttentionInputs) -> str | None:
        return reason_against_flex(call) or missing_for_flex(call)

    def is_preferred(self, call: AttentionInputs) -> bool:
        """Whether a GPU holds much, and it is compiled for this or may still be."""
        if not call.q.is_cuda or KERNELS["reference"].is_preferred(call):
            return False
        return is_affordable(call)

    def __call__(self, call: AttentionInputs) -> Float[Tensor, "b h q d_v"]:
        q, k, v, changed = as_changed_products(call)
        if q.is_cuda:
            q, k, v = pad_to_power_of_two(q), pad_to_power_of_two(k), pad_to_power_of_two(v)
        elif not call.needs_gradient:
            q, k, v = q.detach(), k.detach(), v.detach()
        mask, added = call.mask, 0 if q.is_cuda else keys_to_add(call.mask.keys)
        if added:
            mask, k, v = with_masked_keys(mask, k, v, added)
        blocks = None if mask.is_full else block_mask(mask, q.device)
        with torch._dynamo.config.patch(recompile_limit=VARIANTS):
            try:
                output = compile_flex_attention()(
                    *(q, k, v, changed, blocks),
                    scale=1.0,
                    enable_gqa=q.shape[1] != k.shape[1],
                )
            except torch._dynamo.exc.FailOnRecompileLimitHit:
                raise InputError(
                    f"the flex kernel is compiled anew for each length, at most {VARIANTS} kinds of calls: "
                    "pad sequences to fewer lengths, or use kernel='auto'"
                ) from None
        SEEN.add(compilation_key(call))
        output = output[..., : call.v.shape[3]].to(call.q.dtype)
        if q.is_cuda:
            return output
        # On CPUs torch says 0 for a query that is not a number.
        return output.masked_fill(call.q.sum(dim=-1, keepdim=True).isnan(), torch.nan)


def is_affordable(call: AttentionInputs) -> bool:
    """Whether nothing new has to be compiled, or only one of a few."""
    return len(SEEN) < MOST_COMPILATIONS or compilation_key(call) in SEEN


def compilation_key(call: AttentionInputs) -> tuple[object, ...]:
    """All that torch compiles anew for."""
    mask = call.mask
    parts = (call.q, call.k, call.v, mask.padding, mask.attn_mask)
    shapes = (None if part is None else tuple(part.shape) for part in parts)
    positions = mask.causal, mask.first
    return (str(call.mechanism.spec), call.scale, call.q.dtype, call.needs_gradient, *positions, *shapes)


def reason_against_flex(call: AttentionInputs) -> str | None:
    """What flex attention cannot compute."""
    if call.mechanism.activation.softmax_logits(call.q.new_zeros(1)) is None:
        return "its activation is not a softmax"
    late = acts_late_reason(call)
    if late is not None:
        return late
    if not changes_single_scores(call):
        return "its position does not change each score separately"
    if call.dropout:
        return "it has no dropout"
    imprecise = double_precision_reason(call)
    if imprecise is not None:
        return imprecise
    if 0 in (*call.q.shape, *call.k.shape, *call.v.shape):
        return "there is nothing to compute"
    position, size = call.mechanism.position, call.q.shape[3]
    widest = max(position.feature_size(size) if position.is_dot_product else size, call.v.shape[3])
    if call.q.is_cuda and widest > WIDEST_HEAD:
        return f"heads and features are at most {WIDEST_HEAD} numbers wide, not {widest}"
    return None


def changes_single_scores(call: AttentionInputs) -> bool:
    """Whether the position can be said as one; asked for a single token, as its tables may be large."""
    position = call.mechanism.position
    token = (
        Mask(1, 1, query_positions=range(1)).token_positions(call.q.device)
        if position.needs_positions
        else None
    )
    return position.is_dot_product or position.score_mod(call.q[:0, :, :1], call.scale, token) is not None


def missing_for_flex(call: AttentionInputs) -> str | None:
    """What this machine lacks."""
    if call.q.is_cuda:
        return "install glasshead[triton]" if find_spec("triton") is None else None
    if call.q.device.type != "cpu":
        return f"it runs on CUDA devices and CPUs, not on {call.q.device.type}"
    if call.needs_gradient:
        return "on a CPU it has no backward pass: call it under torch.no_grad()"
    return compiler_problem()


@cache
def compiler_problem() -> str | None:
    """Why torch cannot compile it for this CPU."""
    if not sys.platform.startswith("linux"):
        return f"torch does not compile it for CPUs on {sys.platform}"
    if not torch.backends.cpu.get_cpu_capability().startswith("AVX"):
        return "this CPU has no AVX2, or ATEN_CPU_CAPABILITY forbids it"
    compiler = os.environ.get("CXX", "g++")
    return None if shutil.which(compiler) else f"torch needs the C++ compiler {compiler} (or another in CXX)"


@cache
def compile_flex_attention() -> Callable[..., Tensor]:
    """Flex attention, compiled whole or not at all, and for every size anew: unknown ones fail on CPUs."""
    from torch.nn.attention.flex_attention import flex_attention

    return torch.compile(flex_attention, fullgraph=True, dynamic=False)


def as_changed_products(call: AttentionInputs) -> tuple[Tensor, Tensor, Tensor, Callable[..., Tensor]]:
    """q, k, v and what makes the exponent of the softmax of each q·k."""
    position, activation = call.mechanism.position, call.mechanism.activation
    q, k, v, scale = call.q, call.k, call.v, call.scale
    last, added = call.mask.keys - 1, keys_to_add(call.mask.keys)
    score_of: Callable[..., Tensor] | None = None
    if position.is_dot_product and position.needs_positions:
        k, v = call.expand_heads()
        q, k = position.features(q, k, scale, call.token_positions())
        v = upcast_half(v)
    else:
        score_of = position.score_mod(q, scale, call.token_positions())

    def change_score(score: Tensor, batch: Tensor, head: Tensor, query: Tensor, key: Tensor) -> Tensor:
        # Single precision from the start: in float16, torch 2.13 compiles a wrong logsigmoid for CPUs.
        score = score.float()
        if score_of is not None:
            key = key.clamp(max=last) if added else key
            score = score_of(score, batch, head, query, key)
        exponent = activation.softmax_logits(score)
        assert exponent is not None  # the call was not refused
        return exponent

    return q, k, v, change_score


def keys_to_add(keys: int) -> int:
    """How many masked keys a CPU needs: torch 2.13 reads past the end of a length like 8, 24 or 40."""
    return 8 if keys % 16 == 8 else 0


def with_masked_keys(mask: Mask, k: Tensor, v: Tensor, added: int) -> tuple[Mask, Tensor, Tensor]:
    """The same attention, with masked keys at the end."""
    real = torch.ones(len(k), mask.keys, dtype=torch.bool) if mask.padding is None else mask.padding
    pairs = None if mask.attn_mask is None else pad(mask.attn_mask, (0, added))
    longer = replace(mask, keys=mask.keys + added, padding=pad(real, (0, added)), attn_mask=pairs)
    return longer, pad(k, (0, 0, 0, added)), pad(v, (0, 0, 0, added))


def pad_to_power_of_two(tensor: Float[Tensor, "b h n d"]) -> Float[Tensor, "b h n wide"]:
    """Zeros up to the next power of two, at least 16: other sizes do not compile everywhere."""
    size = tensor.shape[3]
    return pad(tensor, (0, max(MIN_ROW_SIZE, 1 << (size - 1).bit_length()) - size))


def block_mask(mask: Mask, device: torch.device) -> Any:
    """Which blocks of the mask are empty, full or neither, without ever holding the mask itself."""
    from torch.nn.attention.flex_attention import BlockMask

    some, every = find_blocks(mask, device)
    partly = block_lists(some & ~every)
    fully = block_lists(every)
    return BlockMask.from_kv_blocks(
        *partly,
        *fully,
        BLOCK_SIZE=FLEX_BLOCK,
        mask_mod=pair_rule(mask, device),
        seq_lengths=(mask.queries, mask.keys),
    )


def find_blocks(
    mask: Mask, device: torch.device
) -> tuple[Bool[Tensor, "b h rows columns"], Bool[Tensor, "b h rows columns"]]:
    """Blocks that may hold an allowed pair, and blocks of nothing else."""
    rows, columns = -(-mask.queries // FLEX_BLOCK), -(-mask.keys // FLEX_BLOCK)
    real = torch.ones(1, mask.keys, dtype=torch.bool, device=device)
    real = split_into_blocks(real if mask.padding is None else mask.padding)  # [B, columns, BLOCK]
    some = real.any(dim=-1)[:, None, None, :].expand(-1, -1, rows, -1)
    every = real.all(dim=-1)[:, None, None, :].expand(-1, -1, rows, -1)
    if mask.causal:
        index, start = mask.index(device), torch.arange(columns, device=device) * FLEX_BLOCK
        fill = rows * FLEX_BLOCK - mask.queries
        last = pad(index, (0, fill), value=-1).view(rows, FLEX_BLOCK).amax(dim=-1)
        first = pad(index, (0, fill), value=mask.keys).view(rows, FLEX_BLOCK).amin(dim=-1)
        some = some & (start <= last[:, None])
        every = every & (start + FLEX_BLOCK - 1 <= first[:, None])
    if mask.attn_mask is not None:
        tiles = split_into_blocks(
            split_into_blocks(mask.attn_mask).movedim(2, -1)
        )  # [b, h, columns, BLOCK, rows, BLOCK]
        some = some & tiles.any(dim=5).any(dim=3).transpose(2, 3)
        every = every & tiles.all(dim=5).all(dim=3).transpose(2, 3)
    return some, every


def split_into_blocks(flags: Bool[Tensor, "*any n"]) -> Bool[Tensor, "*any blocks size"]:
    """The last axis in blocks, what lies beyond its end being false."""
    return pad(flags, (0, -flags.shape[-1] % FLEX_BLOCK)).unflatten(-1, (-1, FLEX_BLOCK))


def block_lists(blocks: Bool[Tensor, "b h rows columns"]) -> tuple[Tensor, Tensor]:
    """How many blocks of each row, and which columns, these first."""
    order = blocks.int().argsort(dim=-1, descending=True, stable=True)
    return blocks.sum(dim=-1, dtype=torch.int32), order.int().contiguous()


def pair_rule(mask: Mask, device: torch.device) -> Callable[..., Tensor]:
    """Whether one pair is allowed, as flex attention asks."""
    tests: list[Callable[..., Tensor]] = []
    if mask.padding is not None:
        padding = mask.padding
        one = padding.shape[0] == 1
        tests.append(lambda batch, head, query, key: padding[batch * 0 if one else batch, key])
    if mask.causal:
        index = mask.index(device)
        tests.append(lambda batch, head, query, key: key <= index[query])
    if mask.attn_mask is not None:
        pairs = mask.attn_mask
        by_batch, by_head = (int(n > 1) for n in pairs.shape[:2])
        tests.append(lambda batch, head, query, key: pairs[batch * by_batch, head * by_head, query, key])
    first, *others = tests

    def is_allowed(batch: Tensor, head: Tensor, query: Tensor, key: Tensor) -> Tensor:
        live = first(batch, head, query, key)
        for test in others:
            live = live & test(batch, head, query, key)
        return live

    return is_allowed


KERNELS.register("flex")(Flex())

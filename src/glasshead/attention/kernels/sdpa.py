"""PyTorch's fused softmax attention, and TanhMax through it."""

from dataclasses import replace

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn.functional import pad, scaled_dot_product_attention

from glasshead.attention.activation import Activation
from glasshead.attention.kernels.blocking import MIN_BLOCK_ROWS, in_blocks, in_groups
from glasshead.attention.kernels.kernel import KERNELS, Kernel, lengthens_many_keys, products_reason
from glasshead.attention.mechanism import AttentionInputs
from glasshead.attention.precision import upcast_half

SDPA_BLOCK = 2**22
"""Entries of a mask, or of scores where no fused kernel runs, held at once."""
MADE = 6 * 2**20
"""Numbers made of q, k and v held at once: 24 MiB in float32, all heads of some two thousand tokens."""
SMALL_SCORE = 0.5
"""Scores below which the difference of their two exponentials is small next to either."""
FEW_KEYS = 64
"""Keys below which (16 in truth) the kernel of the CPU says 0 for a query that is not a number."""


class SDPA(Kernel):
    """Softmax over dot products directly; TanhMax as softmax over [k; −k] with values [v; −v].

    The second holds because the scores are odd in k (Huang, Yang and Wang 2024, eq. 6): e^s and e^{−s} are
    the exponentials of a key and its negative, and their values differ in sign. The two stand side by side,
    so that the keys up to a causal query stay the first ones, and share their place in the mask.
    """

    linear_memory = True

    def unsupported_reason(self, call: AttentionInputs) -> str | None:
        activation = call.mechanism.activation
        if not (activation.uses_paired_exponential or is_softmax(activation)):
            return "its weights are not a softmax of dot products"
        if activation.uses_paired_exponential and call.dropout:
            return products_reason(call) or (
                "dropout on keys and their negatives is not dropout on weights: set dropout=0"
            )
        return products_reason(call)

    def is_preferred(self, call: AttentionInputs) -> bool:
        """Not for a few rows among many keys, all of which would first be made longer by their positions.

        Nor for TanhMax of scores that are all small, of which float32 would lose digits.
        """
        return not lengthens_many_keys(call) and not loses_digits(call)

    def __call__(self, call: AttentionInputs) -> Float[Tensor, "b h q d_v"]:
        dtype = call.q.dtype
        if call.mechanism.activation.uses_paired_exponential:
            # Small scores make the two nearly equal: rounded to half precision, little is left of their
            # difference.
            call = replace(call, q=upcast_half(call.q), k=upcast_half(call.k), v=upcast_half(call.v))

        def blockwise(part: AttentionInputs) -> Tensor:
            return in_blocks(part, rows_per_block(part), call_torch_kernel)

        return in_groups(call, heads_per_block(call), blockwise).to(dtype)


def loses_digits(call: AttentionInputs) -> bool:
    """Whether e^s and e^{−s}, summed apart, are so nearly equal that their difference has few right digits.

    No score is larger than |scale| max‖q‖ max‖k‖. A GPU and a compiler are not asked: that would wait.
    """
    looks = call.q.device.type == "cpu" and not torch.compiler.is_compiling()
    paired = call.mechanism.activation.uses_paired_exponential and not call.mechanism.position.needs_positions
    if not (looks and paired and call.q.dtype == torch.float32) or not call.q.numel() or not call.k.numel():
        return False
    longest = [float(rows.detach().norm(dim=-1).max()) for rows in (call.q, call.k)]
    return 0 < abs(call.scale) * longest[0] * longest[1] < SMALL_SCORE


def is_softmax(activation: Activation) -> bool:
    """Whether the scores themselves are what goes into the softmax."""
    scores = torch.zeros(1)
    return activation.softmax_logits(scores) is scores


def heads_per_block(call: AttentionInputs) -> int:
    """Key heads of one group: as many as need a block of memory for what is made of q, k and v.

    All of them where nothing is made, where a backward pass would keep it, on a GPU, which wants them all at
    once, and where they share parameters.
    """
    batch, every, keys, size = call.k.shape
    position, paired = call.mechanism.position, call.mechanism.activation.uses_paired_exponential
    cut = position.per_head or not position.learned
    if call.needs_gradient or call.q.is_cuda or not cut or not (position.needs_positions or paired):
        return every
    # q and output, k and v all end up as wide as the widest.
    width = max(position.feature_size(size), call.v.shape[3])
    elements = 2 * width * (keys * (2 if paired else 1) + call.groups * call.q.shape[2])
    return max(1, MADE // max(1, batch * elements))


def rows_per_block(call: AttentionInputs) -> int:
    """Query rows of one block: all of them where no row has a mask of its own and a fused kernel runs."""
    batch, every, queries = call.q.shape[:3]
    keys = call.k.shape[2] * (2 if call.mechanism.activation.uses_paired_exponential else 1)
    row_size = 0
    if not is_fused(call):
        row_size = batch * every * keys
    elif call.mask.attn_mask is not None:
        row_size = call.mask.attn_mask.shape[:2].numel() * keys
    elif call.mask.causal and not natively_causal(call):
        row_size = keys
    if call.mask.padding is not None:
        row_size *= batch
    return max(MIN_BLOCK_ROWS, SDPA_BLOCK // row_size) if row_size else max(1, queries)


def is_fused(call: AttentionInputs) -> bool:
    """Whether PyTorch has a kernel for it that does not hold the scores."""
    return call.q.dtype != torch.float64 if call.q.is_cuda else not call.dropout


def natively_causal(call: AttentionInputs) -> bool:
    """Whether ``is_causal`` says all that the mask says; on CPUs it multiplies −∞ by the scale."""
    mask = call.mask
    # Not mask.query_positions == range(mask.keys), which a compiler cannot read where lengths are unknown.
    whole = mask.first is not None and mask.span == (0, mask.keys - 1)
    alone = mask.causal and mask.padding is None and mask.attn_mask is None
    return whole and alone and call.scale > 0 and not call.mechanism.activation.uses_paired_exponential


def call_torch_kernel(call: AttentionInputs) -> Float[Tensor, "b h q d_v"]:
    """One call of PyTorch's kernel."""
    q, k, v, scale = features(call)
    value_dim = v.shape[-1]
    if q.shape[-1] != value_dim:
        # Other than equal sizes have no fused kernel on the CPU; zeros change no dot product.
        width = max(q.shape[-1], value_dim)
        q, k, v = (pad(tensor, (0, width - tensor.shape[-1])) for tensor in (q, k, v))
    causal = natively_causal(call)
    allowed = empty = None
    if not causal and not call.mask.is_full:
        allowed = mask_rows(call)
        # What a row without any key yields differs between kernels: it attends to all, and is then zeroed.
        empty = ~allowed.any(dim=-1, keepdim=True)
        allowed = allowed | empty
        if q.is_cuda:  # there masks and shared key heads exclude each other
            k, v = (tensor.repeat_interleave(q.shape[1] // k.shape[1], dim=1) for tensor in (k, v))
    if call.mechanism.activation.uses_paired_exponential:
        signs = k.new_tensor([[1.0], [-1.0]])
        k, v = ((tensor[:, :, :, None] * signs).flatten(2, 3) for tensor in (k, v))
        allowed = None if allowed is None else allowed.repeat_interleave(2, dim=-1)
    output = scaled_dot_product_attention(
        *(q, k, v, allowed, call.dropout, causal),
        scale=scale,
        enable_gqa=q.shape[1] != k.shape[1],
    )
    output = output[..., :value_dim].to(call.q.dtype)
    if k.shape[2] < FEW_KEYS:
        output = output.masked_fill(q.sum(dim=-1, keepdim=True).isnan(), torch.nan)
    return output if empty is None else output.masked_fill(empty, 0.0)


def mask_rows(call: AttentionInputs) -> Bool[Tensor, "b h q k"]:
    """The mask of a block; one row for all queries if they are masked alike."""
    if call.mask.causal or call.mask.attn_mask is not None or call.mask.padding is None:
        return call.mask.allowed(call.q.device)
    return call.mask.padding[:, None, None, :]


def features(call: AttentionInputs) -> tuple[Tensor, Tensor, Tensor, float]:
    """q′, k′, v and what is left of the scale; features in half precision would be other positions."""
    position = call.mechanism.position
    if not position.needs_positions:
        return call.q, call.k, call.v, call.scale
    k, v = call.expand_heads()
    q, k = position.features(call.q, k, call.scale, call.token_positions())
    return q, k, upcast_half(v), 1.0


KERNELS.register("sdpa")(SDPA())

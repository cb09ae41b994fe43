"""Triton: TanhMax in one pass over the keys, q·k computed once."""

import os
from importlib.util import find_spec

import torch
from jaxtyping import Float
from torch import Tensor

from glasshead.attention.kernels.kernel import (
    KERNELS,
    Kernel,
    double_precision_reason,
    prefixes_reason,
    products_reason,
)
from glasshead.attention.mechanism import AttentionInputs
from glasshead.attention.precision import upcast_half

WIDEST_TRITON_HEAD = 256
OLDEST = (8, 0)


def is_interpreted() -> bool:
    """Whether Triton runs its programs in Python, on any device (to be set before the first of them runs)."""
    return os.environ.get("TRITON_INTERPRET", "0").lower() in ("1", "true", "on", "yes", "y")


class Triton(Kernel):
    """Activations of paired exponentials over dot products, forward and backward, in tiles on the GPU."""

    linear_memory = True

    def unsupported_reason(self, call: AttentionInputs) -> str | None:
        return reason_against_triton(call) or missing_for_triton(call)

    def is_preferred(self, call: AttentionInputs) -> bool:
        return call.q.is_cuda and not is_interpreted()

    def __call__(self, call: AttentionInputs) -> Float[Tensor, "b h q d_v"]:
        from glasshead.attention.kernels.triton_programs.launch import attend_pairs

        q, k, v, scale = call.q, call.k, call.v, call.scale
        if call.mechanism.position.needs_positions:
            k, v = call.expand_heads()
            q, k = call.mechanism.position.features(q, k, scale, call.token_positions())
            v, scale = upcast_half(v), 1.0
        first = call.mask.first if call.mask.causal else None
        return attend_pairs(q, k, v, call.mask.padding, scale, first)[0].to(call.q.dtype)


def reason_against_triton(call: AttentionInputs) -> str | None:
    """What the programs do not compute."""
    if not call.mechanism.activation.uses_paired_exponential:
        return "it computes activations of paired exponentials (tanhmax) only"
    dropped = "it has no dropout" if call.dropout else None
    return (
        products_reason(call)
        or prefixes_reason(call)
        or dropped
        or double_precision_reason(call)
        or too_wide(call)
    )


def too_wide(call: AttentionInputs) -> str | None:
    """Refuses heads that do not fit a tile."""
    widest = max(call.mechanism.position.feature_size(call.q.shape[3]), call.v.shape[3])
    fits = widest <= WIDEST_TRITON_HEAD
    return None if fits else f"heads and features are at most {WIDEST_TRITON_HEAD} numbers wide, not {widest}"


def missing_for_triton(call: AttentionInputs) -> str | None:
    """What this machine lacks."""
    if find_spec("triton") is None:
        return "install glasshead[triton]"
    if is_interpreted():
        # Its products of bfloat16 tiles are wrong.
        return "Triton's interpreter has no bfloat16" if call.q.dtype == torch.bfloat16 else None
    if not call.q.is_cuda:
        return f"it needs a CUDA device, not {call.q.device.type}"
    if torch.cuda.get_device_capability(call.q.device) < OLDEST:
        return f"it needs compute capability {OLDEST[0]}.{OLDEST[1]}"
    return None


KERNELS.register("triton")(Triton())

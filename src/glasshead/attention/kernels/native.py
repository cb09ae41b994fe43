"""Attention in C++ on a CPU: one pass over the keys, and five products of tiles in the backward pass."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd import forward_ad

from glasshead.attention.activation import Activation
from glasshead.attention.activations.relu import ReLU
from glasshead.attention.activations.sigmoid import Sigmoid
from glasshead.attention.activations.sigsoftmax import Sigsoftmax
from glasshead.attention.kernels.kernel import KERNELS, Kernel, acts_late_reason, lengthens_many_keys
from glasshead.attention.kernels.native_programs.operators import best_capability, operators
from glasshead.attention.kernels.sdpa import is_softmax
from glasshead.attention.mechanism import AttentionInputs
from glasshead.attention.positions.distance_aware import DistanceAware
from glasshead.attention.positions.relative import max_distance, require_positions
from glasshead.attention.precision import upcast_half
from glasshead.spelling import spell

NATIVE_NAMES: dict[type[Activation], str] = {Sigsoftmax: "sigsoftmax", Sigmoid: "sigmoid", ReLU: "relu"}
LONG, SHORT, MANY = 128, 32, 2**17
"""Keys from which it is faster than two calls of PyTorch's kernel; the same where there are many pairs of
tokens (times batch and heads)."""
MIN_QUERIES, MIN_PAIRS, MIN_PAIRS_RELU = 16, 2**19, 2**22
"""Queries and pairs from which it is faster than the formula, in which ReLU costs little."""


class Native(Kernel):
    """TanhMax, softmax, sigsoftmax, sigmoid and ReLU over dot products or distance-aware scores, in C++.

    It serves once `glasshead kernels build` has compiled it. Half precision is computed in float32. A second
    derivative is that of the formula.
    """

    linear_memory = True
    takes_bias = True

    def unsupported_reason(self, call: AttentionInputs) -> str | None:
        return missing_feature(call) or (unbuilt() if best_capability() is None else None)

    def is_preferred(self, call: AttentionInputs) -> bool:
        """Where it was measured to be faster than what would serve otherwise."""
        activation, keys = call.mechanism.activation, call.k.shape[2]
        pairs = call.q.shape[:3].numel() * keys
        if lengthens_many_keys(call):
            return False
        if call.mechanism.position.is_dot_product:
            if is_softmax(activation):
                return False
            if activation.uses_paired_exponential:  # beside two calls of PyTorch's kernel
                return keys >= LONG or (keys >= SHORT and pairs >= MANY)
        least = MIN_PAIRS_RELU if activation_name(activation) == "relu" else MIN_PAIRS
        return call.q.shape[2] >= MIN_QUERIES and pairs >= least

    def __call__(self, call: AttentionInputs) -> Float[Tensor, "b h q d_v"]:
        capability = best_capability()
        assert capability is not None
        return attend_native(operators(capability).forward, call)


def attend_native(
    forward: Callable[..., tuple[Tensor, ...]], call: AttentionInputs
) -> Float[Tensor, "b h q d_v"]:
    """The call by the forward operator of a library."""
    position, mask = call.mechanism.position, call.mask
    q, k, v, scale, line, adjust = call.q, call.k, call.v, call.scale, None, "none"
    places: list[Tensor | None] = [
        None if mask.padding is None else mask.padding.expand(len(q), -1),
        mask.attn_mask,
        mask.index(q.device).long() if mask.causal else None,
    ]
    if isinstance(position, DistanceAware):
        positions = require_positions(call.token_positions())
        farthest = max_distance(positions)
        distances = torch.arange(1 - farthest, farthest, device=q.device).abs()
        line = position.coefficient(distances, torch.promote_types(q.dtype, torch.float32))
        places += [positions.query.long(), positions.key.long()]
        adjust = position.adjust
    else:
        places += [None, None]
        if position.needs_positions:
            k, v = call.expand_heads()
            q, k = position.features(q, k, scale, call.token_positions())
            scale = 1.0
    if not q.dtype == k.dtype == v.dtype == torch.bfloat16:
        q, k, v = upcast_half(q), upcast_half(k), upcast_half(v)
    bias = None if call.bias is None else call.bias.to(torch.promote_types(q.dtype, torch.float32))
    name = activation_name(call.mechanism.activation)
    return forward(q, k, v, bias, line, places, scale, name, adjust)[0].to(call.q.dtype)


def is_transformed() -> bool:
    """Whether torch.func (vmap, grad, jvp) looks at this call, or a forward derivative is taken."""
    if torch.compiler.is_compiling():
        return False
    return torch._C._functorch.peek_interpreter_stack() is not None or forward_ad._current_level >= 0


def activation_name(activation: Activation) -> str | None:
    """What the C++ calls an activation; None where it has none."""
    if activation.uses_paired_exponential:
        return "tanhmax"
    return "softmax" if is_softmax(activation) else NATIVE_NAMES.get(type(activation))


def lacks_native(call: AttentionInputs) -> bool:
    """Whether the automatic choice would take the native kernel, had it been compiled."""
    kernel = KERNELS["native"]
    return kernel.unsupported_reason(call) == unbuilt() and kernel.is_preferred(call)


def missing_feature(call: AttentionInputs) -> str | None:
    """What the C++ does not compute."""
    position = call.mechanism.position
    if activation_name(call.mechanism.activation) is None:
        return "it computes tanhmax, softmax, sigsoftmax, sigmoid and relu only"
    if not (position.is_dot_product or isinstance(position, DistanceAware)) or position.changes_weights:
        return acts_late_reason(call) or "its scores are neither dot products nor distance-aware"
    if call.dropout:
        return "it has no dropout: set dropout=0"
    if is_transformed():
        return "it has no forward derivative and no rule for torch.func"
    return None if call.q.device.type == "cpu" else f"it is for a CPU, not {call.q.device.type}"


KERNELS.register("native")(Native())


def unbuilt() -> str:
    """Why it serves nothing where no one has compiled it."""
    return f"it is not compiled: call {spell('glasshead.attention.build_native')}"

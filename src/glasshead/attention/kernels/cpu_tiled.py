"""Distance-aware attention on a CPU, in tiles that stay in its cache, with a backward pass of its own."""

from collections.abc import Iterator
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from glasshead.attention.kernels.kernel import KERNELS, Kernel, acts_late_reason, prefixes_reason
from glasshead.attention.kernels.sdpa import is_softmax
from glasshead.attention.mask import has_holes
from glasshead.attention.mechanism import AttentionInputs
from glasshead.attention.positions.distance_aware import DistanceAware
from glasshead.attention.precision import upcast_half

TILE = 2**17
"""Scores of one tile for each thread: 512 KiB, about what the second cache of a core keeps."""
COEFFICIENTS = 2**22
"""Coefficients held at once, for all heads but not for every text: 16 heads of 512 tokens."""
MIN_KEYS = 32
"""Keys below which the formula is as fast."""

Tile = tuple[int, slice, slice, slice]


class CpuTiled(Kernel):
    """Softmax over ReLU(q·k) · f(distance) in tiles for the cache of a CPU; f is held, for no text twice."""

    linear_memory = False

    def unsupported_reason(self, call: AttentionInputs) -> str | None:
        position, mask = call.mechanism.position, call.mask
        if not (isinstance(position, DistanceAware) and position.adjust == "early-multiply"):
            return acts_late_reason(call) or "its scores are not ReLU(q·k) · f of a distance"
        if not is_softmax(call.mechanism.activation):
            return "its weights are not a softmax"
        if call.q.is_cuda or torch.compiler.is_compiling():
            return "it is for CPUs and cannot be compiled"
        if call.dropout:
            return "it has no dropout: set dropout=0"
        if mask.causal or mask.attn_mask is not None:
            return prefixes_reason(call) or "it supports padding, but no causal mask"
        if mask.first is None:
            return "its queries must be consecutive"
        if mask.padding is not None and (
            has_holes(mask.padding) if mask.count_padding is None else mask.count_padding
        ):
            return "it supports padding at the ends, but no gaps"
        return None

    def is_preferred(self, call: AttentionInputs) -> bool:
        _, heads, queries, _ = call.q.shape
        keys = call.k.shape[2]
        return min(queries, keys) >= MIN_KEYS and heads * queries * keys <= COEFFICIENTS

    def __call__(self, call: AttentionInputs) -> Float[Tensor, "b h q d_v"]:
        position, positions = call.mechanism.position, call.token_positions()
        assert isinstance(position, DistanceAware)
        assert positions is not None
        k, v = (upcast_half(tensor).contiguous() for tensor in call.expand_heads())
        q = (upcast_half(call.q) * call.scale).contiguous()
        factors = position.coefficients(positions, q.dtype)[0].contiguous()
        output: Tensor = TiledFunction.apply(q, k, v, factors, key_spans(call))[0]
        return output.to(call.q.dtype)


def key_spans(call: AttentionInputs) -> list[slice]:
    """The real keys of every text."""
    if call.mask.padding is None:
        return [slice(0, call.k.shape[2])] * len(call.q)
    counts, firsts = call.mask.padding.sum(dim=1).tolist(), call.mask.padding.int().argmax(dim=1).tolist()
    return [slice(first, first + count) for first, count in zip(firsts, counts, strict=True)]


def tiles(heads: int, queries: int, real: list[slice]) -> Iterator[Tile]:
    """(text, heads, queries, keys); texts follow each other, so that they share coefficients in the cache."""
    size = TILE * torch.get_num_threads()
    keys = max((span.stop - span.start for span in real), default=0)
    if not keys:
        return
    rows = max(1, min(queries, size // keys))
    some = max(1, min(heads, size // (rows * keys)))
    for head in range(0, heads, some):
        for row in range(0, queries, rows):
            for text, span in enumerate(real):
                if span.stop > span.start:
                    yield text, slice(head, head + some), slice(row, row + rows), span


class TiledFunction(torch.autograd.Function):
    """o = softmax(max(q kᵀ, 0) ∘ F) v, with q scaled; the backward pass computes the weights again.

    With r = max(q kᵀ, 0), p = softmax(r ∘ F) and δ_i = dO_i · o_i: ds = p ∘ (dO vᵀ − δ), dF = Σ_texts ds ∘ r,
    and ds ∘ F where r > 0 is the gradient of q kᵀ.
    """

    @staticmethod
    def forward(q: Tensor, k: Tensor, v: Tensor, factors: Tensor, real: list[slice]) -> tuple[Tensor]:
        _, heads, queries, _ = q.shape
        output = q.new_zeros(*q.shape[:3], v.shape[3])
        for text, head, row, key in tiles(heads, queries, real):
            scores = torch.bmm(q[text, head, row], k[text, head, key].transpose(1, 2)).clamp_min_(0)
            weights = scores.mul_(factors[head, row, key]).softmax(dim=-1)
            output[text, head, row] = torch.bmm(weights, v[text, head, key])
        return (output,)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor]) -> None:
        ctx.save_for_backward(*inputs[:4], *output)
        ctx.real = inputs[4]

    @staticmethod
    def backward(ctx: Any, along: Tensor) -> tuple[Tensor | None, ...]:
        q, k, v, factors, output = ctx.saved_tensors
        if torch.is_grad_enabled():  # create_graph: who wants a second derivative gets it by the formula
            return *tile_gradients(ctx.saved_tensors[:4], ctx.needs_input_grad, ctx.real, along), None
        _, heads, queries, _ = q.shape
        along = along.contiguous()
        delta = (along * output).sum(dim=-1, keepdim=True)
        dq, dk, dv, df = (torch.zeros_like(tensor) for tensor in (q, k, v, factors))
        for text, head, row, key in tiles(heads, queries, ctx.real):
            q_, k_, v_ = q[text, head, row], k[text, head, key], v[text, head, key]
            along_, factors_ = along[text, head, row], factors[head, row, key]
            raised = torch.bmm(q_, k_.transpose(1, 2)).clamp_min_(0)
            weights = (raised * factors_).softmax(dim=-1)
            dv[text, head, key].baddbmm_(weights.transpose(1, 2), along_)
            ds = torch.bmm(along_, v_.transpose(1, 2)).sub_(delta[text, head, row]).mul_(weights)
            if ctx.needs_input_grad[3]:
                df[head, row, key].addcmul_(ds, raised)
            ds = torch.ops.aten.threshold_backward(ds.mul_(factors_), raised, 0)
            dq[text, head, row] = torch.bmm(ds, k_)
            dk[text, head, key].baddbmm_(ds.transpose(1, 2), q_)
        return dq, dk, dv, df, None


def tile_gradients(
    inputs: tuple[Tensor, ...], wanted: tuple[bool, ...], real: list[slice], along: Tensor
) -> Iterator[Tensor | None]:
    """The gradients of what `TiledFunction` computes, themselves part of the graph."""
    q, k, v, factors = inputs
    texts = [
        (q_ @ k_[:, key].transpose(1, 2)).relu().mul(factors[:, :, key]).softmax(dim=-1) @ v_[:, key]
        for q_, k_, v_, key in zip(q, k, v, real, strict=True)
    ]  # an empty text: a product over no keys, zeros
    leaves = [leaf for leaf, want in zip(inputs, wanted, strict=False) if want]
    gradients = iter(torch.autograd.grad(torch.stack(texts), leaves, along, create_graph=True))
    return (next(gradients) if want else None for want in wanted[:4])


KERNELS.register("tiles")(CpuTiled())

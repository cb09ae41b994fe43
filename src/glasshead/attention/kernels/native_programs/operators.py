"""The compiled passes as operators of torch, with shapes for its compiler and gradients."""

import threading
import warnings
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from glasshead.attention.activation import ACTIVATIONS
from glasshead.attention.precision import no_autocast, upcast_half
from glasshead.compiled import CAPABILITIES, native_library

CallTensors = tuple[Tensor, Tensor, Tensor, Tensor | None, Tensor | None]
"""q, k, v, the bias and the line of coefficients: what has gradients."""


def formula(leaves: CallTensors, mask: list[Tensor | None], options: list[Any]) -> Tensor:
    """φ(adjusted(scale · q·k) + bias) v, with ``options`` scale, activation and adjustment.

    The twin of the native operator, in a few lines of PyTorch, and its second derivative.
    """
    q, k, v, bias, line = leaves
    scale, activation, adjust = options
    padding, pairs, index, query_positions, key_positions = mask
    groups = q.shape[1] // k.shape[1]
    wide_q, wide_k, wide_v = (
        upcast_half(q),
        *(upcast_half(part).repeat_interleave(groups, dim=1) for part in (k, v)),
    )
    scores = (wide_q * scale) @ wide_k.mT
    if line is not None and query_positions is not None and key_positions is not None:
        offsets = key_positions[:, None, :] - query_positions[:, :, None] + line.shape[1] // 2
        coefficients = line[:, offsets].transpose(0, 1)  # [b, H, Q, K]
        if adjust == "early-add":
            scores = scores + coefficients
        else:
            scores = (scores.relu() if adjust == "early-multiply" else scores) * coefficients
    if bias is not None:
        scores = scores + bias
    allowed = torch.ones(1, 1, *scores.shape[2:], dtype=torch.bool)
    if padding is not None:
        allowed = allowed & padding[:, None, None, :]
    if pairs is not None:
        allowed = allowed & pairs
    if index is not None:
        allowed = allowed & (torch.arange(k.shape[2]) <= index[:, None])
    weights = ACTIVATIONS[activation]().weights(scores, allowed.expand_as(scores))
    return (weights @ wide_v).to(q.dtype)


def library_name(capability: str) -> str:
    """The namespace of a library's operators."""
    return f"glasshead_native_{capability.lower()}"


class Libraries:
    """The libraries of this process: loaded at most once each, and never at import."""

    def __init__(self) -> None:
        self.loaded: set[str] = set()
        self.broken: set[Path] = set()
        self.lock = threading.Lock()

    def best(self) -> str | None:
        """The fastest instructions that torch uses here and a library serves; None without any."""
        using = torch.backends.cpu.get_cpu_capability()
        usable = CAPABILITIES[CAPABILITIES.index(using) if using in CAPABILITIES else -1 :]
        built = (name for name in usable if native_library(name).is_file())
        return next((capability for capability in built if self.load(capability)), None)

    def load(self, capability: str) -> bool:
        """Whether the library of these instructions serves; a file that does not load is told of once."""
        with self.lock:
            if capability in self.loaded:
                return True
            path = native_library(capability)
            if path in self.broken:
                return False
            try:
                torch.ops.load_library(path)
            except OSError as error:
                self.broken.add(path)
                warnings.warn(
                    f"the native kernel is left out: {path} cannot be loaded ({error}); build it again",
                    stacklevel=2,
                )
                return False
            name = library_name(capability)
            torch.library.register_fake(f"{name}::forward", forward_shapes)
            torch.library.register_fake(f"{name}::backward", backward_shapes)
            torch.library.register_autograd(
                f"{name}::forward", Gradients(capability), setup_context=save_inputs
            )
            self.loaded.add(capability)
            return True


LIBRARIES = Libraries()


def operators(capability: str) -> Any:
    """The operators of a library that is loaded."""
    return getattr(torch.ops, library_name(capability))


def best_capability() -> str | None:
    """`Libraries.best`, of which a compiler need not know how it is found and loaded."""
    return LIBRARIES.best()


# What `torch.compiler.assume_constant_result` does, without importing the compiler (and Triton) for it.
best_capability._dynamo_marked_constant = True  # type: ignore[attr-defined]


def forward_shapes(q: Tensor, k: Tensor, v: Tensor, *_: Any) -> tuple[Tensor, Tensor, Tensor]:
    """Output, m and l; heads are adjacent in memory, so that merging them costs nothing."""
    batch, heads, queries, _size = q.shape
    wide = torch.float64 if q.dtype == torch.float64 else torch.float32
    out = q.new_empty(batch, queries, heads, v.shape[3]).transpose(1, 2)
    m, total = (q.new_empty(batch, heads, queries, dtype=wide) for _ in range(2))
    return out, m, total


def backward_shapes(
    grad: Tensor, q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None, line: Tensor | None, *rest: Any
) -> tuple[Tensor, ...]:
    """The gradients of q, k, v, the bias and the line."""
    wants_bias, none = rest[-1], rest[2].new_empty(0)
    return (
        *(torch.empty_like(part, memory_format=torch.contiguous_format) for part in (q, k, v)),
        torch.empty_like(bias, memory_format=torch.contiguous_format)
        if bias is not None and wants_bias
        else none,
        none if line is None else torch.empty_like(line, memory_format=torch.contiguous_format),
    )


def save_inputs(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor, Tensor]) -> None:
    q, k, v, bias, line, mask, *ctx.options = inputs
    ctx.save_for_backward(q, k, v, bias, line, *mask, *output)
    ctx.mark_non_differentiable(*output[1:])
    ctx.set_materialize_grads(False)


class Gradients:
    """The gradients of the forward operator of one library."""

    def __init__(self, capability: str) -> None:
        self.capability = capability

    def __call__(self, ctx: Any, grad: Tensor | None, *_: Any) -> tuple[Any, ...]:
        if grad is None:
            return (None,) * 9
        q, k, v, bias, line, *rest = ctx.saved_tensors
        mask, (out, m, total) = rest[:-3], rest[-3:]
        wanted = ctx.needs_input_grad
        if torch.is_grad_enabled():  # create_graph
            warnings.warn(
                "second derivatives of the native kernel use the formula, which stores all pairs",
                stacklevel=2,
            )
            leaves = q, k, v, bias, line
            grads = formula_gradients(leaves, wanted[:5], mask, ctx.options, grad)
            return *grads, None, None, None, None
        dq, dk, dv, dbias, dline = operators(self.capability).backward(
            grad, q, k, v, bias, line, mask, out, m, total, *ctx.options, wanted[3]
        )
        return dq, dk, dv, dbias if wanted[3] else None, dline if wanted[4] else None, None, None, None, None


def formula_gradients(
    leaves: CallTensors,
    wanted: tuple[bool, ...],
    mask: list[Tensor | None],
    options: list[Any],
    grad: Tensor,
) -> list[Tensor | None]:
    """The gradients by the formula, themselves part of the graph."""
    asked_leaves = [leaf for leaf, want in zip(leaves, wanted, strict=True) if want and leaf is not None]
    with no_autocast(grad.device):
        grads = iter(
            torch.autograd.grad(formula(leaves, mask, options), asked_leaves, grad, create_graph=True)
        )
    return [next(grads) if want else None for want in wanted]

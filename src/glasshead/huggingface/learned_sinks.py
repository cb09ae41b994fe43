"""Sinks: columns of scores that belong to no token. They take a share of each row and give nothing for it.

Which columns these are is followed through the code of the model: a sink is made of parameters and constants
alone, whatever the text, or of the queries alone, while scores of keys are products of queries and keys
(Inkling). It is joined in front of the scores of the keys, or behind them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.utils.weak import WeakTensorKeyDictionary

from glasshead.attention import Activation, Mechanism

JOINS = {torch.cat, torch.concat, torch.concatenate}
CONSTANT_CALLS = {"new_zeros", "new_ones", "new_full", "zeros_like", "ones_like", "full_like"}
"""Functions that take nothing from a tensor but its shape and type."""
PRODUCTS = {"matmul", "__matmul__", "__rmatmul__", "bmm", "baddbmm", "einsum"}
"""Functions that make scores of queries and keys."""


class SinkColumns:
    """How many columns of the scores in an attention module are sinks, before the keys and behind them."""

    def __init__(self, module: nn.Module) -> None:
        self.textless = {id(buffer): buffer for buffer in module.buffers()}
        """What is made of no text, by its id."""
        self.products = WeakTensorKeyDictionary()
        """What is made of a product of two tensors of the text."""
        self.ends: dict[int, tuple[Tensor, int, int]] = {}
        """Scores with sinks by their id, and how many are in front and behind."""

    def of(self, scores: Tensor) -> tuple[int, int]:
        """The sinks in front of the keys and behind them."""
        _, front, back = self.ends.get(id(scores), (scores, 0, 0))
        return front, back

    def follow(self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], result: Any) -> None:
        """See one function that the module calls."""
        name = getattr(func, "__name__", "")
        if name in CONSTANT_CALLS or all(self.is_textless(tensor) for tensor in tensors_in(args, kwargs)):
            self.textless |= {id(made): made for made in tensors_in([result])}
        elif args and (result is args[0] or name == "__setitem__"):  # written over
            self.textless.pop(id(args[0]), None)
        read = [tensor for tensor in tensors_in(args, kwargs) if not self.is_textless(tensor)]
        if (name in PRODUCTS and len(read) > 1) or any(tensor in self.products for tensor in read):
            for made in tensors_in([result]):
                self.products[made] = True
        if isinstance(result, Tensor) and result.ndim == 4:
            front, back = self.ends_of(func, args, kwargs, result)
            if front or back:
                self.ends[id(result)] = result, front, back

    def is_textless(self, tensor: Tensor) -> bool:
        """Whether a tensor is made of parameters and constants alone."""
        return isinstance(tensor, nn.Parameter) or id(tensor) in self.textless

    def ends_of(
        self, func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], result: Tensor
    ) -> tuple[int, int]:
        """The sinks of what a function made."""
        arguments = dict(zip(("tensors", "dim"), args, strict=False)) | dict(kwargs)
        if func in JOINS and arguments.get("dim", arguments.get("axis", 0)) in (-1, 3):
            parts = list(arguments["tensors"])
            keys = [number for number, part in enumerate(parts) if not self.is_textless(part)]
            products = [number for number in keys if parts[number] in self.products]
            keys = products or keys
            if not keys:
                return 0, 0
            first, last = keys[0], keys[-1]
            return (
                sum(part.shape[-1] for part in parts[:first]) + self.of(parts[first])[0],
                sum(part.shape[-1] for part in parts[last + 1 :]) + self.of(parts[last])[1],
            )
        scores = next(tensors_in(args, kwargs), None)
        if scores is None or self.is_textless(scores):
            return 0, 0
        front, back = self.of(scores)
        arguments = dict(zip(("input", "pad", "mode"), args, strict=False)) | dict(kwargs)
        if func is nn.functional.pad and arguments.get("mode", "constant") == "constant":
            return front + arguments["pad"][0], back + arguments["pad"][1]
        return (front, back) if scores.shape == result.shape else (0, 0)


def tensors_in(*values: Any) -> Iterator[Tensor]:
    """The tensors in nested values."""
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, Mapping):
            yield from tensors_in(*value.values())
        elif isinstance(value, (list, tuple)):
            yield from tensors_in(*value)


class SinkSoftmax(Activation):
    """[φ(s)]_i = e^{s_i} / (Σ_k e^{s_k} + Σ_j e^{σ_j}) with the scores σ of sinks (OpenAI 2025, gpt-oss)."""

    paper = "OpenAI 2025"
    signed = False
    rows_sum_to_one = False
    monotone = True
    log_nonlinear = False
    origin_symmetric = False
    normalised = False
    has_sinks = True

    def __init__(self, sinks: Float[Tensor, "b h q sinks"]) -> None:
        self.sinks = sinks

    def weights(
        self, scores: Float[Tensor, "*rows keys"], mask: Bool[Tensor, "*rows keys"]
    ) -> Float[Tensor, "*rows keys"]:
        safe = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        joined = torch.cat([safe, self.sinks.to(scores)], dim=-1).softmax(dim=-1)
        return joined[..., : scores.shape[-1]].masked_fill(~mask, 0.0)


class SinkMechanism(Mechanism):
    """A mechanism of one call whose rows have sinks."""

    def __init__(self, plain: Mechanism, sinks: Float[Tensor, "b h q sinks"]) -> None:
        super().__init__(SinkSoftmax(sinks), plain.position, plain.spec)
        self.sinks = sinks

    def of_heads(self, heads: slice) -> Mechanism:
        return SinkMechanism(super().of_heads(heads), self.sinks[:, heads])

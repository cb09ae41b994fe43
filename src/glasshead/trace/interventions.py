"""Edits for `intervene`: pure functions from weights to weights."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from jaxtyping import Float
from torch import Tensor

from glasshead.attention import AttentionInputs, parse_rows
from glasshead.trace.intervene import Edit


def uniform(layer: int, weights: Float[Tensor, "b h q k"], call: AttentionInputs) -> Float[Tensor, "b h q k"]:
    """a_ij = 1 / (number of keys that i may attend to); zeros where there is none.

    Source: Wiegreffe and Pinter (2019), section 3.2.
    """
    allowed = call.mask.allowed(weights.device).expand_as(weights).to(weights.dtype)
    return allowed / allowed.sum(dim=-1, keepdim=True).clamp(min=1.0)


def permute(generator: torch.Generator) -> Edit:
    """Weights of every row in random order, among the keys that it may attend to.

    Source: Jain and Wallace (2019), section 4.2.1.
    """

    def edit(
        layer: int, weights: Float[Tensor, "b h q k"], call: AttentionInputs
    ) -> Float[Tensor, "b h q k"]:
        allowed = call.mask.allowed(weights.device).expand_as(weights)
        noise = torch.rand(weights.shape, generator=generator, device=generator.device).to(weights.device)
        source = noise.masked_fill(~allowed, 2.0).argsort(dim=-1)  # allowed keys first, in random order
        target = (~allowed).byte().argsort(dim=-1, stable=True)  # allowed keys first, in their own order
        return torch.zeros_like(weights).scatter(-1, target, weights.gather(-1, source))

    return edit


def zero_heads(*heads: int) -> Edit:
    """No weight at all for some heads.

    Source: Michel, Levy and Neubig (2019), eq. 1.
    """

    def edit(
        layer: int, weights: Float[Tensor, "b h q k"], call: AttentionInputs
    ) -> Float[Tensor, "b h q k"]:
        numbers = parse_rows("head", heads, weights.shape[1])
        return weights.index_fill(1, torch.tensor(numbers, dtype=torch.long, device=weights.device), 0.0)

    return edit


def replace(weights: Mapping[int, Tensor]) -> Edit:
    """Given weights for given layers; the other layers keep their own.

    Source: Jain and Wallace (2019), section 4.2.2.
    """

    def edit(layer: int, own: Float[Tensor, "b h q k"], call: AttentionInputs) -> Float[Tensor, "b h q k"]:
        return weights.get(layer, own)

    return edit

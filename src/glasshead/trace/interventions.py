"""Edits for `intervene`: pure functions from weights to weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from jaxtyping import Float, Int
from torch import Tensor

from glasshead.attention import AttentionInputs, parse_rows
from glasshead.trace.intervene import Edit


def uniform(layer: int, weights: Float[Tensor, "b h q k"], call: AttentionInputs) -> Float[Tensor, "b h q k"]:
    """a_ij = 1 / (number of keys that i may attend to); zeros if there is none.

    Source: Wiegreffe and Pinter (2019), section 3.2.
    """
    allowed = call.mask.allowed(weights.device).expand_as(weights).to(weights.dtype)
    return allowed / allowed.sum(dim=-1, keepdim=True).clamp(min=1.0)


Noise = Callable[[Tensor], Tensor]
"""Numbers of U(0, 1) in the shape, and on the device, of some weights."""
MIX = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
PLACES = 1 << 21


def draw_noise(source: torch.Generator | Noise, weights: Float[Tensor, "*b"]) -> Float[Tensor, "*b"]:
    """U(0, 1) in the shape of some weights, from a generator or a replacement for one."""
    if isinstance(source, torch.Generator):
        return torch.rand(weights.shape, generator=source, device=source.device).to(weights.device)
    return source(weights)


class TextNoise:
    """Numbers from U(0, 1) for weights [b, h, q, k] that depend only on the seed of a text and on their
    place, so that a text gets the same numbers in any batch, with any padding, on any device.

    The weights of a text that is split into several sequences are concatenated. ``draw`` is the number of the
    draw, or one for each text.

    Source: Steele, Lea and Flood (2014), SplitMix64, with a counter instead of a state.
    """

    def __init__(self, seeds: Int[Tensor, " texts"], draw: int | Int[Tensor, " texts"]) -> None:
        self.seeds = mix_bits(seeds.long() + (torch.as_tensor(draw) + 1) * wrapped(MIX[0]))

    def __call__(self, weights: Float[Tensor, "b h q k"]) -> Float[Tensor, "b h q k"]:
        rows, heads, queries, keys = weights.shape
        of_each, rest = divmod(rows, len(self.seeds))
        if rest:
            raise ValueError(f"{rows} sequences cannot be divided equally between {len(self.seeds)} texts")
        seeds = self.seeds.to(weights.device).repeat_interleave(of_each)
        sequence = torch.arange(of_each, device=weights.device).repeat(len(self.seeds))
        place = seeds[:, None, None, None]
        for number, size in ((1, heads), (2, queries), (3, keys)):
            along = torch.arange(size, device=weights.device).reshape(
                [-1 if d == number else 1 for d in range(4)]
            )
            place = mix_bits(place + along * wrapped(MIX[0]) + (sequence * PLACES)[:, None, None, None])
        return ((place >> 11) & (2**53 - 1)).double().mul(2.0**-53).to(weights.dtype)


def wrapped(number: int) -> int:
    """A number of 64 bits as torch writes it, with a sign."""
    number %= 1 << 64
    return number - (1 << 64) if number >= 1 << 63 else number


def mix_bits(values: Int[Tensor, "*b"]) -> Int[Tensor, "*b"]:
    """64 bits that depend on all bits of each number."""
    for shift, factor in ((30, MIX[1]), (27, MIX[2])):
        values = (values ^ ((values >> shift) & ((1 << (64 - shift)) - 1))) * wrapped(factor)
    return values ^ ((values >> 31) & ((1 << 33) - 1))


def permute(source: torch.Generator | Noise) -> Edit:
    """Shuffle the weights of every row among the keys that it may attend to.

    Source: Jain and Wallace (2019), section 4.2.1.
    """

    def edit(
        layer: int, weights: Float[Tensor, "b h q k"], call: AttentionInputs
    ) -> Float[Tensor, "b h q k"]:
        allowed = call.mask.allowed(weights.device).expand_as(weights)
        noise = draw_noise(source, weights)
        order = noise.masked_fill(~allowed, 2.0).argsort(dim=-1)  # allowed keys first, in random order
        target = (~allowed).byte().argsort(dim=-1, stable=True)  # allowed keys first, in their own order
        return torch.zeros_like(weights).scatter(-1, target, weights.gather(-1, order))

    return edit


def zero_heads(*heads: int) -> Edit:
    """Set the weights of some heads to zero.

    Source: Michel, Levy and Neubig (2019), eq. 1.
    """

    def edit(
        layer: int, weights: Float[Tensor, "b h q k"], call: AttentionInputs
    ) -> Float[Tensor, "b h q k"]:
        numbers = parse_rows("head", heads, weights.shape[1])
        return weights.index_fill(1, torch.tensor(numbers, dtype=torch.long, device=weights.device), 0.0)

    return edit


def replace(weights: Mapping[int, Tensor]) -> Edit:
    """Use these weights in these layers; the other layers keep their own.

    Source: Jain and Wallace (2019), section 4.2.2.
    """

    def edit(layer: int, own: Float[Tensor, "b h q k"], call: AttentionInputs) -> Float[Tensor, "b h q k"]:
        return weights.get(layer, own)

    return edit

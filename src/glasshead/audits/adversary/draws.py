"""Random numbers of one text, which no other text changes."""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

BASE, FREE, PRODUCIBLE, SAME_OUTPUT = range(4)
"""What random numbers are for."""
Stream = tuple[int, ...]
"""The seed of a text, and for what."""


def generators(
    streams: Sequence[Stream], targets: Int[Tensor, " variants"], numbers: Int[Tensor, " variants"]
) -> list[np.random.Generator]:
    """Those of the starts of some targets, by their numbers."""
    return [
        np.random.default_rng([*streams[target], number])
        for target, number in zip(targets.tolist(), numbers.tolist(), strict=True)
    ]


def uniform_where(
    mask: Bool[Tensor, "maps n"], owner: Int[Tensor, " maps"], generators: Sequence[np.random.Generator]
) -> Float[Tensor, "maps n"]:
    """U(0, 1) where the mask allows, 0 elsewhere: numbers of each owner's own, however wide the batch is."""
    values = np.zeros(mask.shape)
    allowed, owners = mask.cpu().numpy(), owner.cpu().numpy()
    for number, rng in enumerate(generators):
        rows = np.flatnonzero(owners == number)
        part, drawn = allowed[rows], np.zeros((len(rows), allowed.shape[1]))
        drawn[part] = rng.random(int(part.sum()))
        values[rows] = drawn
    return torch.from_numpy(values)

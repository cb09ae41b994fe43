"""Activations that mean nothing to a pair: what an exchange is compared with.

What brings an answer back must be that of its own pair: the null are the activations of a pair with another
answer. Anything foreign may break an answer: there the null is a change of the same size at the same place,
in a random direction.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from glasshead.inside.pairs import FEWEST, Pairs

ANOTHER_PAIR, RANDOM_CHANGE = "another pair", "random change"


def strangers(
    pairs: Pairs, batch: Int[Tensor, " b"], rng: np.random.Generator
) -> tuple[Int[Tensor, " b"], Any]:
    """For each pair of a batch another one with another answer, at random, and whether there is one: whose
    clean text has the same answer brings it back as well."""
    numbers, found, has = batch.tolist(), [], []
    for own, number in enumerate(numbers):
        others = [at for at, other in enumerate(numbers) if pairs.has_another_answer(number, other)]
        has.append(bool(others))
        found.append(int(rng.choice(others)) if others else own)
    return torch.tensor(found), np.array(has)


def name_of_null(pairs: Pairs, brings_back: bool, seed: int) -> str:
    """What sites are compared with: another pair, where an answer is brought back and enough have one."""
    rng = np.random.default_rng(seed)
    has = np.concatenate([strangers(pairs, batch, rng)[1] for batch in pairs.batches()])
    return ANOTHER_PAIR if brings_back and has.sum() >= FEWEST else RANDOM_CHANGE


def derangement(count: int, rng: np.random.Generator) -> Any:
    """An order in which no element keeps its place, where there are two: a turn of a random order."""
    order = rng.permutation(count)
    turned = np.empty(count, dtype=np.int64)
    turned[order] = np.roll(order, 1)
    return turned


def disturbed(
    base: list[Float[Tensor, ...]], given: list[Float[Tensor, ...]], generator: torch.Generator
) -> list[Float[Tensor, ...]]:
    """a + ‖b − a‖ u of every vector a that is exchanged for b, u being a random unit vector."""
    found = []
    for own, other in zip(base, given, strict=True):
        size = (other - own).norm(dim=-1, keepdim=True)
        random = torch.randn(own.shape, generator=generator).to(own)
        found.append(own + size * random / random.norm(dim=-1, keepdim=True))
    return found

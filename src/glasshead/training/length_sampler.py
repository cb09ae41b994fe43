"""Batches of texts of similar length, which hold little padding, in random order."""

from collections.abc import Iterator

import torch
from jaxtyping import Int
from torch import Tensor
from torch.utils.data import Sampler

POOL = 50  # batches that are sorted together


class LengthGroupedSampler(Sampler[int]):
    """The places of all texts; every ``batch_size`` in a row are one batch.

    Texts are drawn in random order and sorted by length within pools of 50 batches, and then the batches are
    shuffled: in the order of their lengths, the short texts of the end would pull the weights their way
    before each evaluation. What fills no batch is drawn at random too, and comes last.
    """

    def __init__(self, lengths: Int[Tensor, " texts"], batch_size: int) -> None:
        self.lengths, self.batch_size = lengths, batch_size

    def __len__(self) -> int:
        return len(self.lengths)

    def __iter__(self) -> Iterator[int]:
        # The global generator is what a checkpoint keeps.
        drawn = torch.randperm(len(self.lengths))
        full = len(drawn) - len(drawn) % self.batch_size
        batches = [
            batch
            for pool in drawn[:full].split(POOL * self.batch_size)
            for batch in pool[self.lengths[pool].argsort()].split(self.batch_size)
            if len(batch)
        ]
        for place in torch.randperm(len(batches)).tolist():
            yield from batches[place].tolist()
        yield from drawn[full:].tolist()

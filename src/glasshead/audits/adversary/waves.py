"""The farthest weights of many targets, from start after start until the best of them agree."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Int
from numpy.typing import NDArray
from torch import Tensor

from glasshead.arrays import AnyFloats, Integers
from glasshead.audits.adversary.climb import Adversary, Climb
from glasshead.audits.adversary.setting import Search, Setting

AGREE = 4
"""The search of a target has converged where so many climbs settled at the best distance, ..."""
SAME = 0.005  # ... give or take this share of the largest distance
AT_END = 0.998  # or where one reached this share of the largest distance


@dataclass(frozen=True)
class Reached:
    """The largest ``distances`` that were found of some targets, for which of them the search ``converged``,
    from how many ``starts``, and whether a prediction ``moved`` on the way by more than ε."""

    distances: AnyFloats
    converged: NDArray[np.bool_]
    starts: Integers
    moved: NDArray[np.bool_]

    @classmethod
    def exactly(cls, distances: AnyFloats) -> "Reached":
        """What is known of all maps."""
        known = np.ones(len(distances), dtype=bool)
        return cls(distances, known, np.zeros(len(distances), dtype=np.int64), known)


@dataclass(frozen=True)
class Waves:
    """A search for the farthest weights of ``targets`` targets: a text and the weights to depart from.

    ``adversary_of`` makes the adversary of variants of targets, of which at most ``block`` climb at a time;
    ``starts_of`` gives their parameters, by the number of the start.
    """

    setting: Setting
    search: Search
    targets: int
    adversary_of: Callable[[Int[Tensor, " variants"]], Adversary]
    starts_of: Callable[[Adversary, Int[Tensor, " variants"], Int[Tensor, " variants"]], Tensor]
    block: int

    def farthest(self) -> Reached:
        """Wave after wave, of the targets whose search has not converged."""
        search, largest = self.search, self.setting.largest
        climb = Climb(self.setting)
        best, excess = np.zeros(self.targets), np.full(self.targets, -np.inf)
        converged, starts = np.zeros(self.targets, dtype=bool), np.zeros(self.targets, dtype=np.int64)
        ends: list[list[float]] = [[] for _ in range(self.targets)]
        for wave in range(search.waves):
            going = np.flatnonzero(~converged)
            if not len(going):
                break
            count = search.starts * 2**wave
            variants = torch.from_numpy(going).repeat_interleave(count)
            numbers = (count - search.starts + torch.arange(count)).repeat(len(going))
            for block, of_block in zip(variants.split(self.block), numbers.split(self.block), strict=True):
                adversary = self.adversary_of(block)
                climbs = climb(adversary, self.starts_of(adversary, block, of_block))
                distances, settled = (
                    part.double().cpu().numpy() for part in (climbs.distances, climbs.settled)
                )
                np.maximum.at(best, block.numpy(), distances)
                np.maximum.at(excess, block.numpy(), climbs.excess.double().cpu().numpy())
                for target, distance, still in zip(block.tolist(), distances, settled, strict=True):
                    if still:
                        ends[target].append(float(distance))
            starts[going] += count
            for target in going.tolist():
                agree = sum(end >= best[target] - SAME * largest for end in ends[target])
                converged[target] = agree >= AGREE or best[target] >= AT_END * largest
        return Reached(best, converged, starts, excess > 0)

"""The farthest weights that a search finds when it is given twice the starts, again and again."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy.typing import NDArray
from torch import Tensor

from glasshead.arrays import AnyFloats
from glasshead.audits.adversary.ascent import Adversary
from glasshead.audits.adversary.setting import Setting
from glasshead.explainers import TARGETS

AGREE = 0.01
"""Two searches agree where the mean of the second is higher by less than this share of the largest
distance."""
AGREEMENTS = 2
HALVINGS = 12  # of the way between two candidates, onto the prediction to be kept
LOG_ODDS = TARGETS["log-odds"]
Draw = Callable[[Adversary], tuple[Tensor, Tensor]]
"""Random parameters for the rows of an adversary, and the unit [rows, …] in which Adam moves them."""


@dataclass
class Effort:
    """What the searches of an audit took: the most ``starts`` of a text, of so many ``steps``, and whether
    every search ``converged``: `AGREEMENTS` doublings in a row gained less than `AGREE`."""

    steps: int
    starts: int = 0
    converged: bool = True

    @property
    def words(self) -> str:
        """The doublings in words, for the facts of a card."""
        end = "converged" if self.converged else "not converged"
        return f"search, {end}: up to {self.starts} starts of {self.steps} steps"


@dataclass(frozen=True)
class Doublings:
    """A search for the farthest weights of ``texts`` texts, whose adversaries ``adversary_of`` makes, with so
    many variants of every text; ``draw`` draws candidates. ``first`` may name parameters to begin with."""

    setting: Setting
    adversary_of: Callable[[int], Adversary]
    draw: Draw
    texts: int
    effort: Effort
    first: Callable[[Adversary], Tensor] | None = None
    moved: NDArray[np.bool_] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "moved", np.zeros(self.texts, dtype=bool))

    def farthest(self) -> AnyFloats:
        """The largest distance of each text that is reached until doubling the starts gains no more;
        ``moved`` says of which texts the prediction changed on the way by more than ε."""
        search, largest = self.setting.search, self.setting.largest
        pool, few = self.adversary_of(search.candidates), self.adversary_of(search.starts)
        best, waves, agreements = np.zeros(self.texts), 0, 0
        for doubling in range(search.doublings + 1):
            before = best.mean()
            for wave in range(max(waves, 1)):
                starts, unit = self.starts(pool, few)
                if doubling == wave == 0 and self.first is not None:
                    rows = few.owner < self.texts
                    starts[rows], unit[rows] = self.first(few)[rows], torch.ones_like(unit[rows])
                _, distances = search.farthest(few, starts, unit)
                best = np.maximum(best, by_text(distances, self.texts))
            waves += max(waves, 1)
            gain = (best.mean() - before) / largest
            agreements = agreements + 1 if doubling and gain < AGREE else 0
            if agreements == AGREEMENTS:
                break
        self.effort.starts = max(self.effort.starts, waves * search.starts)
        self.effort.converged &= agreements == AGREEMENTS
        for adversary in (pool, few):
            if adversary.most.ndim:
                self.moved[by_text(adversary.most, self.texts) > search.epsilon] = True
        return best

    @torch.no_grad()
    def starts(self, pool: Adversary, few: Adversary) -> tuple[Tensor, Tensor]:
        """The best of random candidates, moved to where the prediction is kept, and their
        units."""
        search = self.setting.search
        candidates, unit = self.draw(pool)
        balanced = self.balance(pool, candidates)
        before, after = (search.merit(pool, pool.weights(points)) for points in (candidates, balanced))
        better = (after > before)[pool.owner].reshape(-1, *(1,) * (balanced.ndim - 1))
        balanced = torch.where(better, balanced, candidates)
        merit = torch.maximum(before, after).reshape(search.candidates, self.texts)
        top = merit.topk(search.starts, dim=0).indices  # [starts, texts]
        rows = len(candidates) // search.candidates
        owner = pool.owner[:rows].to(top.device)
        chosen = (top[:, owner] * rows + torch.arange(rows, device=top.device)).reshape(-1)
        return balanced[chosen].clone(), unit[chosen].clone()

    def balance(self, pool: Adversary, candidates: Tensor) -> Tensor:
        """The point between every candidate and the next of its text where the predicted class has the
        log-odds that it has under the model's own weights, or the rating is the same; the candidate itself
        where both are on one side.

        What is read off the weights is continuous, so between two sides there is such a point, however far
        away both are: a random start alone is hardly ever both far and feasible.
        """
        others = candidates.roll(-(len(candidates) // self.setting.search.candidates), dims=0)
        classes = pool.before.argmax(dim=-1)
        own = self.score(pool.before, classes)

        def side(share: Float[Tensor, " variants"]) -> Tensor:
            return (
                self.score(pool.logits(pool.weights(between(pool, candidates, others, share))), classes) - own
            ).sign()

        low = torch.zeros(pool.variants, dtype=candidates.dtype, device=candidates.device)
        high = torch.ones_like(low)
        start = side(low)
        apart = start != side(high)
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            same = side(middle) == start
            low, high = torch.where(same, middle, low), torch.where(same, high, middle)
        return between(pool, candidates, others, torch.where(apart, low, torch.zeros_like(low)))

    def score(self, logits: Float[Tensor, "variants classes"], classes: Int[Tensor, " variants"]) -> Tensor:
        """z of the classes, or the rating."""
        return logits[:, 0] if self.setting.context.is_regression else LOG_ODDS(logits, classes)


def between(adversary: Adversary, one: Tensor, other: Tensor, share: Float[Tensor, " variants"]) -> Tensor:
    """Parameters at a share of the way from one to the other, of each variant."""
    return one + share[adversary.owner].reshape(-1, *(1,) * (one.ndim - 1)) * (other - one)


def by_text(values: Float[Tensor, " variants"], texts: int) -> AnyFloats:
    """The largest of the variants of each text."""
    return values.reshape(-1, texts).amax(dim=0).double().cpu().numpy()

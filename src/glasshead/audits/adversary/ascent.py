"""The farthest weights with the same prediction, by gradients: any model, any number of classes."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

PENALTY = 50.0
"""What a change of the prediction by 1 beyond ε costs, in units of the largest distance."""
BISECTIONS = 25


class Adversary(ABC):
    """Which maps may be tried for a batch of variants, and what they do.

    Parameters and weights are [rows, …]: the map of a variant, or one of its rows; ``owner`` names the
    variant of each, ``mask`` where there may be weight, ``maps`` where each of the maps of a row may have it.
    ``convex`` says that the maps between two that may be
    tried may be tried too; otherwise those of scaled parameters are, and zero parameters give the model's own
    weights.
    """

    convex = True
    own: Tensor
    mask: Tensor
    maps: list[Tensor]
    owner: Int[Tensor, " rows"]
    variants: int
    most: Tensor = torch.zeros(())
    """The largest |Δŷ| that a search has seen of each variant."""

    @abstractmethod
    def weights(self, parameters: Tensor) -> Tensor:
        """Weights of unbounded parameters."""

    @abstractmethod
    def logits(self, weights: Tensor) -> Float[Tensor, "variants classes"]:
        """What the model says with other weights; it can be differentiated."""

    @abstractmethod
    def changes(self, weights: Tensor) -> Float[Tensor, " variants"]:
        """|Δŷ| of every variant: ½ Σ over classes, or the share of the range of ratings."""

    @abstractmethod
    def distances(self, weights: Tensor) -> Float[Tensor, " variants"]:
        """How far the weights of every variant are from the model's own."""

    def between(self, parameters: Tensor, share: Float[Tensor, " variants"]) -> Tensor:
        """Weights at a share, from 0 to 1, of the way from the model's own to those of the parameters."""
        t = share[self.owner].reshape(-1, *(1,) * (parameters.ndim - 1))
        if not self.convex:
            return self.weights(t * parameters)
        return self.own + t * (self.weights(parameters) - self.own)


@dataclass(frozen=True)
class Search:
    """Adam for so many ``steps``, at a ``learning_rate`` that falls to a twentieth by a cosine."""

    epsilon: float = 0.01
    steps: int = 200
    learning_rate: float = 0.2

    def farthest(self, adversary: Adversary, starts: Tensor) -> tuple[Tensor, Float[Tensor, " variants"]]:
        """The farthest feasible weights that each variant reaches from its start, and their distances.

        Adam maximises d − penalty · max(0, |Δŷ| − ε). From where it ends, and from the start, every variant
        goes back towards the model's own weights by bisection onto ε, so that |Δŷ| ≤ ε holds of all that is
        returned; the farther of the two is.

        Source: Jain and Wallace (2019), section 4.2.2 and appendix C; several starts are this project's.
        """
        parameters = starts.clone().requires_grad_()
        optimizer = torch.optim.Adam([parameters], lr=self.learning_rate)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, self.steps, self.learning_rate / 20)
        with torch.enable_grad():
            for _ in range(self.steps):
                weights = adversary.weights(parameters)
                changes = adversary.changes(weights)
                adversary.most = torch.maximum(adversary.most, changes.detach())
                beyond = (changes - self.epsilon).clamp_min(0)
                loss = (PENALTY * beyond - adversary.distances(weights)).sum()
                (parameters.grad,) = torch.autograd.grad(loss, parameters)
                optimizer.step()
                schedule.step()
        with torch.no_grad():
            before, after = (self.feasible(adversary, each) for each in (starts, parameters.detach()))
            distances = [adversary.distances(weights) for weights in (before, after)]
            better = (distances[1] > distances[0])[adversary.owner]
            weights = torch.where(better.reshape(-1, *(1,) * (before.ndim - 1)), after, before)
            return weights, torch.maximum(*distances)

    def feasible(self, adversary: Adversary, parameters: Tensor) -> Tensor:
        """The weights at the end of the bisection from the model's own to those of the parameters."""

        def is_inside(share: Float[Tensor, " variants"]) -> Bool[Tensor, " variants"]:
            return adversary.changes(adversary.between(parameters, share)) <= self.epsilon

        high = parameters.new_ones(adversary.variants)
        low = torch.where(is_inside(high), high, torch.zeros_like(high))
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            inside = is_inside(middle)
            low, high = torch.where(inside, middle, low), torch.where(inside, high, middle)
        return adversary.between(parameters, low)

"""The farthest weights with the same prediction, by gradients: any model, any number of classes."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

COST = 50.0
"""What a change of the prediction by 1 beyond ε costs, in units of the largest distance."""
BISECTIONS = 25


class Adversary(ABC):
    """Which maps may be tried for a batch of variants, and what they do.

    Parameters and weights are [rows, …]: the map of a variant, or one of its rows; ``owner`` names the
    variant of each, ``mask`` where there may be weight, ``maps`` where each of the maps of a row may have it.
    ``own`` are the model's own weights and ``before`` the logits that they give. ``convex`` says that the
    maps between two that may be tried may be tried too; otherwise those of scaled parameters are, and zero
    parameters give the model's own weights.
    """

    convex = True
    own: Tensor
    before: Tensor
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
    """How long a search goes: Adam for so many ``steps``, at a ``learning_rate`` that falls to a twentieth by
    a cosine, from the best ``starts`` of so many random ``candidates``, and all this again, twice, four
    times, … as often, until two doublings gain nothing or ``doublings`` are done
    (`Doublings`)."""

    epsilon: float = 0.01
    steps: int = 60
    learning_rate: float = 0.2
    starts: int = 8
    candidates: int = 256
    doublings: int = 4

    def farthest(
        self, adversary: Adversary, starts: Tensor, unit: Tensor | float = 1.0
    ) -> tuple[Tensor, Float[Tensor, " variants"]]:
        """The farthest feasible weights that each variant reaches from its start, and their distances.

        Adam maximises d − penalty · max(0, |Δŷ| − ε) over parameters in a ``unit``. All feasible weights on
        its way count; from where it ends, and from the start, every variant also goes back towards the
        model's own weights by bisection onto ε. So |Δŷ| ≤ ε holds of all that is returned.

        Source: Jain and Wallace (2019), section 4.2.2 and appendix C; several starts are this project's.
        """
        parameters = (starts / unit).clone().requires_grad_()
        optimizer = torch.optim.Adam([parameters], lr=self.learning_rate)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, self.steps, self.learning_rate / 20)
        farthest, reached = adversary.own.clone(), adversary.distances(adversary.own).detach()

        def keep(weights: Tensor, changes: Tensor, distances: Tensor) -> None:
            nonlocal farthest, reached
            better = (changes <= self.epsilon) & (distances > reached)
            if better.any():
                rows = better[adversary.owner].reshape(-1, *(1,) * (weights.ndim - 1))
                farthest = torch.where(rows, weights, farthest)
                reached = torch.where(better, distances, reached)

        with torch.enable_grad():
            for _ in range(self.steps):
                weights = adversary.weights(parameters * unit)
                changes, distances = adversary.changes(weights), adversary.distances(weights)
                adversary.most = torch.maximum(adversary.most, changes.detach())
                keep(weights.detach(), changes.detach(), distances.detach())
                beyond = (changes - self.epsilon).clamp_min(0)
                (parameters.grad,) = torch.autograd.grad((COST * beyond - distances).sum(), parameters)
                optimizer.step()
                schedule.step()
        with torch.no_grad():
            for ends in (starts, parameters.detach() * unit):
                weights = self.feasible(adversary, ends)
                keep(weights, adversary.changes(weights), adversary.distances(weights))
        return farthest, reached

    def merit(self, adversary: Adversary, weights: Tensor) -> Float[Tensor, " variants"]:
        """What Adam maximises: the distance, less what a change beyond ε costs."""
        beyond = (adversary.changes(weights) - self.epsilon).clamp_min(0)
        return adversary.distances(weights) - COST * beyond

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

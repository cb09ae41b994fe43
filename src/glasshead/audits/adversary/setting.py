"""What an adversary is asked of a subject: how far, how close, how long; and what counts as one."""

from dataclasses import dataclass, field

import numpy as np
import torch
from jaxtyping import Float
from scipy.special import expit, logit
from torch import Tensor

from glasshead.audits.adversary.distances import Distance, jensen_shannon_terms, total_variation_terms
from glasshead.audits.adversary.search import Search
from glasshead.audits.adversary.weight_families import WEIGHT_FAMILIES, WeightFamily
from glasshead.audits.measuring.view import ModelView
from glasshead.identifiability import weight_domain, weight_domain_of_activation


@dataclass(frozen=True)
class Setting:
    """The weights that the activation of a subject can produce, and how the search goes.

    Where rows sum to one, maps are compared by Jensen-Shannon divergence in nats (at most ln 2), elsewhere by
    total variation (at most 1).
    """

    context: ModelView
    search: Search = field(default_factory=Search)

    @property
    def domain(self) -> str:
        """What the activation can produce, as `glasshead.identifiability.WEIGHT_DOMAINS` names it.

        Raises:
            InputError: where that has no simple form.
        """
        readout = self.context.readout
        if readout is not None:
            return weight_domain_of_activation(readout.activation, readout.signed)
        assert self.context.explanation.site is not None
        return weight_domain(self.context.explanation.site.mechanism)

    @property
    def statistic(self) -> str:
        """The name of the distance."""
        return "jsd" if self.domain == "simplex" else "tv"

    @property
    def distance(self) -> Distance:
        """Its terms."""
        return jensen_shannon_terms if self.domain == "simplex" else total_variation_terms

    @property
    def largest(self) -> float:
        """What no distance exceeds."""
        return float(np.log(2)) if self.domain == "simplex" else 1.0

    @property
    def family(self) -> WeightFamily:
        """Weights of unbounded parameters."""
        return WEIGHT_FAMILIES[self.domain]

    @property
    def exact(self) -> bool:
        """Whether the farthest weights are known without a search: one number is read off one row."""
        readout = self.context.readout
        return readout is not None and readout.polarity.shape[-1] == 1 and not readout.parts().any()

    def change(
        self, before: Float[Tensor, "*b classes"], after: Float[Tensor, "*b classes"]
    ) -> Float[Tensor, "*b"]:
        """|Δŷ|: ½ Σ |p − p′| over classes, or a change of ratings as a share of the range of the labels."""
        if self.context.is_regression:
            span = self.context.prediction_range or 1.0
            return (after[..., 0] - before[..., 0]).abs() / span
        return (after.softmax(dim=-1) - before.softmax(dim=-1)).abs().sum(dim=-1) / 2

    def excess(
        self, before: Float[Tensor, "*b classes"], after: Float[Tensor, "*b classes"]
    ) -> Float[Tensor, "*b"]:
        """What is at most 0 where |Δŷ| ≤ ε, and has a slope everywhere, also where a class is certain.

        Σ min(p, p′) = 1 − ½ Σ |p − p′|, so that of classes it is ln(1 − ε) − ln Σ min(p, p′).
        """
        epsilon = self.search.epsilon
        if self.context.is_regression:
            return self.change(before, after) - epsilon
        shared = torch.minimum(before.log_softmax(dim=-1), after.log_softmax(dim=-1))
        return float(np.log1p(-epsilon)) - shared.logsumexp(dim=-1)

    def soft_excess(
        self,
        before: Float[Tensor, "*b classes"],
        after: Float[Tensor, "*b classes"],
        softness: Float[Tensor, "*b"],
    ) -> Float[Tensor, "*b"]:
        """The same, but a smooth number that is larger, of three classes and more: Σ |p − p′| has an edge
        wherever one class has its probability back, and a climb stays at the first.

        |p − p′| ≤ ½ (p + p′) √(r² + h²) with r = ln p′ − ln p, for every softness h.
        """
        if self.context.is_regression or before.shape[-1] < 3:
            return self.excess(before, after)
        log_before, log_after = before.log_softmax(dim=-1), after.log_softmax(dim=-1)
        size = ((log_after - log_before).square() + softness[..., None].square()).sqrt()
        return ((log_before.exp() + log_after.exp()) * size).sum(dim=-1) / 4 - self.search.epsilon

    def planes(self, score: float) -> tuple[float, float]:
        """The scores z between which the prediction of one with score z stays within ε."""
        epsilon = self.search.epsilon
        if self.context.is_regression:
            reach = epsilon * (self.context.prediction_range or 1.0)
            return score - reach, score + reach
        low, high = (share - epsilon for share in expit([score, -score]))  # no digits of 1 − p are lost
        return (
            float(logit(low)) if low > 0 else -np.inf,
            float(-logit(high)) if high > 0 else np.inf,
        )

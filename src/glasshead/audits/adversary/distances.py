"""How far two maps of attention are from each other, as a sum over tokens."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

Distance = Callable[[Tensor, Tensor], Tensor]
"""The terms d_i(a_i, b_i) of a distance: each convex in b_i, and zero for b_i = a_i."""
NO_WEIGHT = 1e-30  # below it a weight is zero: the slope of b ln b there is no end


def jensen_shannon_terms(weights: Float[Tensor, "*#b"], others: Float[Tensor, "*#b"]) -> Float[Tensor, "*b"]:
    """½ [a ln(2a / (a + b)) + b ln(2b / (a + b))], whose sum over tokens is the Jensen-Shannon divergence in
    nats, at most ln 2."""
    a, b = weights.clamp_min(NO_WEIGHT), others.clamp_min(NO_WEIGHT)
    log_mean = torch.log((a + b) / 2)
    return (a * (a.log() - log_mean) + b * (b.log() - log_mean)) / 2


def total_variation_terms(weights: Float[Tensor, "*#b"], others: Float[Tensor, "*#b"]) -> Float[Tensor, "*b"]:
    """½ |a − b|, whose sum over tokens is the total variation."""
    return (weights - others).abs() / 2

"""Attention as a layer. Layout everywhere: ``[batch, keys]`` for the scores and weights of one query."""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from glasshead.attention.activation import ACTIVATIONS
from glasshead.attention.scores import SCORES


class Pooled(NamedTuple):
    """What one attention output is made of."""

    output: Float[Tensor, "batch d_v"]
    scores: Float[Tensor, "batch keys"]
    weights: Float[Tensor, "batch keys"]
    values: Float[Tensor, "batch keys d_v"]


class AttentionPooling(nn.Module):
    """Σ_i a_i v_i with a = φ(s): a sequence becomes one vector.

    ``value_size`` None takes the hidden vectors themselves as values (Sun and Lu 2020); a number gives an
    affine value map V_i (Huang et al. 2024, section 3).
    """

    def __init__(
        self,
        hidden_size: int,
        *,
        score: str,
        activation: str,
        scale: float,
        key_size: int,
        value_size: int | None = None,
    ) -> None:
        super().__init__()
        self.score = SCORES[score](hidden_size, key_size, scale)
        self.activation = ACTIVATIONS[activation]()
        self.value: nn.Module = nn.Identity() if value_size is None else nn.Linear(hidden_size, value_size)

    def forward(self, hidden: Float[Tensor, "batch keys d"], mask: Bool[Tensor, "batch keys"]) -> Pooled:
        scores = self.score(hidden)
        weights = self.activation.weights(scores, mask)
        values = self.value(hidden)
        return Pooled(torch.einsum("bk,bkd->bd", weights, values), scores, weights, values)

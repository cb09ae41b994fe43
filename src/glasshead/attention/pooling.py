"""Attention with one query. Layout: ``[batch, keys]`` for its scores and weights."""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from glasshead.attention.activation import ACTIVATIONS, Activation
from glasshead.attention.mechanism import build_entry
from glasshead.attention.mechanism_spec import parse
from glasshead.attention.score_functions import SCORE_FUNCTIONS
from glasshead.errors import InputError


class PoolingOutput(NamedTuple):
    """The inputs of one attention output."""

    output: Float[Tensor, "batch d_v"]
    scores: Float[Tensor, "batch keys"]
    weights: Float[Tensor, "batch keys"]
    values: Float[Tensor, "batch keys d_v"]


def pooling_activation(word: str) -> Activation:
    """The activation of a mechanism that is used with one learned query.

    Raises:
        InputError: on an unknown name, and on a mechanism with a position.
    """
    spec = parse(word)
    if spec["position"]["name"] != "none":
        alone = spec["activation"]["name"]
        raise InputError(
            f"{word!r} has no meaning in this classifier: its one learned query has no position, so "
            f"there is no distance to a token; use an activation alone, such as {alone!r}"
        )
    activation: Activation = build_entry("activation", ACTIVATIONS, spec["activation"])
    return activation


class AttentionPooling(nn.Module):
    """Σ_i a_i v_i with a = φ(s): a sequence becomes one vector.

    ``score`` None computes no scores: every call brings its own. ``value_dim`` None takes the hidden vectors
    themselves as values (Sun and Lu 2020); a number gives an affine value map V_i (Huang et al. 2024,
    section 3).
    """

    def __init__(
        self,
        hidden_size: int,
        *,
        score: str | None,
        activation: str,
        temperature: float,
        head_dim: int,
        value_dim: int | None = None,
    ) -> None:
        super().__init__()
        self.score = None if score is None else SCORE_FUNCTIONS[score](hidden_size, head_dim, temperature)
        self.activation = pooling_activation(activation)
        self.value: nn.Module = nn.Identity() if value_dim is None else nn.Linear(hidden_size, value_dim)

    def forward(
        self,
        hidden: Float[Tensor, "batch keys d"],
        mask: Bool[Tensor, "batch keys"],
        scores: Float[Tensor, "batch keys"] | None = None,
    ) -> PoolingOutput:
        if self.score is not None:
            scores = self.score(hidden)
        elif scores is None:
            raise ValueError("this attention has no scores of its own: pass them in")
        weights = self.activation.weights(scores, mask)
        values = self.value(hidden)
        real_values = values.masked_fill(~mask[..., None], 0.0)  # a weight of 0 times NaN would be NaN
        return PoolingOutput(torch.einsum("bk,bkd->bd", weights, real_values), scores, weights, values)

"""ReLU: g = max(s, 0), and no normalisation."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from glasshead.attention.activation import ACTIVATIONS, Activation


@ACTIVATIONS.register("relu")
class ReLU(Activation):
    """[φ(s)]_i = max(s_i, 0) (Huang, Yang and Wang 2024, Table 3)."""

    paper = "Huang, Yang and Wang 2024, Table 3"
    signed = False
    rows_sum_to_one = False
    monotone = True
    log_nonlinear = True
    origin_symmetric = False
    normalised = False

    def weights(
        self, scores: Float[Tensor, "*rows keys"], mask: Bool[Tensor, "*rows keys"]
    ) -> Float[Tensor, "*rows keys"]:
        return torch.relu(scores.masked_fill(~mask, 0.0))

    def weights_unmasked(self, scores: Float[Tensor, "*rows keys"]) -> Float[Tensor, "*rows keys"]:
        return torch.relu(scores)

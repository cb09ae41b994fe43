"""TanhMax: g = exp(s) − exp(−s), h = exp(s) + exp(−s)."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from glasshead.attention.activation import ACTIVATIONS, Activation
from glasshead.attention.activations.softmax import softmax


def tanhmax(
    scores: Float[Tensor, "*rows keys"], mask: Bool[Tensor, "*rows keys"]
) -> Float[Tensor, "*rows keys"]:
    """Signed weights: tanh(s_i) · softmax_i(log(e^s + e^{−s})), which is eq. 6 and never overflows."""
    # e^s − e^{−s} = tanh(s) (e^s + e^{−s}), so the ratio of eq. 6 is tanh times a softmax of log 2cosh s.
    scores = scores.masked_fill(~mask, 0.0)
    return torch.tanh(scores) * softmax(torch.logaddexp(scores, -scores), mask)


@ACTIVATIONS.register("tanhmax")
class TanhMax(Activation):
    """[φ(s)]_i = (e^{s_i} − e^{−s_i}) / Σ_k (e^{s_k} + e^{−s_k}); Σ_i |φ_i| < 1 (eq. 6)."""

    paper = "Huang, Yang and Wang 2024, eq. 6"
    signed = True
    rows_sum_to_one = False
    monotone = True
    log_nonlinear = True
    origin_symmetric = True
    normalised = True
    uses_paired_exponential = True

    def weights(
        self, scores: Float[Tensor, "*rows keys"], mask: Bool[Tensor, "*rows keys"]
    ) -> Float[Tensor, "*rows keys"]:
        return tanhmax(scores, mask)

    def weights_unmasked(self, scores: Float[Tensor, "*rows keys"]) -> Float[Tensor, "*rows keys"]:
        return torch.tanh(scores) * torch.logaddexp(scores, -scores).softmax(dim=-1)

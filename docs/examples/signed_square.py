"""Signed square: g(s) = s|s|, h(s) = s²."""

from jaxtyping import Bool, Float
from torch import Tensor, finfo

from glasshead.attention import ACTIVATIONS, Activation


def signed_square(
    scores: Float[Tensor, "*rows keys"], mask: Bool[Tensor, "*rows keys"]
) -> Float[Tensor, "*rows keys"]:
    """Signed weights s_i |s_i| / Σ_k s_k²; a row of zeros stays zero."""
    scores = scores.masked_fill(~mask, 0.0)
    # In units of the largest score, so that no square overflows.
    largest = scores.abs().amax(dim=-1, keepdim=True).detach().clamp(min=finfo(scores.dtype).tiny)
    unit = scores / largest
    total = unit.square().sum(dim=-1, keepdim=True)
    weights = unit * unit.abs() / total.clamp(min=finfo(scores.dtype).tiny)
    return weights.masked_fill(~mask, 0.0)  # also where a score that is not a number makes the total none


@ACTIVATIONS.register("signed-square")
class SignedSquare(Activation):
    """[φ(s)]_i = s_i |s_i| / Σ_k s_k²; Σ_i |φ_i| = 1."""

    paper = "an example of the documentation"
    signed = True
    rows_sum_to_one = False
    monotone = True
    log_nonlinear = True
    origin_symmetric = True
    normalised = True

    def weights(
        self, scores: Float[Tensor, "*rows keys"], mask: Bool[Tensor, "*rows keys"]
    ) -> Float[Tensor, "*rows keys"]:
        return signed_square(scores, mask)

"""Sigmoid, normalised by its sum: g = h = σ(s)."""

from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn.functional import logsigmoid

from glasshead.attention.activation import ACTIVATIONS, Activation
from glasshead.attention.activations.softmax import softmax_of


@ACTIVATIONS.register("sigmoid")
class Sigmoid(Activation):
    """[φ(s)]_i = σ(s_i) / Σ_k σ(s_k) (Kanai et al. 2018): a softmax of log σ(s), so no row underflows."""

    paper = "Kanai et al. 2018"
    signed = False
    rows_sum_to_one = True
    monotone = True
    log_nonlinear = True
    origin_symmetric = False
    normalised = True

    def weights(
        self, scores: Float[Tensor, "*rows keys"], mask: Bool[Tensor, "*rows keys"]
    ) -> Float[Tensor, "*rows keys"]:
        return softmax_of(self.exponent, scores, mask)

    def exponent(self, scores: Float[Tensor, "*rows keys"]) -> Float[Tensor, "*rows keys"]:
        return logsigmoid(scores)

"""Sigmoid, normalised by its sum: g = h = σ(s)."""

from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import logsigmoid

from glasshead.attention.activation import ACTIVATIONS
from glasshead.attention.activations.softmax import TransformedSoftmax


@ACTIVATIONS.register("sigmoid")
class Sigmoid(TransformedSoftmax):
    """[φ(s)]_i = σ(s_i) / Σ_k σ(s_k) (Kanai et al. 2018): a softmax of log σ(s), so no row underflows."""

    paper = "Kanai et al. 2018"
    signed = False
    rows_sum_to_one = True
    monotone = True
    log_nonlinear = True
    origin_symmetric = False
    normalised = True

    def softmax_logits(self, scores: Float[Tensor, "*rows keys"]) -> Float[Tensor, "*rows keys"]:
        return logsigmoid(scores)

"""Uniform: g = h = 1, whatever the scores."""

from jaxtyping import Float
from torch import Tensor

from glasshead.attention.activation import ACTIVATIONS
from glasshead.attention.activations.softmax import TransformedSoftmax


@ACTIVATIONS.register("uniform")
class Uniform(TransformedSoftmax):
    """[φ(s)]_i = 1 / N, with N the number of keys that the mask allows: attention that learns nothing.

    No score has a gradient. It is the softmax of 0 · s, in which a score that is not a number stays visible.
    """

    paper = "Wiegreffe and Pinter 2019, section 3.1"
    signed = False
    rows_sum_to_one = True
    monotone = False
    log_nonlinear = False
    origin_symmetric = False
    normalised = False

    def softmax_logits(self, scores: Float[Tensor, "*rows keys"]) -> Float[Tensor, "*rows keys"]:
        return 0 * scores

"""Sum: g = h = max(s, 0)."""

import torch
from jaxtyping import Float
from torch import Tensor

from glasshead.attention.activation import ACTIVATIONS
from glasshead.attention.elementwise import ElementwiseRatio


@ACTIVATIONS.register("sum")
class Sum(ElementwiseRatio):
    """[φ(s)]_i = s_i / Σ_k s_k for scores that are not negative (Qin et al. 2022); a row of zeros stays zero.

    Such scores are dot products of features that are not negative; any other negative score counts as 0.
    """

    paper = "Qin et al. 2022"
    domain = (0.0, 4.0)
    signed = False
    rows_sum_to_one = True
    monotone = True
    log_nonlinear = True
    origin_symmetric = False
    normalised = True
    linear = "sum"

    def g(self, s: Float[Tensor, "*rows keys"]) -> Float[Tensor, "*rows keys"]:
        return torch.relu(s)

    h = g

"""Dot product: g = s, h = 1."""

import torch
from jaxtyping import Float
from torch import Tensor

from glasshead.attention.activation import ACTIVATIONS
from glasshead.attention.elementwise import ElementwiseRatio


@ACTIVATIONS.register("dot-product")
class DotProductActivation(ElementwiseRatio):
    """[φ(s)]_i = s_i / N, with N the number of keys that the mask allows (Wang et al. 2018, eq. 4)."""

    paper = "Wang et al. 2018, eq. 4"
    signed = True
    rows_sum_to_one = False
    monotone = True
    log_nonlinear = True
    origin_symmetric = True
    normalised = False
    linear = "count"

    def g(self, s: Float[Tensor, "*rows keys"]) -> Float[Tensor, "*rows keys"]:
        return s

    def h(self, s: Float[Tensor, "*rows keys"]) -> Float[Tensor, "*rows keys"]:
        return torch.ones_like(s)

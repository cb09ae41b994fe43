"""The generic form: an activation from g and h alone."""

import inspect
from abc import abstractmethod
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from glasshead.attention.activation import Activation


class ElementwiseRatio(Activation):
    """φ_i(s) = g(s_i) / Σ_k h(s_k) from two elementwise functions (Huang, Yang and Wang 2024, eq. 5)::

        @ACTIVATIONS.register("softplus")
        class Softplus(ElementwiseRatio):
            paper = "…"
            def g(self, s): return torch.nn.functional.softplus(s)
            h = g

    Σ_k h(s_k) must not be negative, and where it is 0 the weights are 0. g and h see half precision as
    float32, and have to be finite for the scores that occur: e^s overflows from s = 89 on, so an activation
    that is a softmax of something is better written as one, like ``sigsoftmax``.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name in ("g", "h"):
            function = cls.__dict__.get(name)
            # ``g = lambda s: …`` is meant as a function of the scores, not as a method.
            if inspect.isfunction(function) and len(inspect.signature(function).parameters) == 1:
                setattr(cls, name, staticmethod(function))

    @abstractmethod
    def g(self, s: Float[Tensor, "*rows keys"]) -> Float[Tensor, "*rows keys"]:
        """The numerator."""

    @abstractmethod
    def h(self, s: Float[Tensor, "*rows keys"]) -> Float[Tensor, "*rows keys"]:
        """The function that is summed in the denominator."""

    def weights(
        self, scores: Float[Tensor, "*rows keys"], mask: Bool[Tensor, "*rows keys"]
    ) -> Float[Tensor, "*rows keys"]:
        # A masked score becomes one for which g and h are defined, so that not even its gradient is NaN.
        s = scores.masked_fill(~mask, sum(self.domain) / 2).to(
            torch.promote_types(scores.dtype, torch.float32)
        )
        total = self.h(s).masked_fill(~mask, 0.0).sum(dim=-1, keepdim=True)
        empty = total == 0
        weights = self.g(s) / total.masked_fill(empty, 1.0)
        return weights.masked_fill(~mask | empty, 0.0).to(scores.dtype)

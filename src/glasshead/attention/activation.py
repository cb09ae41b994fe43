"""What an activation is: scores → weights, and the facts about it that reports and contracts read."""

from abc import ABC, abstractmethod
from typing import ClassVar, Literal

from jaxtyping import Bool, Float
from torch import Tensor

from glasshead.registry import Registry


class Activation(ABC):
    """φ_i(s) = g(s_i) / Σ_k h(s_k): turns attention scores into attention weights (Huang et al. 2024, eq. 5).

    Stateless; hyper-parameters are fields. Scores and weights are ``[..., keys]``; the mask is true where a
    query may attend. A masked key has weight exactly 0, a fully masked row is all zeros, never NaN.

    Source: Huang, Yang and Wang (2024), Rethinking attention weights as bidirectional coefficients.
    """

    paper: ClassVar[str]
    signed: ClassVar[bool]
    """Weights can be negative."""
    rows_sum_to_one: ClassVar[bool]
    # The four properties of Table 3 of the paper.
    monotone: ClassVar[bool]
    log_nonlinear: ClassVar[bool]
    origin_symmetric: ClassVar[bool]
    normalised: ClassVar[bool]
    linear: ClassVar[Literal["count", "sum"] | None] = None
    """φ_i is s_i over the number of allowed keys ("count"), or s_i / Σ_k s_k where no score is negative
    ("sum"); with scores that are dot products, attention is then computed in linear time."""

    @abstractmethod
    def weights(
        self, scores: Float[Tensor, "*rows keys"], mask: Bool[Tensor, "*rows keys"]
    ) -> Float[Tensor, "*rows keys"]: ...

    def exponent(self, scores: Float[Tensor, "*rows keys"]) -> Float[Tensor, "*rows keys"] | None:
        """t(s), elementwise, where φ(s) = softmax(t(s)), so that a softmax kernel can serve; else None."""
        return None


ACTIVATIONS: Registry[type[Activation]] = Registry("activation")

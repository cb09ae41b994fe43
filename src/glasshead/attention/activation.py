"""What an activation is: scores → weights, and the facts about it that reports and contracts read."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from functools import cache
from typing import Any, ClassVar, Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from glasshead.attention.activation_properties import ActivationProperties, measure_properties
from glasshead.registry import Registry


class MeasuredProperty:
    """A fact that a class need not declare: the first look measures it."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Activation | None, owner: type[Activation]) -> Any:
        if instance is None:
            return self if inspect.isabstract(owner) else getattr(default_properties(owner), self.name)
        # Of the instance, not of its class: hyper-parameters may decide.
        value = vars(instance)[self.name] = getattr(properties_of(instance), self.name)
        return value


def measured_property() -> Any:
    """A fact to be measured, typed as what it will be."""
    return MeasuredProperty()


class Activation(ABC):
    """φ_i(s) = g(s_i) / Σ_k h(s_k): turns attention scores into attention weights (Huang et al. 2024, eq. 5).

    Stateless; hyper-parameters are fields with defaults. Scores and weights are ``[..., keys]``; the mask is
    true where a query may attend. A masked key has weight exactly 0 regardless of its score; a fully masked
    row is all zeros; a score that is not a number at an allowed key stays visible as NaN.

    Facts that a class does not declare are measured (`measure_properties`); those that it declares are
    compared with the measurement by the contracts.

    Source: Huang, Yang and Wang (2024), Rethinking attention weights as bidirectional coefficients.
    """

    paper: ClassVar[str]
    domain: ClassVar[tuple[float, float]] = (-4.0, 4.0)
    """The scores for which the facts hold."""
    signed: ClassVar[bool] = measured_property()
    """Weights can be negative."""
    rows_sum_to_one: ClassVar[bool] = measured_property()
    # The four properties of Table 3 of the paper.
    monotone: ClassVar[bool] = measured_property()
    log_nonlinear: ClassVar[bool] = measured_property()
    origin_symmetric: ClassVar[bool] = measured_property()
    normalised: ClassVar[bool] = measured_property()
    linear: ClassVar[Literal["count", "sum"] | None] = None
    """φ_i is s_i over the number of allowed keys ("count"), or s_i / Σ_k s_k where no score is negative
    ("sum"); with scores that are dot products, attention is then computed in linear time."""
    uses_paired_exponential: ClassVar[bool] = False
    """φ_i is (e^{s_i} − e^{−s_i}) / Σ_k (e^{s_k} + e^{−s_k}): the paired exponentials of TanhMax, for which
    there are programs of their own."""

    has_sinks: ClassVar[bool] = False
    """Sinks that are no tokens take what the weights of a row miss to one (gpt-oss)."""

    @abstractmethod
    def weights(
        self, scores: Float[Tensor, "*rows keys"], mask: Bool[Tensor, "*rows keys"]
    ) -> Float[Tensor, "*rows keys"]: ...

    def softmax_logits(self, scores: Float[Tensor, "*rows keys"]) -> Float[Tensor, "*rows keys"] | None:
        """t(s), elementwise, where φ(s) = softmax(t(s)), so that a softmax kernel can serve; else None."""
        return None

    def weights_unmasked(self, scores: Float[Tensor, "*rows keys"]) -> Float[Tensor, "*rows keys"]:
        """`weights` where no key is masked; override it where that saves a pass over the scores."""
        exponents = self.softmax_logits(scores)
        if exponents is None:
            return self.weights(scores, scores.new_ones((), dtype=torch.bool).expand_as(scores))
        return exponents.softmax(dim=-1)


def properties_of(activation: Activation) -> ActivationProperties:
    """The facts about an activation, measured with the hyper-parameters that it has."""
    return measure_properties(activation.weights, activation.domain)


@cache
def default_properties(kind: type[Activation]) -> ActivationProperties:
    """The facts about an activation with its default hyper-parameters."""
    return properties_of(kind())


ACTIVATIONS: Registry[type[Activation]] = Registry("activation", "activations")

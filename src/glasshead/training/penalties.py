"""Penalties: terms c·P(θ) on the parameters of a pooled classifier, which training adds to its loss."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import torch
from jaxtyping import Float
from torch import Tensor
from transformers import PreTrainedModel, TrainerCallback, TrainerControl, TrainerState, TrainingArguments

from glasshead.errors import InputError, ParameterError
from glasshead.models import PooledClassifier, PooledConfig
from glasshead.registry import Registry
from glasshead.spelling import spell
from glasshead.training.field_types import validate_type


class Penalty(ABC):
    """P(θ) ≥ 0, without its weight c."""

    source: ClassVar[str]

    @abstractmethod
    def unsupported_reason(self, config: PooledConfig) -> str | None:
        """Why it has no meaning for such a model, with the remedy; None: it has."""

    @abstractmethod
    def __call__(self, model: PooledClassifier) -> Float[Tensor, ""]:
        """Its value, differentiable in the parameters."""


class ContextOutput(Penalty):
    """(V′ᵀW′)², which couples attention to the output; V′ = MᵀV and W′ = MᵀW with an affine encoder M.

    V is the context vector, W the output weights; without an encoder, and after an LSTM, in whose output
    space both live, V′ = V and W′ = W. K > 2 classes: Σ_k (V′ᵀW′_k)². An additive score has its V in another
    space than W: V is then M^aᵀV, the direction in which its first-order form (eq. 71) reads what is encoded.
    The paper regularises VᵀW and does not say in which form; the square is our reading.
    """

    source = "Sun and Lu 2020, C.3 (Fig. 5) and Fig. 9"

    def unsupported_reason(self, config: PooledConfig) -> str | None:
        if config.score in ("query-key", "bilinear"):
            return f"a {config.score} score has no context vector V: use {spell('score', 'context')}"
        if config.value_dim is not None:
            return f"with a map of values, W and V have different spaces: use {spell('value_dim', None)}"
        return None

    def __call__(self, model: PooledClassifier) -> Float[Tensor, ""]:
        context: Tensor = model.get_parameter("pooling.score.context.weight")  # [1, d]
        output: Tensor = model.classifier.weight  # [K', d]
        if model.config.score == "additive":
            context = context @ model.get_parameter("pooling.score.key.weight")
        if model.config.encoder == "affine":
            affine = model.get_parameter("encoder.map.weight")  # [d, e]
            context, output = context @ affine, output @ affine
        return (output @ context.T).square().sum()


class EncoderSize(Penalty):
    """Σ θ² over the parameters of the affine or LSTM encoder, biases included."""

    source = "Sun and Lu 2020, G.2, footnote 3"

    def unsupported_reason(self, config: PooledConfig) -> str | None:
        return (
            f"there is no encoder: use {spell('encoder')} affine or lstm"
            if config.encoder == "none"
            else None
        )

    def __call__(self, model: PooledClassifier) -> Float[Tensor, ""]:
        squares = [parameter.square().sum() for parameter in model.encoder.parameters()]
        return sum(squares, start=model.classifier.weight.new_zeros(()))


PENALTIES: Registry[Penalty] = Registry("penalty")
PENALTIES.register("context-output")(ContextOutput())
PENALTIES.register("encoder")(EncoderSize())


def penalty_of(model: PooledClassifier, weights: Mapping[str, float]) -> Float[Tensor, ""]:
    """Σ_k c_k P_k(θ): the sum that is added to the loss; 0 without penalties."""
    terms = [weight * PENALTIES[name](model) for name, weight in weights.items()]
    return sum(terms, start=model.classifier.weight.new_zeros(()))


def penalty_descent(model: PooledClassifier, weights: Mapping[str, float]) -> dict[Tensor, Tensor]:
    """−∂/∂θ Σ_k c_k P_k(θ) for every parameter θ; zeros for those in no penalty."""
    with torch.enable_grad():
        slopes = gradient_of(model, penalty_of(model, weights))
    return {leaf: -slopes[leaf] if leaf in slopes else torch.zeros_like(leaf) for leaf in model.parameters()}


def penalty_values(model: PreTrainedModel, names: Iterable[str]) -> dict[str, float]:
    """P_k(θ) of each; only a pooled model has any."""
    return {name: PENALTIES[name](model).item() for name in names if isinstance(model, PooledClassifier)}


def validate_penalties(weights: Mapping[str, float], config: PooledConfig) -> dict[str, float]:
    """The weights as floats, by name.

    Raises:
        InputError: on an unknown name, a weight that is not finite or below 0, and a penalty that has no
            meaning for such a model.
    """
    checked = {}
    for name, weight in weights.items():
        reason = PENALTIES[name].unsupported_reason(config)  # a misspelt name raises here
        if reason is not None:
            raise InputError(f"no penalty {name!r} for this model: {reason}")
        try:
            checked[name] = validate_type("penalties", weight, float)
        except ParameterError as error:
            raise InputError(f"the weight of the penalty {name!r} {error.problem}") from None
        if not 0 <= checked[name] < math.inf:
            raise InputError(
                f"the weight of the penalty {name!r} must be 0 or a positive number, not {weight}"
            )
    return checked


class PenaltyGradient(TrainerCallback):
    """Adds ∂/∂θ Σ_k c_k P_k(θ) to the gradients of every step, once they are whole and clipped.

    The loss that the Trainer reports, and by which epochs are chosen, stays that of the task. ``notes`` name
    each penalty for which a step of plain SGD was too large, once (`overshoot`).
    """

    def __init__(self, weights: Mapping[str, float]) -> None:
        self.weights = weights
        self.noted: dict[str, str] = {}

    @property
    def notes(self) -> list[str]:
        """One line for each penalty that overshot."""
        return list(self.noted.values())

    def on_pre_optimizer_step(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        # The bare model, not what accelerate wraps it in: every process adds the same.
        model = kwargs["model"]
        rate = descent_rate(kwargs.get("optimizer"))
        for name, weight in self.weights.items():
            value = penalty_of(model, {name: weight})
            slopes = gradient_of(model, value)
            for leaf, slope in slopes.items():
                leaf.grad = slope if leaf.grad is None else leaf.grad + slope
            if rate is not None and name not in self.noted:
                factor = overshoot(value, slopes.values(), rate)
                if factor < -1:
                    self.noted[name] = overshoot_note(name, state.global_step + 1, factor)


def overshoot_note(name: str, step: int, factor: float) -> str:
    """What is noted of a step that was too large."""
    return (
        f"penalty {name} overshoots at step {step}: a step multiplies its root by about "
        f"−{abs(factor):.2f}, and below −1 it grows; lower its weight or the learning rate"
    )


def gradient_of(model: PooledClassifier, value: Float[Tensor, ""]) -> dict[Tensor, Tensor]:
    """∂P/∂θ of every parameter θ that P reads."""
    leaves = list(model.parameters())
    gradients = torch.autograd.grad(value, leaves, allow_unused=True)
    return {leaf: slope for leaf, slope in zip(leaves, gradients, strict=True) if slope is not None}


def descent_rate(optimizer: Any) -> float | None:
    """The learning rate of plain SGD; None for every other optimizer."""
    bare = getattr(optimizer, "optimizer", optimizer)  # accelerate wraps it
    return float(bare.param_groups[0]["lr"]) if isinstance(bare, torch.optim.SGD) else None


def overshoot(value: Float[Tensor, ""], slopes: Iterable[Tensor], rate: float) -> float:
    """What a step of plain SGD multiplies √P by, to first order: 1 − η‖∇P‖² / 2P; below −1 it grows.

    For P = c (VᵀW)² that is what multiplies VᵀW, 1 − 2ηc (‖V‖² + ‖W‖²), since ∇P = 2c VᵀW (W, V). A P of 0
    stays where it is: 1.
    """
    size = value.item()
    return 1 - rate * sum(slope.square().sum().item() for slope in slopes) / (2 * size) if size > 0 else 1.0

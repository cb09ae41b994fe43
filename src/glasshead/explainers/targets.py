"""What an explanation is about: one number per text, both what is scored and what is differentiated."""

from collections.abc import Callable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from glasshead.registry import Registry

Target = Callable[[Float[Tensor, "*b classes"], Int[Tensor, " *b"]], Float[Tensor, " *b"]]
TARGETS: Registry[Target] = Registry("target")


def _pick(values: Tensor, target: Tensor) -> Tensor:
    return values.gather(-1, target[..., None]).squeeze(-1)


@TARGETS.register("probability")
def probability(logits: Float[Tensor, "*b classes"], target: Int[Tensor, " *b"]) -> Float[Tensor, " *b"]:
    """ŷ_t = softmax(logits)_t."""
    return _pick(logits.softmax(dim=-1), target)


@TARGETS.register("logit")
def logit(logits: Float[Tensor, "*b classes"], target: Int[Tensor, " *b"]) -> Float[Tensor, " *b"]:
    """The class score as the model gives it (binary models give class 0 the score 0)."""
    return _pick(logits, target)


@TARGETS.register("log-probability")
def log_probability(logits: Float[Tensor, "*b classes"], target: Int[Tensor, " *b"]) -> Float[Tensor, " *b"]:
    """log ŷ_t, what language models are trained on; differences of it do not fade where ŷ_t is small."""
    return _pick(logits.log_softmax(dim=-1), target)


@TARGETS.register("entropy")
def entropy(logits: Float[Tensor, "*b classes"], target: Int[Tensor, " *b"]) -> Float[Tensor, " *b"]:
    """−Σ_k ŷ_k log ŷ_k in nats, the same for every target: how uncertain the answer is."""
    return -(logits.softmax(dim=-1) * logits.log_softmax(dim=-1)).sum(dim=-1)


@TARGETS.register("log-odds")
def log_odds(logits: Float[Tensor, "*b classes"], target: Int[Tensor, " *b"]) -> Float[Tensor, " *b"]:
    """log ŷ_t / (1 − ŷ_t)."""
    return _pick(logits, target) - _others(logits, target).logsumexp(dim=-1)


def probability_change(before: Float[Tensor, "*#b"], after: Float[Tensor, "*#b"]) -> Float[Tensor, "*#b"]:
    """σ(before) − σ(after) of two log-odds, exact also where both probabilities round to 1.

    σ(h) − σ(l) = σ(h) σ(−l) (1 − e^{l−h}) for h ≥ l.
    """
    high, low = torch.maximum(before, after), torch.minimum(before, after)
    size = torch.sigmoid(high) * torch.sigmoid(-low) * -torch.expm1(low - high)
    return torch.where(before >= after, size, -size)


def value_change(
    target_fn: Target,
    before: Float[Tensor, "*b classes"],
    after: Float[Tensor, "*b classes"],
    target: Int[Tensor, " *b"],
) -> Float[Tensor, " *b"]:
    """ŷ of some logits minus ŷ of others; exact for probabilities, even where both round to 1."""
    if target_fn is probability:
        return probability_change(log_odds(before, target), log_odds(after, target))
    return target_fn(before, target) - target_fn(after, target)


@TARGETS.register("margin")
def margin(logits: Float[Tensor, "*b classes"], target: Int[Tensor, " *b"]) -> Float[Tensor, " *b"]:
    """The class score minus the best other class score."""
    return _pick(logits, target) - _others(logits, target).amax(dim=-1)


@TARGETS.register("rating")
def rating(logits: Float[Tensor, "*b 1"], target: Int[Tensor, " *b"]) -> Float[Tensor, " *b"]:
    """The output itself, of a model that predicts a number."""
    return logits[..., 0]


def _others(logits: Tensor, target: Tensor) -> Tensor:
    """Logits with the target's entry at −∞."""
    return logits.scatter(-1, target[..., None], -torch.inf)

"""The sign gauge of signed attention, and how it is fixed.

Negating every weight (W_k, b_k for TanhMax) together with the value map leaves every output unchanged, so the
sign of a trained signed map is an accident of its seed. The contribution a_i · o_i does not depend on it.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor


@dataclass(frozen=True)
class Gauge:
    """Which sign makes the weights canonical, and how clearly.

    ``margin`` = |Σ |a_i| o_i| / Σ |a_i| |o_i| in [0, 1]: near 1 the sign lives in the weights; near 0 it
    lives in the values and the canonical sign is itself an accident. ``positive_polarity`` is the share of
    tokens with o_i > 0 in the canonical gauge.
    """

    sign: int
    margin: float
    positive_polarity: float


def target_polarity(
    polarity: Float[Tensor, "b n k"], target: Int[Tensor, " b"] | Int[Tensor, "b n"]
) -> Float[Tensor, "b n"]:
    """What each token would add at weight 1 in favour of the target class of its text, or its own.

    Binary (one column, the score z of class 1): ±o_i. K classes: o_ik minus its mean over the classes,
    since what all classes gain alike changes no prediction.
    """
    target = (target[:, None] if target.ndim == 1 else target).expand(polarity.shape[:-1])
    if polarity.shape[-1] == 1:
        return polarity[..., 0] * (2 * target - 1)
    centred = polarity - polarity.mean(dim=-1, keepdim=True)
    return centred.gather(-1, target[..., None]).squeeze(-1)


def target_score(logits: Float[Tensor, "*b k"], target: Int[Tensor, " *b"]) -> Float[Tensor, " *b"]:
    """What speaks for the target in logits: its logit minus the other one of two, or minus the mean of more
    (as `target_polarity`); a rating is what it is."""
    if logits.shape[-1] == 1:
        return logits[..., 0]
    own = logits.gather(-1, target[..., None]).squeeze(-1)
    total = logits.sum(dim=-1)
    return 2 * own - total if logits.shape[-1] == 2 else own - total / logits.shape[-1]


def default_target(logits: Float[Tensor, "b k"]) -> Int[Tensor, " b"]:
    """Class 1 for a binary task, else the predicted class (signed statistics need a fixed direction)."""
    predicted = logits.argmax(dim=-1)
    return torch.ones_like(predicted) if logits.shape[-1] == 2 else predicted


def fix_gauge(
    weights: Float[Tensor, "b n"], polarity: Float[Tensor, "b n"], mask: Bool[Tensor, "b n"], *, signed: bool
) -> Gauge:
    """The sign for which Σ |a_i| o_i over the data is positive; unsigned weights have no gauge to fix."""
    a, o = weights[mask].double().abs(), polarity[mask].double()
    total, size = (a * o).sum().item(), (a * o.abs()).sum().item()
    sign = -1 if signed and total < 0 else 1
    positive = ((sign * o) > 0).double().mean().item() if o.numel() else 0.0
    return Gauge(sign, abs(total) / size if size > 0 else 0.0, positive)

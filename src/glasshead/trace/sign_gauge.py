"""The sign gauge of signed attention, and how it is fixed.

Negating every weight (W_k, b_k for TanhMax) together with the value map leaves every output unchanged, so the
sign of a trained signed map is an accident of its seed. The contribution a_i · o_i does not depend on it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy.typing import NDArray
from torch import Tensor

from glasshead.results import MIN_TEXTS_PER_CLASS, ONE_SIGN, SIGN_IN_WEIGHTS, UNDECIDED
from glasshead.statistics import LEVEL, RESAMPLES, draw_counts, interval_ends

ONE_SIDED = 0.98
"""Share of Σ|a| from which on weights have one sign: see docs/reproduction/sign-gauge.md."""
CLEAR_LEAN = 0.5
"""Lean from which on the sign lives in the weights: attention with half of its sign in the values and half in
the weights, stays below in one class, however many of its tokens speak for the class of their text."""
RATING_SIDES = ("below the mean", "from the mean on")
"""What plays the part of classes where ratings are predicted."""

GaugeRange = tuple[float, float, float]
"""Estimate, and both ends of its bootstrap interval over texts."""


@dataclass(frozen=True)
class ClassSigns:
    """The sign statistics of a head in the texts of one class, in its canonical gauge.

    ``positive`` is the share of Σ |a| that positive weights hold, ``lean`` is Σ |a| o / Σ |a| |o|; None where
    the sums are zero.
    """

    name: str
    texts: int
    positive: GaugeRange | None
    lean: GaugeRange | None


@dataclass(frozen=True)
class Gauge:
    """The sign that makes the weights of a head canonical, and whether the sign lies in the weights.

    ``kind`` is "one sign" (the weights do not say which class a token supports, the values do; canonical
    weights are positive), "sign in the weights" (canonical weights are positive where tokens support the
    target) or "undecided". ``margin`` = |mean over classes of Σ |a_i| o_i / Σ |a_i| |o_i|| in [0, 1].
    ``positive_polarity`` is the share of tokens with o_i > 0 in the canonical gauge, where it was counted.
    """

    sign: int
    kind: str
    margin: float
    positive_polarity: float | None = None
    classes: list[ClassSigns] = field(default_factory=list)


def target_polarity(
    polarity: Float[Tensor, "b n k"], target: Int[Tensor, " b"] | Int[Tensor, "b n"]
) -> Float[Tensor, "b n"]:
    """What each token would add at weight 1 in favour of the target class of its text, or its own.

    Binary (one column, the score z of class 1): ±o_i. K classes: o_ik minus its mean over the classes,
    since a gain shared by all classes changes no prediction.
    """
    target = (target[:, None] if target.ndim == 1 else target).expand(polarity.shape[:-1])
    if polarity.shape[-1] == 1:
        return polarity[..., 0] * (2 * target - 1)
    centred = polarity - polarity.mean(dim=-1, keepdim=True)
    return centred.gather(-1, target[..., None]).squeeze(-1)


def target_score(logits: Float[Tensor, "*b k"], target: Int[Tensor, " *b"]) -> Float[Tensor, " *b"]:
    """The score of the target: its logit minus that of the other class, or minus the mean of all classes
    if there are more (as `target_polarity`); a rating is its own score."""
    if logits.shape[-1] == 1:
        return logits[..., 0]
    own = logits.gather(-1, target[..., None]).squeeze(-1)
    total = logits.sum(dim=-1)
    return 2 * own - total if logits.shape[-1] == 2 else own - total / logits.shape[-1]


def default_target(logits: Float[Tensor, "b k"], classes: int | None = None) -> Int[Tensor, " b"]:
    """Class 1 of two ``classes`` (as many as logits, unless given), else the predicted class (signed
    statistics need a fixed direction)."""
    predicted = logits.argmax(dim=-1)
    return torch.ones_like(predicted) if (classes or logits.shape[-1]) == 2 else predicted


def text_sums(
    weights: Float[Tensor, "..."], slopes: Float[Tensor, "..."], over: int | tuple[int, ...]
) -> Float[Tensor, "*b 4"]:
    """Σ max(a, 0), Σ |a|, Σ |a| o and Σ |a| |o|, all that `fix_gauges` needs to know about a text; the o
    are slopes."""
    a, o = weights.double(), slopes.double()
    size = a.abs()
    parts = (a.clamp(min=0), size, size * o, size * o.abs())
    return torch.stack([part.sum(dim=over) for part in parts], dim=-1)


def class_sides(
    labels: Tensor, names: Sequence[str], *, regression: bool
) -> tuple[Int[Tensor, " texts"], Sequence[str]]:
    """The class of each text and the names of classes; for ratings, the two sides of their mean."""
    if not regression:
        return labels.long(), names
    return (labels >= labels.double().mean()).long(), RATING_SIDES


def fix_gauges(
    sums: Float[Tensor, "texts heads 4"],
    groups: Int[Tensor, " texts"],
    names: Sequence[str],
    signed: Sequence[bool],
) -> list[Gauge]:
    """The canonical sign of every head, and whether the sign is in the weights or the values, judged class
    by class.

    With p_k = Σ max(a, 0) / Σ |a| and m_k = Σ |a| o / Σ |a| |o| over the texts of class k, and 95 % bootstrap
    intervals over texts: one sign, if every p_k is above 0.98 or every one below 0.02; sign in the weights,
    if every m_k is above ½ or every one below −½; else undecided. The canonical sign makes p_k large where
    there is one sign, and the mean of m_k positive otherwise. A sum over all texts would measure the majority
    class. Only classes of 30 texts or more count, and there must be two of them.

    ``sums`` are those of `text_sums`, ``groups`` the class of each text, ``names`` the names of classes.
    Heads that are not ``signed`` have one sign, which is positive.
    """
    tables = [
        (name, class_ranges(sums[groups == k].double().cpu().numpy()))
        for k, name in enumerate(names)
        if (groups == k).any()
    ]
    texts = {name: int((groups == k).sum()) for k, name in enumerate(names)}
    return [
        fix_gauge([ClassSigns(name, texts[name], *ranges[head]) for name, ranges in tables], signed=is_signed)
        for head, is_signed in enumerate(signed)
    ]


def fix_gauge(classes: Sequence[ClassSigns], *, signed: bool, one_sided: float = ONE_SIDED) -> Gauge:
    """The gauge of one head from its classes; see `fix_gauges`."""
    heard = [signs for signs in classes if signs.texts >= MIN_TEXTS_PER_CLASS] or list(classes)
    leans = [signs.lean[0] for signs in heard if signs.lean is not None]
    lean = sum(leans) / len(leans) if leans else 0.0
    kind, sign = ONE_SIGN, 1
    if signed:
        one_sign, weights = (
            classes_agree(heard, *rule) for rule in (("positive", one_sided), ("lean", CLEAR_LEAN))
        )
        kind = ONE_SIGN if one_sign else SIGN_IN_WEIGHTS if weights else UNDECIDED
        sign = one_sign or (-1 if lean < 0 else 1)
    return Gauge(sign, kind, abs(lean), classes=[with_sign(signs, sign) for signs in classes])


def classes_agree(classes: Sequence[ClassSigns], name: str, threshold: float) -> int:
    """+1 if the intervals of all classes lie above the threshold, −1 if all do in the other gauge, else 0."""
    if len(classes) < 2 or min(group.texts for group in classes) < MIN_TEXTS_PER_CLASS:
        return 0
    for sign in (1, -1):
        ranges = [getattr(with_sign(group, sign), name) for group in classes]
        if all(bounds is not None and bounds[1] > threshold for bounds in ranges):
            return sign
    return 0


def with_sign(signs: ClassSigns, sign: int) -> ClassSigns:
    """The sums with all weights, and all slopes, times a sign."""
    if sign > 0:
        return signs
    positive, lean = signs.positive, signs.lean
    return ClassSigns(
        signs.name,
        signs.texts,
        None if positive is None else (1 - positive[0], 1 - positive[2], 1 - positive[1]),
        None if lean is None else (-lean[0], -lean[2], -lean[1]),
    )


def class_ranges(sums: NDArray[np.float64]) -> list[tuple[GaugeRange | None, GaugeRange | None]]:
    """p and m with their intervals for every head, from the sums [texts, heads, 4] of one class."""
    n, heads, _ = sums.shape
    totals = sums.sum(axis=0)
    flat = sums.reshape(n, -1)
    drawn = [counts @ flat for counts in draw_counts(n, RESAMPLES, np.random.default_rng(0))]
    drawn_totals = np.concatenate(drawn).reshape(-1, heads, 4)
    ranges = []
    for part, total in ((0, 1), (2, 3)):
        with np.errstate(invalid="ignore"):
            estimates = totals[:, part] / totals[:, total]
            low, high = interval_ends(drawn_totals[:, :, part] / drawn_totals[:, :, total], LEVEL)
        ranges.append(np.stack([estimates, low, high], axis=-1).tolist())
    return [
        tuple(tuple(bounds) if np.isfinite(bounds).all() else None for bounds in pair)  # type: ignore[misc]
        for pair in zip(*ranges, strict=True)
    ]

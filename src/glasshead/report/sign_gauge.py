"""Where the sign of signed weights lives, in words."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from glasshead.report.number_format import finite, number, share
from glasshead.results import (
    ATTENTION,
    MIN_TEXTS_PER_CLASS,
    ONE_SIGN,
    SIGN_IN_WEIGHTS,
    UNDECIDED,
    AuditCard,
)


def sign_sentence(card: AuditCard) -> str:
    """What the sign of this card's weights is worth."""
    facts = card.facts
    if card.method != ATTENTION:
        return ""
    if facts.get("signed") is False:
        return "The weights are never negative: the sign of a colour comes only from the contribution."
    fixed = facts.get("gauge")
    if facts.get("signed") and not isinstance(fixed, dict):
        return "The weights are signed, but their sign was never fixed: it is an accident of the seed."
    if not facts.get("signed") or not isinstance(fixed, dict):
        return ""
    margin = f"margin {number(fixed.get('margin'), 2)} of 1"
    positive = finite(fixed.get("positive_polarity"))
    polarities = "" if positive is None else f", with {share(positive)} of the polarities positive"
    kind = fixed.get("kind")
    if kind == SIGN_IN_WEIGHTS:
        start = (
            "The weights are signed, and their sign mostly says which class a token supports "
            f"({margin}{polarities})"
        )
    elif kind == ONE_SIGN:
        start = (
            f"The weights are signed, but have one sign{least_share(fixed)}: they say how much a token "
            "counts, and the values say for which class"
        )
    else:
        start = f"The weights are signed, but the meaning of their sign is undecided ({margin})"
    return f"{start}. To fix the gauge, {sign_change(fixed)}{kind_counts(fixed)}."


def sign_caution(card: AuditCard) -> str | None:
    """A caution where signs cannot be read; None where they can, or there are none."""
    fixed = card.facts.get("gauge")
    if not card.facts.get("signed") or not isinstance(fixed, dict) or fixed.get("kind") != UNDECIDED:
        return None
    return (
        "it is undecided whether the sign is in the weights or in the values (margin "
        f"{number(fixed.get('margin'), 2)}): trust contributions, not signed weights."
    )


def sign_fact(fixed: Mapping[str, Any]) -> str:
    """One line of a table, with the numbers that decided it where one head is read."""
    if "signs" in fixed:
        signs = "per head " + " ".join("+" if sign > 0 else "−" for sign in fixed["signs"])
    else:
        signs = "kept as trained (+1)" if fixed.get("sign") == 1 else "negated (−1)"
    parts = [
        *([str(fixed["kind"])] if fixed.get("kind") else []),
        signs,
        f"margin {number(fixed.get('margin'), 2)}",
    ]
    if finite(fixed.get("positive_polarity")) is not None:
        parts.append(f"{share(fixed['positive_polarity'])} of polarities positive")
    return "; ".join([", ".join(parts), *map(class_fact, classes(fixed))]) + kind_counts(fixed)


def class_fact(one: Mapping[str, Any]) -> str:
    """What the texts of one class say of a head."""
    lean = one["lean"]
    between = "" if lean is None else f", Σ|a|o / Σ|a||o| {estimate_and_interval(lean, 2)}"
    positive = (
        "no weight"
        if one["positive"] is None
        else f"Σ|a| positive {estimate_and_interval(one['positive'], 3)}"
    )
    few = one["texts"] < MIN_TEXTS_PER_CLASS
    note = f" (fewer than {MIN_TEXTS_PER_CLASS}, so not counted)" if few else ""
    return f"{one['name']}, {one['texts']:,} texts{note}: {positive}{between}"


def estimate_and_interval(numbers: Sequence[float], digits: int) -> str:
    """Estimate [low, high]."""
    estimate, low, high = (number(value, digits) for value in numbers)
    return f"{estimate} [{low}, {high}]"


def classes(fixed: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """What each class says, where one head is read."""
    heads = fixed.get("classes") or []
    if "signs" not in fixed:
        return list(heads)
    return list(heads[0]) if len(heads) == 1 else []


def least_share(fixed: Mapping[str, Any]) -> str:
    """The smallest share of one sign that a class may have; "at least" does not round up."""
    lows = [
        one["positive"][1]
        for one in classes(fixed)
        if one["texts"] >= MIN_TEXTS_PER_CLASS and one["positive"]
    ]
    if not lows:
        return ""
    low = math.floor(1000 * min(lows)) / 1000
    part = "all" if low >= 1 else f"at least {share(low, 1)}"
    return f" ({part} of Σ|a| in the texts of every class)"


def sign_change(fixed: Mapping[str, Any]) -> str:
    """What was done to the sign."""
    if "signs" in fixed:
        count, heads = sum(sign < 0 for sign in fixed["signs"]), len(fixed["signs"])
        noun = "head" if heads == 1 else "heads"
        return f"the sign of {count} of {heads} {noun} was reversed after training"
    return f"their sign was {'kept as trained' if fixed.get('sign') == 1 else 'reversed after training'}"


def kind_counts(fixed: Mapping[str, Any]) -> str:
    """How many heads are of each kind, where they differ."""
    counts = Counter(fixed.get("kinds") or [])
    if len(counts) < 2:
        return ""
    return "; heads: " + ", ".join(f"{count} {kind}" for kind, count in counts.most_common())

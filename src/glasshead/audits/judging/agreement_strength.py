"""How strong an agreement is, and whether an explanation is large where a token matters: by intervals."""

from __future__ import annotations

from collections.abc import Mapping

from glasshead.audits.judging.border import above, at
from glasshead.audits.judging.question import OVER_RANDOM, by_size, decisive, over_random, usable
from glasshead.audits.judging.summary import Interval
from glasshead.nouns import Nouns
from glasshead.results import AGREEMENT_STRENGTHS, TOO_FEW_EXAMPLES, AuditCard, Finding, Verdict

METHODS = {"gradient": "gradients", "erasure-renormalise": "weight removal"}
"""The measures of what a token matters, and what they are called."""
UNSETTLED = "unsettled"
"""Agreement above chance, whose interval begins below the weakest strength and ends above it."""
ADVERBS = {
    "strong": "strongly",
    "at least moderate": "at least moderately",
    "moderate": "moderately",
    "at least weak": "at least weakly",
    "weak": "weakly",
    UNSETTLED: "better than chance",
    "hardly": "hardly",
}
ORDER_BORDERS = (*OVER_RANDOM, at(0.0, minus="uniform", applies=above("random")))
"""What `judge_agreement` compares an agreement with."""
WEAKEST = min(low for low, _ in AGREEMENT_STRENGTHS)
GOOD_AGREEMENT = {word: low for low, word in AGREEMENT_STRENGTHS}["moderate"]


def judge_agreement(
    interval: Interval | None,
    over: Mapping[str, Interval | None],
    numbers: str,
    nouns: Nouns,
) -> Verdict:
    """Judge from intervals alone: of the mean τ, and of its paired differences from the nulls, random
    ``numbers`` among them."""
    chance = over.get("random")
    if interval is None or chance is None:
        return TOO_FEW_EXAMPLES
    low, high = interval
    if chance[0] <= 0 <= chance[1]:
        return Verdict(f"not distinguishable from random {numbers} on these {nouns.texts}")
    if chance[1] < 0:
        opposed = agreement_strength(-high, -low)
        return Verdict(
            f"{opposed} agreement in the reverse order" if opposed else f"worse than random {numbers}"
        )
    agreed = agreement_strength(low, high)
    if agreed:
        text = f"{agreed} agreement"
    elif high <= WEAKEST:
        text = f"hardly any agreement, but more than of random {numbers}"
    else:
        text = f"agreement of unsettled strength, more than of random {numbers}"
    uniform = over.get("uniform")
    # With all weights alike the contribution is the polarity: attention has added nothing.
    if uniform is None or uniform[0] > 0:
        return Verdict(text)
    than = "less than" if uniform[1] < 0 else "not distinguishable from that"
    return Verdict(f"{text}, {than} under uniform weights")


def agreement_strength(low: float, high: float) -> str:
    """How strong an agreement with that interval is at least; empty below the weakest."""
    at_least = [word for threshold, word in AGREEMENT_STRENGTHS if low >= threshold]
    perhaps = [word for threshold, word in AGREEMENT_STRENGTHS if high >= threshold]
    return "" if not at_least else at_least[0] if at_least == perhaps else f"at least {at_least[0]}"


def agreement_level(finding: Finding) -> str:
    """How strong an agreement is: ``hardly`` if it is certainly below the weakest strength, and ``unsettled``
    if its interval contains the weakest.

    ``below`` and ``unclear`` compare it with random weights, and ``uniform`` says that it is not shown to be
    above that of uniform weights.
    """
    low, high = decisive(finding) or (0.0, 0.0)
    over_low, over_high = over_random(finding)
    if over_high < 0:
        return "below"
    if over_low <= 0:
        return "unclear"
    uniform = finding.over_null.get("uniform")
    if uniform is not None and (uniform.interval is None or uniform.interval[0] <= 0):
        return "uniform"
    return agreement_strength(low, high) or ("hardly" if high <= WEAKEST else UNSETTLED)


def agrees(finding: Finding) -> bool | None:
    """Whether an agreement is moderate or more, and above that of random weights; None: undecided."""
    level = agreement_level(finding)
    if finding.status != "evidence" or finding.interval is None:
        return None
    if level.removeprefix("at least ") in ("strong", "moderate"):
        return True
    _, high = decisive(finding) or (0.0, 1.0)
    return False if level == "below" or high < GOOD_AGREEMENT else None


def is_large_where_tokens_matter(card: AuditCard, measure: str) -> bool | None:
    """Whether what was audited is large where tokens matter by a measure: it orders the tokens as the measure
    does, and more of it lies on important tokens than if all had the same. Without the second, one token
    that holds nearly everything and does nothing would count as little as any other.

    None: undecided.
    """
    order_finding = usable(card, by_size(card, "agreement", measure))
    focus = usable(card, f"agreement.focus.{measure}.all")
    order = None if order_finding is None else agrees(order_finding)
    return order if order is not True or focus is None else is_above_uniform(focus)


def lies_on_sinks(card: AuditCard) -> bool:
    """Whether tokens with large weights certainly contribute less themselves than others do."""
    focus = usable(card, "agreement.focus.contribution.all")
    return focus is not None and is_above_uniform(focus) is False


def is_above_uniform(focus: Finding) -> bool | None:
    """Whether important tokens hold more than if all had the same; None: undecided."""
    over = focus.over_null.get("uniform")
    if focus.status == "undecided" or over is None or over.interval is None:
        return None
    low, high = over.interval
    return True if low > 0 else False if high < 0 else None


def agreement_words(levels: Mapping[str, str], numbers: str = "weights") -> str:
    """``agrees moderately with gradients but weakly with erasure``; random ``numbers`` are the null."""
    by_level = {
        level: " and ".join(method for method, own in levels.items() if own == level)
        for level in (*ADVERBS, "unclear", "below", "uniform")
    }
    phrases = [f"{adverb} with {by_level[level]}" for level, adverb in ADVERBS.items() if by_level[level]]
    parts = (
        [f"agrees {' but '.join(phrases)}".replace("agrees hardly", "hardly agrees", 1)] if phrases else []
    )
    if by_level["unclear"]:
        parts.append(f"is not shown to agree with {by_level['unclear']} more than random {numbers} do")
    if by_level["below"]:
        parts.append(f"agrees with {by_level['below']} less than random {numbers} do")
    if by_level["uniform"]:
        parts.append(f"is not shown to agree with {by_level['uniform']} more than under uniform weights")
    return " but ".join(parts) if phrases else " and ".join(parts)

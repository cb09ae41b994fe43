"""Which claims the shares of texts with other maps support: exactly, or as far as a search shows."""

from __future__ import annotations

from glasshead.audits.adversary.judging import ADVERSARIAL, EXACT, FEW, FLAT, FOUND, FREE
from glasshead.audits.judging.question import Outcome, decisive, usable
from glasshead.results import AuditCard, Finding, Holds

HALF = 0.5
OTHERS_AT = (FEW, HALF)
"""The shares of texts at which claims on other maps change their answer."""
FREE_FINDING = f"{ADVERSARIAL}.{FOUND}.{FREE}.all"
FLAT_FINDING = f"{ADVERSARIAL}.{FLAT}.all"


def is_exact(card: AuditCard, kind: str = FREE) -> bool:
    """Whether a map of a kind that was not found does not exist."""
    facts = card.facts.get(ADVERSARIAL)
    return isinstance(facts, dict) and facts.get(kind) == EXACT


def hardly_flat(card: AuditCard) -> bool:
    """Whether hardly any prediction stays as it is whatever the weights."""
    flat = card.finding(FLAT_FINDING)
    ends = None if flat is None else decisive(flat)
    return ends is not None and ends[1] <= FEW


def only_similar_ones(card: AuditCard, finding: Finding) -> Holds:
    """Other maps in at most a tenth of the texts, exactly: what a search did not find may be there. Where no
    weights change a prediction, others give the same."""
    free = card.finding(FREE_FINDING)
    # Of all maps it is true of those, too, that the head could have drawn.
    for kind, one in ((FREE, free), (finding.against, finding)):
        ends = None if one is None or not is_exact(card, kind) else decisive(one)
        if ends is not None and ends[1] <= FEW and hardly_flat(card):
            return "yes"
    ends = decisive(finding)
    if ends is None:
        return "undecided"
    if ends[0] > HALF:
        return "no"
    return "in part" if is_exact(card, finding.against) and ends[0] > FEW else "undecided"


def movable(card: AuditCard, finding: Finding) -> Holds:
    """Hardly any prediction that no weights change. What a search did not change may still change: its share
    is an upper bound, and a bound below one half means that most predictions can be changed."""
    ends = decisive(finding)
    if ends is None or ends[1] <= FEW:
        return "undecided" if ends is None else "yes"
    if not is_exact(card):
        return "in part" if ends[1] < HALF else "undecided"
    if ends[0] <= FEW:
        return "undecided"
    return "no" if ends[0] > HALF else "in part"


def other_maps(card: AuditCard) -> Outcome | None:
    """Whether quite other weights give the same prediction, and whether the head could have drawn them.

    Among many tokens nearly any model has some (the free test).
    """
    free = usable(card, FREE_FINDING)
    if free is None:
        return None
    interval = decisive(free)
    others, nouns = "very different weights give the same prediction", card.nouns
    if interval is None:
        return Outcome("", (f"whether {others}",), (free,))
    low, high = interval
    if high <= FEW:
        return Outcome(f"{others} in hardly any {nouns.text}{of_which(card)}")
    if low <= FEW:
        return Outcome("", (f"in how many {nouns.texts} {others}",), (free,))
    if low <= 0.5:
        return Outcome(f"{others} in some {nouns.texts}")
    producible = usable(card, f"{ADVERSARIAL}.{FOUND}.producible.all")
    drawn = None if producible is None else decisive(producible)
    if drawn is not None and drawn[0] > 0.5:
        return Outcome(f"{others} in most {nouns.texts}, and the head can produce them")
    return Outcome(f"{others} in most {nouns.texts}")


def of_which(card: AuditCard) -> str:
    """That some texts do not count, where that is so."""
    flat = card.finding(FLAT_FINDING)
    if flat is None or not flat.estimate or hardly_flat(card):
        return ""
    return f", of those whose prediction some weights change (not {flat.estimate:.0%})"

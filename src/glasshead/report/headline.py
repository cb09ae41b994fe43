"""The front page: what a busy reviewer must know, in sentences that findings already carry."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from glasshead.differences import Difference
from glasshead.report.formats import count, finite, number, share
from glasshead.report.gaps import told
from glasshead.report.markup import Scale
from glasshead.report.rows import value_range
from glasshead.report.wording import QUESTIONS, Question
from glasshead.results import BY_CONSTRUCTION, METRIC_NAMES, WEAK_MARGIN, AuditCard, Finding

SAME = ("data", "split", "examples", "labels")
TEXTS = ("data", "split")
"""What says which texts were read: numbers about other texts are not larger or smaller than these."""


@dataclass(frozen=True)
class Answer:
    """One question, each card's finding (or None), and how the cards differ."""

    question: Question
    findings: list[Finding | None]
    difference: str
    plots: list[Markup | None]


def answers(
    cards: Sequence[AuditCard], names: Sequence[str], differences: Sequence[Difference] = ()
) -> list[Answer]:
    """The key questions that at least one card can answer, nothing that is true by construction.

    Two cards differ by their paired difference, and where there is none by their intervals, if they are about
    the same texts.
    """
    alike = all(same(cards, key) for key in TEXTS)
    found = []
    for question in QUESTIONS:
        findings = [
            None if question.signed and card.facts.get("signed") is False else _telling(card, question)
            for card in cards
        ]
        if any(finding is not None for finding in findings):
            scale = Scale(*value_range([finding for finding in findings if finding is not None]))
            drawn = [None if finding is None else scale.plot(finding) for finding in findings]
            paired = [
                told(each, names)
                for each in differences
                if each.name == question.finding and None not in (findings[each.one], findings[each.other])
            ]
            differing = " ".join(paired) or (difference(findings, names) if alike else "")
            found.append(Answer(question, findings, differing, drawn))
    return found


def same(cards: Sequence[AuditCard], key: str) -> bool:
    """Whether all cards agree on a fact."""
    return len({str(card.facts.get(key)) for card in cards}) < 2


def _telling(card: AuditCard, question: Question) -> Finding | None:
    finding = card.finding(question.finding)
    return None if finding is not None and BY_CONSTRUCTION in finding.verdict else finding


def difference(findings: Sequence[Finding | None], names: Sequence[str]) -> str:
    """How several cards differ on one question, resting on intervals; empty for fewer than two answers."""
    known = [
        (name, finding.estimate, finding.interval)
        for name, finding in zip(names, findings, strict=True)
        if finding is not None and finding.estimate is not None and finding.interval is not None
    ]
    if len(known) < 2:
        return ""
    (name, top, (low, _)), *others = sorted(known, key=lambda entry: -entry[1])
    close = [other for other, _, (_, high) in others if high >= low]
    if len(close) == len(others):
        return "The 95\u00a0% intervals overlap."
    if close:
        return f"Largest for {name}, but its 95\u00a0% interval overlaps that of {', '.join(close)}."
    if len(others) > 1:
        return f"Largest for {name}; its 95\u00a0% interval overlaps no other."
    gap = number(top - others[0][1])
    return f"Larger for {name} than for {others[0][0]} by {gap}; the 95\u00a0% intervals do not overlap."


def lead(card: AuditCard) -> str:
    """One sentence on what was audited."""
    facts = card.facts
    data = str(facts.get("data") or "unnamed data").rstrip("/").rsplit("/", 1)[-1]
    sentence = (
        f"{count(facts['examples'])} examples of {data}"
        if "examples" in facts
        else data[:1].upper() + data[1:]
    )
    if facts.get("split"):
        sentence += f" ({facts['split']} split)"
    if facts.get("activation") or facts.get("attention"):
        sentence += f", read with {facts.get('activation') or facts.get('attention')} attention"
    measured = [
        f"{name}\u00a0{number(facts[key])}"
        for key, name in METRIC_NAMES.items()
        if finite(facts.get(key)) is not None
    ]
    sentence = f"{sentence}: {', '.join(measured)}." if measured else f"{sentence}."
    if facts.get("reading"):
        sentence += f" Attention is read at {facts['reading']}."
    maps = facts.get("identifiability")
    return f"{sentence} Identifiability is asked of {maps['read']}." if isinstance(maps, dict) else sentence


def gauge(card: AuditCard) -> str:
    """What the sign of this card's weights is worth."""
    facts = card.facts
    if facts.get("signed") is False:
        return "The weights are never negative: a colour's sign comes from the contribution alone."
    fixed = facts.get("gauge")
    if facts.get("signed") and not isinstance(fixed, dict):
        return "The weights are signed, and their sign was never fixed: it is an accident of the seed."
    if not facts.get("signed") or not isinstance(fixed, dict):
        return ""
    if "signs" in fixed:
        turned = sum(sign < 0 for sign in fixed["signs"])
        clear = number(fixed.get("margin"), 2)
        return (
            f"The weights are signed; to fix the gauge of each head, the sign of {turned} of "
            f"{len(fixed['signs'])} was turned round after training (margin {clear} of 1)."
        )
    words = "kept as trained" if fixed.get("sign") == 1 else "turned round after training"
    sentence = f"The weights are signed; to fix the gauge, their sign was {words}"
    margin = finite(fixed.get("margin"))
    if margin is not None:
        sentence += f" (margin {number(margin, 2)} of 1)"
    positive = finite(fixed.get("positive_polarity"))
    if positive is not None:
        sentence += f", with {share(positive)} of the polarities positive"
    return sentence + "."


def cautions(cards: Sequence[AuditCard], names: Sequence[str]) -> list[str]:
    """What a reader must know before believing the rest."""
    notes = []
    for card, name in zip(cards, names, strict=True):
        if card.facts.get("at_chance"):
            rates = card.facts.get("task") == "regression"
            guess = "mean rating" if rates else "commonest class"
            notes.append(
                f"{name}: the model is not better than always guessing the {guess}. What its attention "
                "agrees with is then of little interest."
            )
        fixed = card.facts.get("gauge")
        margin = finite(fixed.get("margin")) if isinstance(fixed, dict) else None
        if card.facts.get("signed") and margin is not None and margin < WEAK_MARGIN:
            notes.append(
                f"{name}: the gauge is weak (margin {number(margin, 2)}). Which sign is called positive is "
                "nearly a coin toss: trust contributions, not signed weights."
            )
    for key in SAME:
        if not same(cards, key):
            notes.append(f"The audits differ in their {key}: compare them with care.")
    return notes

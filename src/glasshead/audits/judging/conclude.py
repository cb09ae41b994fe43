"""What the findings of a card come to: claims, a clause for each audit, and the first sentence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from glasshead.audits.judging.base import AUDITS
from glasshead.audits.judging.headline import guess_needed, headline, it_takes
from glasshead.audits.judging.inputs_needed import inputs_needed, needed_for_claim, needed_for_use
from glasshead.audits.judging.question import (
    Outcome,
    QuestionSet,
    prediction_range,
    sentence_filler,
    usable,
)
from glasshead.results import (
    ATTENTION,
    UNDECIDED,
    AuditCard,
    AuditSummary,
    Claim,
    Finding,
    Holds,
    Quantity,
    entropy_range,
    is_unused,
    method_words,
    use_is_unclear,
)
from glasshead.wording import capitalise, decided_by, join_names, sentence

UNEQUAL = "Attention gives some {tokens} more weight than others"


def conclude(card: AuditCard, audits: Mapping[str, QuestionSet] = AUDITS) -> AuditCard:
    """The card with its conclusions, by the questions of these ``audits``: the first sentence, what you can
    claim, a summary of each audit, and what its numbers are about."""
    made, statistic = audits_of(card, audits), card.statistic
    whole = prediction_range(card)
    findings = [with_inputs_needed(finding, made, statistic, whole) for finding in card.findings]
    card = replace(card, findings=findings)
    outcomes = {name: audit.outcome(card) for name, audit in made.items()}
    claims = tuple(judge_claims(card, made))
    fill = card.nouns.fill
    summaries = {
        name: AuditSummary(
            fill(audit.title) or name,
            fill(audit.about),
            summary_of(card, outcomes[name], claims),
            {key: fill(words) for key, words in audit.words.items()},
            audit.joint,
        )
        for name, audit in made.items()
    }
    first = headline(card, findings_sentence(card, outcomes, claims), claims)
    conclusion = replace(first, claims=claims, audits=summaries)
    return replace(card, conclusion=conclusion, quantities=quantities_of(card, made))


def audits_of(card: AuditCard, audits: Mapping[str, QuestionSet]) -> dict[str, QuestionSet]:
    """Those whose findings a card has, in the order of pages."""
    present = {finding.audit for finding in card.findings}
    known = [name for name in audits if name in present]
    return {name: audits[name] for name in sorted(known, key=lambda name: audits[name].place)}


def quantities_of(card: AuditCard, made: Mapping[str, QuestionSet]) -> dict[str, Quantity]:
    """What the numbers of a card are about, in the order of the first screen."""
    quantities: dict[str, Quantity] = {}
    statistic = card.statistic
    for name, audit in made.items():
        own = {finding.quantity: finding for finding in card.findings if finding.audit == name}
        order = {question: rank for rank, question in enumerate(audit.questions)}
        by_question = [
            (audit.question_of(finding.statistic, finding.against, statistic), quantity)
            for quantity, finding in own.items()
        ]
        for question, quantity in sorted(by_question, key=lambda one: order.get(one[0], len(order))):
            quantities[quantity] = question.quantity(card)
    return quantities


def with_inputs_needed(
    finding: Finding, made: Mapping[str, QuestionSet], statistic: str, whole: float | None
) -> Finding:
    """A finding with the number of inputs that would decide it."""
    if finding.audit not in made:
        return finding
    question = made[finding.audit].question_of(finding.statistic, finding.against, statistic)
    return replace(finding, inputs_needed=inputs_needed(finding, question, whole))


def judge_claims(card: AuditCard, made: Mapping[str, QuestionSet]) -> Iterator[Claim]:
    """All claims on which the findings of a card bear, in the order in which they are argued; a claim
    without its finding is not made."""
    yield from use_claims(card)
    fill = sentence_filler(card)
    for name, audit in made.items():
        for question in audit.questions:
            if question.holds is None:
                continue
            statistic = question.statistic.format(method=card.statistic)
            parts = (name, statistic, question.against, question.group)
            finding = usable(card, ".".join(part for part in parts if part))
            if finding is None or finding.estimate is None:
                continue
            holds = question.holds(card, finding) if finding.status == "evidence" else "undecided"
            if holds is not None:
                says = capitalise(fill(question.claim))
                note = "" if question.note is None else question.note(card)
                needed = needed_for_claim(card, finding, question) if holds == "undecided" else None
                more = decided_by(needed, card.nouns.texts, few=finding.reason == "too few")
                yield Claim(says, holds, sentence(finding.verdict) + more, finding.name, note, needed)


def use_claims(card: AuditCard) -> Iterator[Claim]:
    """Whether attention prefers some tokens to others at all."""
    use = card.facts.get("attention_use")
    if card.method != ATTENTION or not use or not use["after"]:
        return
    layers, says = use["after"], card.nouns.fill(UNEQUAL)
    unused = [layer for layer in layers if is_unused(layer)]
    if any(use_is_unclear(layer) for layer in layers):
        which = "Attention is" if len(layers) == 1 else "Some layers are"
        needed = max(filter(None, map(needed_for_use, layers)), default=None)
        why = f"{which} nearly uniform or not.{decided_by(needed, card.nouns.texts)}"
        yield Claim(says, "undecided", why, "", entropy_range(layers), needed)
        return
    holds: Holds = "yes" if not unused else "no" if len(unused) == len(layers) else "in part"
    if len(layers) == 1:
        which = "Attention is" if unused else "Attention is not"
    elif unused and len(unused) < len(layers):
        which = f"{len(unused)} of {len(layers)} layers are"
    else:
        which = "All layers are" if unused else "No layer is"
    yield Claim(says, holds, f"{which} nearly uniform.", "", entropy_range(unused or layers))


def findings_sentence(
    card: AuditCard, outcomes: Mapping[str, Outcome | None], claims: Sequence[Claim]
) -> str:
    """What each audit of a card found, in one sentence, with what stayed undecided; empty for a card without
    any of the tests that it speaks of. Groups of words are mentioned where nothing else is known."""
    known = {name: outcome for name, outcome in outcomes.items() if outcome is not None}
    tokens = known.pop("tokens", None)
    words = [outcome.words for outcome in known.values() if outcome.words]
    undecided = [what for outcome in known.values() for what in outcome.undecided] + undecided_facts(card)
    open_findings = [finding for outcome in known.values() for finding in outcome.findings]
    left = join_names(undecided) + it_takes(card, open_findings, claims, guess_needed(card))
    if not words:
        overall = [finding for finding in card.findings if finding.group == "all"]
        few = all(finding.reason == "too few" for finding in overall if finding.status == "undecided")
        if not undecided or not known:
            return f"{capitalise(tokens.words)}." if tokens is not None and tokens.words else ""
        return f"Undecided{f', with too few {card.nouns.texts}' if few else ''}: {left}."
    text = capitalise(about_the_method(card, "; ".join(words)))
    return f"{text}; undecided: {left}." if undecided else f"{text}."


def summary_of(card: AuditCard, outcome: Outcome | None, claims: Sequence[Claim]) -> str | None:
    """What an audit comes to, as a sentence; None where that is left to its findings."""
    if outcome is None:
        return None
    more = it_takes(card, outcome.findings, claims)
    left = f"undecided: {join_names(outcome.undecided)}{more}" if outcome.undecided else ""
    words = about_the_method(card, outcome.words)
    return sentence(capitalise("; ".join(filter(None, (words, left)))))


def about_the_method(card: AuditCard, words: str) -> str:
    """Words about "it" as words about what was audited."""
    return f"{method_words(card.method)} {words[3:]}" if words.startswith("it ") else words


def undecided_facts(card: AuditCard) -> list[str]:
    """What the facts of a card leave open."""
    gauge = card.facts.get("gauge")
    open_facts = []
    if card.facts.get("against_guessing") == "undecided":
        open_facts.append("whether the model is better than guessing")
    if card.facts.get("signed") and isinstance(gauge, dict) and gauge.get("kind") == UNDECIDED:
        open_facts.append("what the sign of the weights means")
    return open_facts

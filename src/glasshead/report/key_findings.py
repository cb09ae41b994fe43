"""The front page: what a busy reviewer must know, in sentences that findings already carry."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from glasshead.nouns import nouns_of
from glasshead.report.difference_rows import can_be_judged, difference_sentence
from glasshead.report.number_format import count, finite, interval, number, round_up
from glasshead.report.run_facts import split_in_words
from glasshead.report.sign_gauge import sign_caution
from glasshead.results import (
    ATTENTION,
    CONSTRUCTED,
    METRIC_NAMES,
    MIN_UNITS,
    AuditCard,
    Difference,
    Finding,
    Quantity,
    guess_in_words,
    method_words,
    note_unused,
)
from glasshead.wording import join_names, percent

SHARED_FACTS = ("data", "split", "examples", "labels")
TEXTS = ("data", "split")
"""What says which texts were read: numbers about other texts are not larger or smaller than these."""


@dataclass(frozen=True)
class Answer:
    """One question of the first screen: the ``name`` of the findings that answer it, what is asked, the unit,
    why there is no null,
    each card's finding (or None), how the cards differ, and the ends of an axis that holds the findings."""

    name: str
    title: str
    unit: str
    no_null: str
    findings: list[Finding | None]
    difference: str
    limits: tuple[float, float]

    @property
    def audit(self) -> str:
        """The audit that asks it."""
        return self.name.partition(".")[0]


def answers(
    cards: Sequence[AuditCard], names: Sequence[str], differences: Sequence[Difference] = ()
) -> list[Answer]:
    """The questions of the first screen that at least one card has a number for, nothing that is true by
    construction.

    Two cards differ by their paired difference, and if there is none by their intervals, if they are about
    the same texts.
    """
    alike = all(same(cards, key) for key in TEXTS)
    result = []
    for name, quantity in titled_quantities(cards).items():
        findings = [_telling(card, name) for card in cards]
        if any(finding is not None for finding in findings):
            limits = axis_limits([finding for finding in findings if finding is not None], [quantity])
            paired = [
                difference_sentence(one, names, nouns_of(*(card.facts for card in cards)))
                for one in differences
                if one.name == name and all(map(speaks, (findings[one.one], findings[one.other])))
            ]
            differing = " ".join(paired) or (difference(findings, names) if alike else "")
            asked = (name, quantity.title, quantity.unit, quantity.no_null)
            result.append(Answer(*asked, findings, differing, limits))
    return result


def titled_quantities(cards: Sequence[AuditCard]) -> dict[str, Quantity]:
    """What the first screen asks, by the names of the findings that answer; in the order of the card that
    asks most."""
    found: dict[str, Quantity] = {}
    for card in sorted(cards, key=lambda card: -len(card.quantities)):
        for name, quantity in card.quantities.items():
            if quantity.title:
                found.setdefault(f"{name}.{quantity.group}", quantity)
    return found


def axis_limits(findings: Sequence[Finding], quantities: Iterable[Quantity]) -> tuple[float, float]:
    """The ends of the axis of one block's plots: those of the quantities where all have some, else round and
    with zero in it."""
    ranges = [quantity.range for quantity in quantities]
    if ranges and all(math.isfinite(end) for ends in ranges for end in ends):
        return min(low for low, _ in ranges), max(high for _, high in ranges)
    values = [0.0]
    for finding in findings:
        for value in (finding.estimate, *(finding.interval or ()), *finding.null.values()):
            if (amount := finite(value)) is not None:
                values.append(amount)
    return -round_up(-min(values)), round_up(max(values))


def speaks(finding: Finding | None) -> bool:
    """Whether the number of a finding says anything of its model."""
    return finding is not None and finding.status != "not evidence"


def same(cards: Sequence[AuditCard], key: str) -> bool:
    """Whether all cards agree on a fact."""
    return len({str(card.facts.get(key)) for card in cards}) < 2


def _telling(card: AuditCard, name: str) -> Finding | None:
    finding = card.finding(name)
    if finding is None or finding.estimate is None or finding.reason in CONSTRUCTED:
        return None
    if not card.quantity(name).title:  # such as signs of weights that have none
        return None
    return finding


def difference(findings: Sequence[Finding | None], names: Sequence[str]) -> str:
    """How several cards differ on one question, resting on intervals; empty for fewer than two answers."""
    known = [
        (name, finding.estimate, finding.interval)
        for name, finding in zip(names, findings, strict=True)
        if finding is not None and finding.estimate is not None and finding.interval is not None
        if speaks(finding)
    ]
    if len(known) < 2:
        return ""
    level = percent(max(finding.level for finding in findings if finding is not None))
    (name, top, (low, _)), *others = sorted(known, key=lambda entry: -entry[1])
    close = [other for other, _, (_, high) in others if high >= low]
    if len(close) == len(others):
        return f"The {level} intervals overlap."
    if close:
        return f"Largest for {name}, but its {level} interval overlaps that of {', '.join(close)}."
    if len(others) > 1:
        return f"Largest for {name}; its {level} interval overlaps no other."
    gap = number(top - others[0][1])
    return f"Larger for {name} than for {others[0][0]} by {gap}; the {level} intervals do not overlap."


def data_name(card: AuditCard) -> str:
    """What the data of an audit are called, without the folders that they lie in."""
    return str(card.facts.get("data") or "unnamed data").rstrip("/").rsplit("/", 1)[-1]


def metrics_in_words(card: AuditCard) -> list[str]:
    """How well the model predicts these data, by each measure."""
    return [
        f"{name}\u00a0{number(card.facts[key])}"
        for key, name in METRIC_NAMES.items()
        if finite(card.facts.get(key)) is not None
    ]


def intro_sentence(card: AuditCard) -> str:
    """One sentence on what was audited."""
    facts = card.facts
    data = data_name(card)
    sentence = (
        f"{count(facts['examples'])} examples of {data}"
        if "examples" in facts
        else data[:1].upper() + data[1:]
    )
    if facts.get("split"):
        sentence += f" ({split_in_words(str(facts['split']))})"
    mechanism = facts.get("activation") or facts.get("attention")
    if mechanism not in (None, "", ATTENTION):  # without a name, or there is none
        sentence += f", read with {mechanism} attention"
    if card.method != ATTENTION:
        sentence += f", explained by {card.method}"
    measured = metrics_in_words(card)
    sentence = f"{sentence}: {', '.join(measured)}." if measured else f"{sentence}."
    if facts.get("reading"):
        sentence += f" The attention analysed: {facts['reading']}."
    maps = facts.get("identifiability")
    return (
        f"{sentence} Identifiability is measured at {maps['read']}." if isinstance(maps, dict) else sentence
    )


def use_caution(card: AuditCard) -> str:
    """Which layers hardly use their attention, as far as the card says; "" if all do."""
    use = card.facts.get("attention_use")
    return note_unused(use["after"]) if use else ""


def over_guessing(card: AuditCard) -> str:
    """By how much: `` (accuracy 0.610, the guess 0.580, difference +0.030 [−0.050, +0.110])``."""
    numbers = card.facts.get("guessing")
    if not isinstance(numbers, dict) or numbers.get("difference") is None:
        return ""
    name, guess, gap = numbers["score"], numbers["of_the_guess"], numbers["difference"]
    score = card.facts.get(name, numbers.get("of_the_model"))
    ends = "" if numbers["interval"] is None else f" {interval(numbers['interval'], plus=True)}"
    return (
        f" ({METRIC_NAMES.get(name, name)} {number(score)}, the guess {number(guess)}, "
        f"difference {number(gap, plus=True)}{ends})"
    )


def cautions(cards: Sequence[AuditCard], names: Sequence[str]) -> list[str]:
    """What a reader must know before believing the rest; what holds of several cards stands once."""
    subjects: dict[str, list[str]] = {}
    for card, name in zip(cards, names, strict=True):
        for caution in card_cautions(card):
            subjects.setdefault(caution, []).append(name)
    notes = [f"{join_names(about)}: {caution}" for caution, about in subjects.items()]
    for key in SHARED_FACTS:
        if not same(cards, key):
            notes.append(f"The audits differ in their {key}: compare them with care.")
    return notes


def card_cautions(card: AuditCard) -> Iterator[str]:
    """Those of one card."""
    nouns = nouns_of(card.facts)
    guess = guess_in_words(card.facts)
    explanation = "its attention" if card.method == ATTENTION else method_words(card.method)
    if card.facts.get("against_guessing") == "not better":
        yield (
            f"the model is not better than {guess}{over_guessing(card)}. Then the agreement of "
            f"{explanation} is of little interest."
        )
    if card.facts.get("against_guessing") == "undecided":
        size = f"{count(card.facts['examples'])} " if "examples" in card.facts else ""
        numbers = card.facts.get("guessing")
        too_few = isinstance(numbers, dict) and (numbers.get("n") or MIN_UNITS) < MIN_UNITS
        shown = (
            f"these {size}{nouns.texts} are too few to show whether the model is better than {guess}: at "
            f"least {MIN_UNITS} are needed. "
            if too_few
            else f"these {size}{nouns.texts} do not show whether the model is better than "
            f"{guess}{over_guessing(card)}. "
        )
        yield (f"{shown}If it is not, the agreement of {explanation} is of little interest.")
    yield from filter(None, (use_caution(card), sign_caution(card)))
    if "sink_share" in card.facts:
        yield (
            f"{number(card.facts['sink_share'])} of the weights of {nouns.a_text} is on its first token, an "
            f"attention sink, which affects every number about the order of {nouns.tokens}. Findings "
            f"'without the first token' keep its weight, and are about the other {nouns.tokens}."
        )


def comparison_headline(
    cards: Sequence[AuditCard], names: Sequence[str], differences: Sequence[Difference]
) -> str:
    """For two cards: in how many of the questions that both decide a paired difference is clear of zero, each
    at its own level; of others, what they are called."""
    asked = titled_quantities(cards)
    judged = []
    for each in differences:
        both = [found for at in (each.one, each.other) if (found := cards[at].finding(each.name)) is not None]
        if each.name in asked and len(both) == 2 and can_be_judged(each, both):
            judged.append(each)
    if len(cards) != 2 or not judged:
        return join_names(names)
    clear = sum(not each.interval[0] <= 0 <= each.interval[1] for each in judged if each.interval)
    level = percent(min(each.level for each in judged))
    return (
        f"{join_names(names)} are shown to differ in {clear} of {len(judged)} questions asked of the same "
        f"{nouns_of(*(card.facts for card in cards)).texts}, at {level} each"
    )

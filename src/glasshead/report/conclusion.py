"""What an audit comes to, in one sentence: from intervals and statuses of findings, not from their words."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from glasshead.nouns import nouns_of
from glasshead.report.difference_rows import can_be_judged
from glasshead.report.labels import join_names, method_words, questions
from glasshead.report.number_format import count, finite
from glasshead.report.slice_tables import percent
from glasshead.results import (
    ABSOLUTE,
    AGREEMENT_STRENGTHS,
    ALMOST_ALL,
    ATTENTION,
    HARDLY_ANY,
    LARGE_CHANGE,
    NEGLIGIBLE,
    REGRESSION,
    SMALL_CHANGE,
    UNDECIDED,
    AuditCard,
    Difference,
    Finding,
)
from glasshead.statistics import typical_range

METHODS = {"gradient": "gradients", "erasure-renormalise": "weight removal"}
ADVERBS = {"strong": "strongly", "moderate": "moderately", "weak": "weakly", "hardly": "hardly"}
GOOD_AGREEMENT = {word: low for low, word in AGREEMENT_STRENGTHS}["moderate"]
FOUND, FEW_TEXTS = "adversarial.found", 0.1
Interval = tuple[float, float]


@dataclass(frozen=True)
class Outcome:
    """What one audit comes to: ``words`` about what was audited ("it"), and what stayed ``undecided``."""

    words: str = ""
    undecided: tuple[str, ...] = ()


def findings_sentence(card: AuditCard) -> str:
    """What each audit of a card found, in one sentence, with what stayed undecided; empty for a card without
    any of the tests that it speaks of."""
    outcomes = [outcome for name in TESTS if (outcome := audit_outcome(card, name)) is not None]
    words = [outcome.words for outcome in outcomes if outcome.words]
    undecided = [what for outcome in outcomes for what in outcome.undecided] + undecided_facts(card)
    if not words:
        few = all(f.reason == "too few" for f in key_findings(card) if f.status == "undecided")
        tokens = audit_outcome(card, "tokens")
        if not undecided or not outcomes:
            return f"{capitalise(tokens.words)}." if tokens is not None and tokens.words else ""
        return f"Undecided{f', with too few {card.nouns.texts}' if few else ''}: {join_names(undecided)}."
    text = capitalise(about_the_method(card, "; ".join(words)))
    return f"{text}; undecided: {join_names(undecided)}." if undecided else f"{text}."


def comparison_headline(
    cards: Sequence[AuditCard], names: Sequence[str], differences: Sequence[Difference]
) -> str:
    """Of two cards: in how many of the questions that both decide a paired difference is clear of zero, each
    at its own level; of others, what they are called."""
    unsigned = any(card.facts.get("signed") is False for card in cards)
    asked = {one.finding for one in questions(cards) if not (one.signed and unsigned)}
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


def about_the_method(card: AuditCard, words: str) -> str:
    """Words about "it" as words about what was audited."""
    return f"{method_words(card.method)} {words[3:]}" if words.startswith("it ") else words


def audit_outcome(card: AuditCard, audit: str) -> Outcome | None:
    """What one audit of a card comes to; None where it was not made, or has no such test."""
    return (TESTS | MORE_TESTS)[audit](card) if audit in TESTS | MORE_TESTS else None


def agreement(card: AuditCard) -> Outcome | None:
    """Whether the sizes of weights, or else contributions, or another explanation, order tokens as
    gradients and erasure do."""
    by_size = f"agreement.{card.statistic}{ABSOLUTE}"
    weights = {method: usable(card, f"{by_size}.{method}.all") for method in METHODS}
    known = {METHODS[method]: finding for method, finding in weights.items() if finding is not None}
    undecided = tuple(
        f"agreement with {method}" for method, finding in known.items() if decisive(finding) is None
    )
    subject = "it"
    if card.method == ATTENTION and (not known or len(undecided) == len(known)):
        subject = f"what {card.nouns.tokens} contribute"
        contributed = {m: usable(card, f"agreement.contribution.{m}.all") for m in METHODS}
        known = {METHODS[method]: finding for method, finding in contributed.items() if finding is not None}
    levels = {method: agreement_level(f) for method, f in known.items() if decisive(f) is not None}
    if not levels:
        return Outcome(undecided=undecided) if undecided else None
    numbers = "weights" if card.method == ATTENTION else "scores"
    return Outcome(f"{subject} {agreement_words(levels, numbers)}", undecided)


def agreement_level(finding: Finding) -> str:
    """How strong an agreement is at least; ``below`` and ``unclear`` are of the difference from random
    weights, ``uniform`` of that from uniform ones, which is not shown to be above 0."""
    low, _ = decisive(finding) or (0.0, 0.0)
    over_low, over_high = over_random(finding)
    if over_high < 0:
        return "below"
    if over_low <= 0:
        return "unclear"
    uniform = finding.over_null.get("uniform")
    if uniform is not None and (uniform.interval is None or uniform.interval[0] <= 0):
        return "uniform"
    return next((word for least, word in AGREEMENT_STRENGTHS if low >= least), "hardly")


def agrees(finding: Finding) -> bool | None:
    """Whether an agreement is moderate or more, and above that of random weights; None: undecided."""
    level = agreement_level(finding)
    if finding.status != "evidence" or finding.interval is None:
        return None
    if level in ("strong", "moderate"):
        return True
    _, high = decisive(finding) or (0.0, 1.0)
    return False if level == "below" or high < GOOD_AGREEMENT else None


def is_large_where_tokens_matter(card: AuditCard, measure: str) -> bool | None:
    """Whether what was audited is large where tokens matter by a measure: it orders the tokens as the measure
    does, and more of it lies on important tokens than if all had the same. Without the second, one token
    that holds nearly everything and does nothing would count as little as any other.

    None: undecided.
    """
    by_size = usable(card, f"agreement.{card.statistic}{ABSOLUTE}.{measure}.all")
    focus = usable(card, f"agreement.focus.{measure}.all")
    order = None if by_size is None else agrees(by_size)
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


def over_random(finding: Finding) -> Interval:
    """The interval of the paired difference from random weights; of cards without one, that of the estimate
    minus the null."""
    paired = finding.over_null.get("random")
    if paired is not None and paired.interval is not None:
        return paired.interval
    low, high = decisive(finding) or (0.0, 0.0)
    random = finite(finding.null.get("random")) or 0.0
    return low - random, high - random


def perturbation(card: AuditCard) -> Outcome | None:
    """Whether the answer depends on which token has which weight."""
    finding = usable(card, "perturbation.permutation.absolute.all")
    if finding is None:
        return None
    whole = prediction_range(card)
    if decisive(finding) is not None and whole is None:
        return Outcome()
    return shuffling(finding, "the answer", whole)


def shuffling(finding: Finding, what: str, whole: float | None) -> Outcome:
    """Whether shuffled weights change it by more than a little of its ``whole`` range."""
    interval = decisive(finding)
    if interval is None or whole is None or interval[0] < SMALL_CHANGE * whole <= interval[1]:
        return Outcome("", (f"whether shuffling the weights changes {what} by more than a little",))
    low, high = interval
    if high < SMALL_CHANGE * whole:
        return Outcome(f"shuffling the weights hardly changes {what}")
    size = " much" if low >= LARGE_CHANGE * whole else ""
    return Outcome(f"shuffling the weights changes {what}{size}")


def prediction_range(card: AuditCard) -> float | None:
    """From one end of the predictions to the other: 1 for probabilities, else the range of the labels but for
    strays."""
    if card.facts.get("task") != REGRESSION:
        return 1.0
    ratings = [amount for value in card.examples.get("label", ()) if (amount := finite(value)) is not None]
    return typical_range(ratings) or None


def faithfulness(card: AuditCard) -> Outcome | None:
    """Whether it is more faithful than a random order, which is too little to speak for it."""
    finding = usable(card, "faithfulness.comprehensiveness.all")
    if finding is None:
        return None
    if decisive(finding) is None:
        return Outcome(undecided=("faithfulness against a random order",))
    low, high = over_random(finding)
    random = f"a random order of the {card.nouns.tokens}"
    if max(-low, high) < NEGLIGIBLE * (prediction_range(card) or 0.0):
        return Outcome(f"it is about as faithful as {random}")
    if low > 0:
        return Outcome(f"it is more faithful than {random}")
    if high < 0:
        return Outcome(f"it is less faithful than {random}")
    return Outcome(f"it is not shown to be more faithful than {random}")


def identifiability(card: AuditCard) -> Outcome | None:
    """Whether other weights would have given the same output."""
    finding = usable(card, "identifiability.identifiable.all")
    if finding is None:
        return None
    interval = decisive(finding)
    if interval is None:
        return Outcome(undecided=("whether other weights give the same output",))
    (low, high), left = interval, sum(finding.undefined.values())
    of = f" of those decided ({count(left)} were not)" if left else ""
    alone, others = "no other weights give the same output", "other weights give the same output"
    if low >= ALMOST_ALL:
        every = f"in every map{of}" if finding.estimate == 1 else f"in almost every map{of}"
        return Outcome(f"{every} {alone}")
    if high <= HARDLY_ANY:
        every = f"in every map{of}" if finding.estimate == 0 else f"in almost every map{of}"
        return Outcome(f"{every} {others}")
    if low > 0.5:
        return Outcome(f"in most maps{of} {alone}")
    return Outcome(f"in {'most' if high < 0.5 else 'some'} maps{of} {others}")


def tokens(card: AuditCard) -> Outcome | None:
    """Whether contributions tell words of one class from those of the other."""
    finding = usable(card, "tokens.separation.contribution.positive vs negative")
    if finding is None:
        return None
    interval = decisive(finding)
    if interval is None:
        return Outcome(undecided=("whether contributions tell positive from negative words",))
    low, high = interval
    if low <= 0.5 <= high:
        return Outcome("contributions are not shown to tell positive from negative words")
    wrong = ", the wrong way round" if high < 0.5 else ""
    return Outcome(f"contributions tell positive from negative words{wrong}")


def operators(card: AuditCard) -> Outcome | None:
    """Whether agreement with erasure is the same whatever deleting means."""
    finding = usable(card, f"operators.{card.statistic}{ABSOLUTE}.survival.all")
    if finding is None:
        return None
    share = finite(finding.estimate)
    if finding.status == "undecided" or share is None:
        return Outcome(undecided=("whether it agrees with erasure under every type of deletion",))
    if share == 1:
        return Outcome("it agrees with erasure better than chance under every type of deletion")
    if share == 0:
        return Outcome("it is not shown to agree with erasure under any type of deletion")
    return Outcome("whether it agrees with erasure depends on the type of deletion")


def adversarial(card: AuditCard) -> Outcome | None:
    """Whether quite other weights give the same prediction, and whether the head could have drawn them.

    Among many tokens nearly any model has some (the free test).
    """
    free = usable(card, f"{FOUND}.free.all")
    if free is None:
        return None
    interval = decisive(free)
    others, nouns = "very different weights give the same prediction", card.nouns
    if interval is None:
        return Outcome(undecided=(f"whether {others}",))
    low, high = interval
    if high <= FEW_TEXTS:
        return Outcome(f"{others} in hardly any {nouns.text}{of_which(card)}")
    if low <= FEW_TEXTS:
        return Outcome(undecided=(f"in how many {nouns.texts} {others}",))
    if low <= 0.5:
        return Outcome(f"{others} in some {nouns.texts}")
    producible = usable(card, f"{FOUND}.producible.all")
    drawn = None if producible is None else decisive(producible)
    if drawn is not None and drawn[0] > 0.5:
        return Outcome(f"{others} in most {nouns.texts}, and the head can produce them")
    return Outcome(f"{others} in most {nouns.texts}")


def hardly_flat(card: AuditCard) -> bool:
    """Whether hardly any prediction stays as it is whatever the weights."""
    flat = card.finding("adversarial.flat.all")
    ends = None if flat is None else decisive(flat)
    return ends is not None and ends[1] <= FEW_TEXTS


def of_which(card: AuditCard) -> str:
    """That some texts do not count, where that is so."""
    flat = card.finding("adversarial.flat.all")
    if flat is None or not flat.estimate or hardly_flat(card):
        return ""
    return f", of those whose prediction some weights change (not {flat.estimate:.0%})"


def adversary_is_exact(card: AuditCard) -> bool:
    """Whether a map that was not found does not exist."""
    facts = card.facts.get("adversarial")
    return isinstance(facts, dict) and facts.get("free") == "exact"


def heads(card: AuditCard) -> Outcome | None:
    """Whether the prediction rests on the heads that are read."""
    finding, whole = usable(card, "heads.removal.all"), prediction_range(card)
    if finding is None or whole is None:
        return None
    interval = decisive(finding)
    if interval is None:
        return Outcome(undecided=("how much the prediction depends on the heads whose attention is shown",))
    if interval[1] < SMALL_CHANGE * whole:
        return Outcome("the answer hardly changes without the heads whose attention is shown")
    return Outcome()


def clicked_news(card: AuditCard) -> Outcome | None:
    """Whether attention at the news level orders the clicked news as erasing them does."""
    return erasure_of_units(card, "clicks", "attention over the clicked news")


def title_words(card: AuditCard) -> Outcome | None:
    """Whether attention at the word level orders the words of a title as erasing them does."""
    return erasure_of_units(card, "words", "attention over the words of the title")


def erasure_of_units(card: AuditCard, audit: str, subject: str) -> Outcome | None:
    """Whether the weights of a level of a recommender agree with erasure."""
    finding = usable(card, f"{audit}.attention.erasure.all")
    if finding is None:
        return None
    if decisive(finding) is None:
        return Outcome(undecided=(f"whether {subject} agrees with erasure",))
    level = agreement_level(finding)
    return Outcome(f"{subject} {agreement_words({'erasure': level})}")


def recommendation(card: AuditCard) -> Outcome | None:
    """Whether a recommendation depends on which clicked news item has which weight."""
    finding = usable(card, "ranking.shift.permuted-pooling.all")
    return None if finding is None else shuffling(finding, "the recommendation", 1.0)


TESTS = {
    "agreement": agreement,
    "perturbation": perturbation,
    "adversarial": adversarial,
    "heads": heads,
    "identifiability": identifiability,
    "faithfulness": faithfulness,
    "operators": operators,
    "clicks": clicked_news,
    "words": title_words,
    "ranking": recommendation,
}
MORE_TESTS = {"tokens": tokens}


def undecided_facts(card: AuditCard) -> list[str]:
    """What the facts of a card leave open."""
    gauge = card.facts.get("gauge")
    open_facts = []
    if card.facts.get("against_guessing") == "undecided":
        open_facts.append("whether the model is better than guessing")
    if card.facts.get("signed") and isinstance(gauge, dict) and gauge.get("kind") == UNDECIDED:
        open_facts.append("where the sign of the weights lives")
    return open_facts


def key_findings(card: AuditCard) -> Iterator[Finding]:
    """The findings of all examples."""
    return (finding for finding in card.findings if finding.group == "all")


def usable(card: AuditCard, name: str) -> Finding | None:
    """A finding that could say something, however little is known: what is no evidence at all is none."""
    finding = card.finding(name)
    return None if finding is None or finding.status == "not evidence" else finding


def decisive(finding: Finding) -> Interval | None:
    """The interval on which words may rest; None where it was left undecided. A bound leaves one end open."""
    if finding.status == "undecided" or finding.limit is None:
        return None if finding.status == "undecided" else finding.interval
    return (finding.limit, math.inf) if finding.bound == "lower" else (-math.inf, finding.limit)


def capitalise(text: str) -> str:
    """The same with a capital first."""
    return text[:1].upper() + text[1:]

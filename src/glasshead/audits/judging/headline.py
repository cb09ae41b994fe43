"""What an audit says first: a table of cases, each a few answers and a sentence.

Two questions decide it, in this order.

1. Do the weights decide the predictions? They do in a text where uniform weights give another class, or
   change ŷ by a twentieth of the range of predictions or more. Uniform weights are the baseline, text by
   text: they know nothing about tokens, so a prediction that they leave as it is does not need the weights.
   The words give the share of such texts with its interval. Shuffled weights do not answer this: they leave
   as it is whatever depends on the sum of the weights, and may change what uniform weights leave as it is.
2. If the weights decide any prediction: are they large where a token matters? Gradients and erasure answer.

Both are about the layer whose attention was audited, and the words name it where there are several. All
other findings stay out of it. Other maps with the same prediction or the same output exist for nearly every
long text, and for no short one, whatever the model does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from glasshead.audits.judging.agreement_strength import METHODS, is_large_where_tokens_matter, lies_on_sinks
from glasshead.audits.judging.question import (
    answer_of,
    by_size,
    prediction_range,
    usable,
)
from glasshead.audits.judging.summary import few_tokens
from glasshead.nouns import Nouns
from glasshead.results import (
    ATTENTION,
    GIVEN_ANSWER,
    REGRESSION,
    SMALL_CHANGE,
    TOKEN,
    Answer,
    AuditCard,
    Claim,
    Conclusion,
    Finding,
    LayerUse,
    entropy_range,
    extent_of,
    is_unused,
    method_words,
    use_is_unclear,
)
from glasshead.wording import join_names, percent, taking


class Case(NamedTuple):
    """Where all conditions ``when`` hold, and those of no case before it, the card ``says`` this."""

    when: Mapping[str, tuple[str, ...]]
    says: str


DECIDE = "The weights{layer} decide {which}"
CHANGE = "{would_change}.{order}"
CASES = (
    Case(
        {"guessing": ("not better",)},
        "The model is no better than guessing, so what {subject} matters little.",
    ),
    Case({"decides": ("not tested",)}, "{findings}"),
    Case(
        {"choice": ("one token",)},
        "Every {text} has a single {token}, which gets all the weight, so attention{layer} explains nothing "
        "here.",
    ),
    Case(
        {"choice": ("one value",)},
        "All {tokens} of {a_text} carry the same value, so it makes no difference which of them gets the "
        "weight: attention{layer} does not say which {tokens} matter.",
    ),
    Case(
        {"weights": ("equal",)},
        "Attention{layer} is uniform: all {tokens} of {a_text} have the same weight, so it does not say "
        "which {tokens} matter{elsewhere}.",
    ),
    Case(
        {"decides": ("undecided",)},
        "{these} {texts} do not settle whether the weights{layer} decide the predictions{more}. "
        "{would_change}.",
    ),
    Case(
        {"decides": ("no",), "shuffled": ("yes", "in part")},
        "The weights{layer} do not decide these predictions. {would_change}; shuffled weights would in "
        "{shuffled}.",
    ),
    Case(
        {"decides": ("no",)},
        "The weights{layer} do not decide these predictions. {would_change}.",
    ),
    Case(
        {"weights": ("nearly equal",), "points": ("no",)},
        "All {tokens} of {a_text} have nearly the same weight ({entropy}), so attention{layer} does not say "
        "which {tokens} matter. {would_change}.",
    ),
    Case(
        {"points": ("yes",)},
        f"{DECIDE}, and {{they}} large where {{a_token}} matters, according to {{agreeing}}. {CHANGE}",
    ),
    Case(
        {"points": ("by weight alone",)},
        f"{DECIDE}, and {{they}} large where {{a_token}} matters, according to {{agreeing}}; but {{tokens}} "
        "with large weights contribute less than others and matter only by taking weight from them. "
        f"{CHANGE}",
    ),
    Case(
        {"points": ("by one measure",)},
        f"{DECIDE}, and {{they}} large where {{a_token}} matters according to {{agreeing}}, but not to "
        f"{{disagreeing}}. {CHANGE}",
    ),
    Case(
        {"points": ("by one at least",)},
        f"{DECIDE}, and {{they}} large where {{a_token}} matters according to {{agreeing}}; by {{open}} this "
        f"is not settled{{more}}. {CHANGE}",
    ),
    Case(
        {"points": ("no",)},
        f"{DECIDE}, but {{they}} at most weakly larger where {{a_token}} matters, according to "
        f"{{disagreeing}}. {CHANGE}",
    ),
    Case(
        {"points": ("undecided",)},
        f"{DECIDE}; whether {{they}} large where {{a_token}} matters is not settled{{more}}. {CHANGE}",
    ),
    Case({}, f"{DECIDE}. {CHANGE}"),
)
"""Tried from the first on."""
POINTS: Mapping[str, Answer] = {
    "by weight alone": "in part",
    "by one measure": "in part",
    "by one at least": "in part",
    "yes": "yes",
    "no": "no",
    "undecided": "undecided",
    "not tested": "not tested",
}


def headline(card: AuditCard, findings: str, claims: Sequence[Claim]) -> Conclusion:
    """The first sentence on a card and the two answers that it puts into words. For a card that does not ask
    whether the weights decide, what its audits found (``findings``). What is not settled says about how many
    inputs would settle it, as the ``claims`` on it do."""
    answers = answers_of(card)
    case = first_case(answers)
    fields = fields_of(card, answers, findings) | {"more": more_words(card, answers, claims)}
    says = card.nouns.fill(case.says, **fields)
    if answers["guessing"] == "undecided" and answers["decides"] != "not tested":
        more = it_takes(card, [], claims, guess_needed(card))
        open_end = f"These {card.nouns.texts} do not settle whether the model is better than guessing{more}."
        says_more = case.says.startswith(DECIDE)
        says = f"{open_end} If it is: {says[:1].lower()}{says[1:]}" if says_more else f"{says} {open_end}"
    return Conclusion(says, weights_decide(card), POINTS[answers["points"]])


def first_case(answers: Mapping[str, str]) -> Case:
    """The first one whose conditions hold."""
    return next(case for case in CASES if all(answers[name] in of for name, of in case.when.items()))


def answers_of(card: AuditCard) -> dict[str, str]:
    """What the conditions of the cases are about."""
    weights = "nearly equal" if nearly_uniform(card) else "unequal"
    return {
        "guessing": str(card.facts.get("against_guessing", "not tested")),
        "choice": choice_of(card),
        "weights": "equal" if equal_by_construction(card) else weights,
        "decides": weights_decide(card),
        "shuffled": answer_of(card, share_of(card, "permutation")),
        "points": weights_point(card),
    }


def weights_decide(card: AuditCard) -> Answer:
    """Whether uniform weights would give other predictions: no, where no other weights can."""
    if choice_of(card) != "yes" or equal_by_construction(card):
        return "no"
    return answer_of(card, share_of(card, "uniform"))


def choice_of(card: AuditCard) -> str:
    """Whether other weights could change any prediction, and if not why."""
    uniform = share_of(card, "uniform")
    if uniform is None or uniform.reason == "same value":
        return "yes" if uniform is None else "one value"
    single = uniform.undefined.get(few_tokens(card.nouns), 0)
    return "one token" if single and not uniform.n else "yes"


def weights_point(card: AuditCard) -> str:
    """Whether weights are large where a token matters, by both measures or one.

    By weight alone, where those tokens matter only by the weight that they take from others. Nearly uniform
    weights are large nowhere, unless a measure finds otherwise: one peak among many tokens leaves the entropy
    high.
    """
    if equal_by_construction(card):
        return "no"
    known = pointing(card)
    if nearly_uniform(card) and True not in known.values():
        return "no"
    if not known:
        return "not tested"
    answers = set(known.values())
    if answers == {True}:
        return "by weight alone" if lies_on_sinks(card) else "yes"
    if answers == {False}:
        return "no"
    if True in answers:
        return "by one measure" if False in answers else "by one at least"
    return "undecided"


def fields_of(card: AuditCard, answers: Mapping[str, str], findings: str) -> dict[str, str]:
    """What is put into the sentence of a case."""
    nouns, of_attention = card.nouns, card.method == ATTENTION
    uniform, shuffled = share_of(card, "uniform"), share_of(card, "permutation")
    known = pointing(card)
    agreeing, disagreeing, undecided = (
        join_names([METHODS[method] for method in METHODS if method in known and known[method] is answer])
        for answer in (True, False, None)
    )
    would_change = which = order = shuffled_words = ""
    if uniform is not None:
        would_change = f"Uniform weights would {change_words(card)} in {share_words(uniform, nouns)}"
        extent = "undecided" if uniform.interval is None else extent_of(uniform.interval)
        which = "these predictions" if extent == "nearly all" else f"{extent} of these predictions"
    if shuffled is not None:
        shuffled_words = share_words(shuffled, nouns)
        if shuffled.reason == "same value":
            order = f" All {nouns.tokens} of {nouns.a_text} carry the same value, so only the sum matters."
        elif answers["shuffled"] == "no":
            order = (
                f" Shuffled weights would in {shuffled_words}, so it hardly matters which {nouns.token} has "
                "which weight."
            )
    elsewhere = f"; other layers give some {nouns.tokens} more weight than others"
    return {
        "findings": findings,
        "subject": "its attention does" if of_attention else f"{method_words(card.method)} says",
        "layer": layer_words(card),
        "elsewhere": elsewhere if others_prefer_tokens(card) else "",
        "these": "So few" if uniform is not None and uniform.reason == "too few" else "These",
        "would_change": would_change,
        "shuffled": shuffled_words,
        "order": order,
        "entropy": entropy_range(uses_of_layer(card)),
        "which": which,
        "they": "they are" if of_attention else f"{method_words(card.method)} is",
        "agreeing": agreeing,
        "disagreeing": disagreeing,
        "open": undecided,
    }


def more_words(card: AuditCard, answers: Mapping[str, str], claims: Sequence[Claim]) -> str:
    """About how many inputs would settle what a case leaves open: all of it."""
    if answers["decides"] == "undecided":
        open_findings = [share_of(card, "uniform")]
    else:
        open_findings = [
            card.finding(by_size(card, "agreement", method))
            for method, answer in pointing(card).items()
            if answer is None
        ]
    return it_takes(card, [finding for finding in open_findings if finding is not None], claims)


def it_takes(card: AuditCard, findings: Iterable[Finding], claims: Sequence[Claim], *more: int | None) -> str:
    """About how many inputs would decide open findings, or the claims that depend on them, and what else
    needs
    so many ``more``: the largest number, in brackets; empty where none is known."""
    by_claim = {claim.finding: claim.inputs_needed for claim in claims if claim.holds == "undecided"}
    needed, few = [*more], False
    for finding in findings:
        needed.append(by_claim.get(finding.name, finding.inputs_needed))
        few |= finding.reason == "too few"
    known = [number for number in needed if number is not None]
    return taking(max(known, default=None), card.nouns.texts, few=few)


def guess_needed(card: AuditCard) -> int | None:
    """About how many inputs would show whether the model is better than guessing, where that is open."""
    numbers = card.facts.get("guessing")
    if card.facts.get("against_guessing") != "undecided" or not isinstance(numbers, dict):
        return None
    needed = numbers.get("inputs_needed")
    return None if needed is None else int(needed)


def pointing(card: AuditCard) -> dict[str, bool | None]:
    """Whether weights are large where a token matters by each measure of that, as far as that was asked."""
    asked = [method for method in METHODS if usable(card, by_size(card, "agreement", method)) is not None]
    return {method: is_large_where_tokens_matter(card, method) for method in asked}


def layer_words(card: AuditCard) -> str:
    """`` of the last layer``: whose weights were audited; empty where a model has only one attention."""
    site = card.facts.get("attention_layer")
    if site is None:
        return ""
    head = "" if site["head"] is None else f" of head {site['head']}"
    if site["layers"] == 1:
        return head
    last = site["layer"] == site["layers"] - 1
    layer = "the last layer" if last else f"layer {site['layer']} (the first is 0)"
    return f"{head} of {layer}"


def layer_uses(card: AuditCard) -> list[LayerUse]:
    """How all layers use their attention."""
    return (card.facts.get("attention_use") or {}).get("after") or []


def uses_of_layer(card: AuditCard) -> list[LayerUse]:
    """How the audited layer does; all layers, where the card does not say which it was."""
    site = card.facts.get("attention_layer")
    return [use for use in layer_uses(card) if site is None or use["layer"] == site["layer"]]


def others_prefer_tokens(card: AuditCard) -> bool:
    """Whether another layer certainly gives some tokens more weight than others."""
    own = uses_of_layer(card)
    others = [use for use in layer_uses(card) if use not in own]
    return any(not is_unused(use) and not use_is_unclear(use) for use in others)


def change_words(card: AuditCard) -> str:
    """What counts as another prediction."""
    if card.facts.get("task") == REGRESSION:
        return f"move the rating by {SMALL_CHANGE * (prediction_range(card) or 0.0):.3g} or more"
    if card.facts.get("task") == GIVEN_ANSWER:
        return f"make the answer {SMALL_CHANGE:.0%} more or less likely"
    predicted = "token" if card.facts.get("task") == TOKEN else "class"
    return f"change the predicted {predicted}, or its probability by at least {SMALL_CHANGE:g},"


def share_of(card: AuditCard, test: str) -> Finding | None:
    """The share of the texts whose prediction other weights change."""
    return card.finding(f"perturbation.{test}.share.all")


def share_words(finding: Finding, nouns: Nouns) -> str:
    """``72 % of texts (95 % interval 62 % to 81 %)``."""
    if finding.estimate is None or finding.interval is None:
        return f"an unknown share of {nouns.texts}"
    low, high = finding.interval
    share, *ends = (f"{100 * value:.0f}\u00a0%" for value in (finding.estimate, low, high))
    return f"{share} of {nouns.texts} ({percent(finding.level)} interval {' to '.join(ends)})"


def equal_by_construction(card: AuditCard) -> bool:
    """Whether all tokens of every text have the same weight."""
    uniform = share_of(card, "uniform")
    return uniform is not None and uniform.reason == "by construction"


def nearly_uniform(card: AuditCard) -> bool:
    """Whether the audited layer gives nearly the same weight to all tokens."""
    uses = uses_of_layer(card) if card.method == ATTENTION else []
    return bool(uses) and all(is_unused(use) and not use_is_unclear(use) for use in uses)

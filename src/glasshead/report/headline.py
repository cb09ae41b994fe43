"""What an audit says first: the words that page, terminal, model card and ``card.json`` share.

Two questions decide it, in this order.

1. Do the weights decide the predictions? They do in a text where uniform weights give another class, or
   change ŷ by a twentieth of the range of predictions or more. Uniform weights are the baseline, text by
   text: they know nothing about tokens, so a prediction that they leave as it is does not need the weights.
   The words give the share of such texts with its interval. Shuffled weights do not answer this: they leave
   as it is whatever rests on the sum of the weights, and may change what uniform weights leave as it is.
2. If the weights decide any prediction: are they large where a token matters? Gradients and erasure answer.

Both are about the layer whose attention was audited, and the words name it where there are several. All
other findings stay out of it. Other maps with the same prediction or the same output exist for nearly every
long text, and for no short one, whatever the model does.
"""

from dataclasses import asdict, dataclass
from typing import Any, Literal

from glasshead.nouns import Nouns
from glasshead.report.claims import in_how_many, judge_claims
from glasshead.report.conclusion import (
    METHODS,
    findings_sentence,
    is_large_where_tokens_matter,
    lies_on_sinks,
    prediction_range,
    usable,
)
from glasshead.report.labels import join_names, method_words
from glasshead.report.number_format import number
from glasshead.results import (
    ABSOLUTE,
    ATTENTION,
    EXPLANATION,
    NEXT_TOKEN,
    REGRESSION,
    SMALL_CHANGE,
    AuditCard,
    Finding,
    LayerUse,
    entropy_range,
    extent_of,
    is_unused,
    use_is_unclear,
)

Decides = Literal["yes", "in part", "no", "undecided", "not asked"]
Points = Decides


@dataclass(frozen=True)
class Headline:
    """The first sentence, and the two answers that it puts into words."""

    says: str
    decides: Decides
    points: Points


def verdict(card: AuditCard) -> str:
    """The first sentence on a card; empty where its audits found nothing that a sentence could say."""
    return headline(card).says


def headline(card: AuditCard) -> Headline:
    """The first sentence on a card and what it rests on. Of a card that does not ask whether the weights
    decide, what its audits found."""
    decides, points = weights_decide(card), weights_point(card)
    guessing = card.facts.get("against_guessing")
    if guessing == "not better":
        subject = "its attention does" if card.method == ATTENTION else f"{method_words(card.method)} says"
        says = f"The model is no better than guessing, so what {subject} matters little."
        return Headline(says, decides, points)
    if decides == "not asked":
        return Headline(findings_sentence(card), decides, points)
    says = decides_words(card, decides, points)
    if guessing == "undecided":
        says += f" These {card.nouns.texts} do not settle whether the model is better than guessing."
    return Headline(says, decides, points)


def weights_decide(card: AuditCard) -> Decides:
    """Whether uniform weights would give other predictions."""
    return "no" if equal_by_construction(card) else holds_in(card, share_of(card, "uniform"))


def weights_point(card: AuditCard) -> Points:
    """Whether weights are large where a token matters, by both measures or one.

    In part, where those tokens matter only by the weight that they take from others. Nearly uniform weights
    are large nowhere, unless a measure finds otherwise: one peak among many tokens leaves the entropy high.
    """
    if equal_by_construction(card):
        return "no"
    known = pointing(card)
    if nearly_uniform(card) and True not in known.values():
        return "no"
    if not known:
        return "not asked"
    answers = set(known.values())
    if answers == {True}:
        return "in part" if lies_on_sinks(card) else "yes"
    if answers == {False}:
        return "no"
    return "in part" if True in answers else "undecided"


def decides_words(card: AuditCard, decides: Decides, points: Points) -> str:
    """What follows, then how many predictions uniform weights would change."""
    layer, nouns = layer_words(card), card.nouns
    if equal_by_construction(card):
        same = f"all {nouns.tokens} of {nouns.a_text} have the same weight"
        others = f"; other layers give some {nouns.tokens} more weight than others"
        elsewhere = others if others_prefer_tokens(card) else ""
        return (
            f"Attention{layer} is uniform: {same}, so it does not say which {nouns.tokens} matter{elsewhere}."
        )
    uniform, shuffled = share_of(card, "uniform"), share_of(card, "permutation")
    assert uniform is not None
    would_change = f"Uniform weights would {change_words(card)} in {share_words(uniform, nouns)}"
    if decides == "undecided":
        few = "So few" if uniform.reason == "too few" else "These"
        open_end = f"{nouns.texts} do not settle whether the weights{layer} decide the predictions."
        return f"{few} {open_end} {would_change}."
    shuffling = None if shuffled is None else holds_in(card, shuffled)
    if decides == "no":
        not_needed = f"The weights{layer} do not decide these predictions. {would_change}"
        if shuffled is None or shuffling not in ("yes", "in part"):
            return f"{not_needed}."
        return f"{not_needed}; shuffled weights would in {share_words(shuffled, nouns)}."
    if nearly_uniform(card) and points == "no":
        entropy = entropy_range(uses_of_layer(card))
        same = f"All {nouns.tokens} of {nouns.a_text} have nearly the same weight ({entropy})"
        return f"{same}, so attention{layer} does not say which {nouns.tokens} matter. {would_change}."
    assert uniform.interval is not None
    extent = extent_of(uniform.interval)
    which = "these predictions" if extent == "nearly all" else f"{extent} of these predictions"
    says = f"The weights{layer} decide {which}{points_words(card, points)}. {would_change}."
    if shuffled is None or shuffling != "no":
        return says
    any_token = f"so it hardly matters which {nouns.token} has which weight"
    return f"{says} Shuffled weights would in {share_words(shuffled, nouns)}, {any_token}."


def points_words(card: AuditCard, points: Points) -> str:
    """What follows on where weights are large."""
    subject = "they are" if card.method == ATTENTION else f"{method_words(card.method)} is"
    known = pointing(card)
    named = {
        answer: join_names([METHODS[method] for method in METHODS if known.get(method, 0) is answer])
        for answer in (True, False, None)
        if answer in known.values()
    }
    where = f"large where {card.nouns.a_token} matters"
    if points == "yes":
        return f", and {subject} {where}, according to {named[True]}"
    if points == "no":
        return f", but {subject} not {where}, according to {named[False]}"
    if points == "in part" and set(known.values()) == {True}:
        sinks = (
            f"{card.nouns.tokens} with large weights contribute less than others and matter only by taking "
            "weight from them"
        )
        return f", and {subject} {where}, according to {named[True]}; but {sinks}"
    if points == "in part":
        rest = f", but not to {named[False]}" if False in named else f"; by {named[None]} this is not settled"
        return f", and {subject} {where} according to {named[True]}{rest}"
    if points == "undecided":
        return f"; whether {subject} {where} is not settled"
    return ""


def pointing(card: AuditCard) -> dict[str, bool | None]:
    """Whether weights are large where a token matters by each measure of that, as far as that was asked."""
    by_size = f"agreement.{card.statistic}{ABSOLUTE}"
    asked = [method for method in METHODS if usable(card, f"{by_size}.{method}.all") is not None]
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
        return f"move the rating by {number(SMALL_CHANGE * (prediction_range(card) or 0.0))} or more"
    predicted = "token" if card.facts.get("task") == NEXT_TOKEN else "class"
    return f"change the predicted {predicted}, or its probability by at least {SMALL_CHANGE:g},"


def share_of(card: AuditCard, test: str) -> Finding | None:
    """The share of the texts whose prediction other weights change."""
    return card.finding(f"perturbation.{test}.share.all")


def share_words(finding: Finding, nouns: Nouns) -> str:
    """``72 % (95 % interval 62 % to 81 %)``."""
    if finding.estimate is None or finding.interval is None:
        return f"an unknown share of {nouns.texts}"
    low, high = finding.interval
    share, *ends = (f"{100 * value:.0f}\u00a0%" for value in (finding.estimate, low, high))
    return f"{share} of {nouns.texts} (95\u00a0% interval {' to '.join(ends)})"


def holds_in(card: AuditCard, finding: Finding | None) -> Decides:
    """Whether that share is nearly all, some, or hardly any of the texts."""
    if finding is None:
        return "not asked"
    return in_how_many(card, finding) or "undecided"


def equal_by_construction(card: AuditCard) -> bool:
    """Whether all tokens of every text have the same weight."""
    uniform = share_of(card, "uniform")
    return uniform is not None and uniform.reason == "by construction"


def nearly_uniform(card: AuditCard) -> bool:
    """Whether the audited layer gives nearly the same weight to all tokens."""
    uses = uses_of_layer(card) if card.method == ATTENTION else []
    return bool(uses) and all(is_unused(use) and not use_is_unclear(use) for use in uses)


def words_of_card(card: AuditCard) -> dict[str, Any]:
    """What follows from a card, for its JSON: the ``verdict``, the two answers that it rests on, and
    ``claims`` where these were asked for."""
    first = headline(card)
    words = {"verdict": first.says, "decides": first.decides, "points": first.points}
    claims = {"claims": [asdict(claim) for claim in judge_claims(card)]} if EXPLANATION in card.facts else {}
    return words | claims

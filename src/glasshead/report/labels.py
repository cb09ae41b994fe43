"""What statistics, comparisons and audits are called on paper, and in which order they stand.

A name that is not listed here is shown as it is, after those that are. Fields such as ``{tokens}`` are filled
with what inputs are called (`Nouns.fill`).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from glasshead.nouns import TEXTS, Nouns, nouns_of
from glasshead.results import ABSOLUTE, ATTENTION, METHOD, NEXT_TOKEN, REGRESSION, AuditCard, Finding

AUDITS = {
    "performance": (
        "Performance",
        "How good is the model? The null always guesses the commonest class, or the mean rating.",
    ),
    "agreement": (
        "Agreement",
        "Does the explanation rank the {tokens} as gradients do, and as removing the attention weight of "
        "{a_token} does (the {token} stays in the {text})? Mean Kendall τ-b over the examples; 1 is the "
        "same order, 0 no relation, −1 the reverse order. And how important the {tokens} are that hold most "
        "of it.",
    ),
    "perturbation": (
        "Perturbation",
        "Does the answer change when the weights change? Mean over the examples of the per-example median "
        "change of the target's probability, or of the rating.",
    ),
    "adversarial": (
        "Other maps with the same prediction",
        "Is there a map far from that of the model that gives the same prediction? The largest distance at "
        "which ŷ changes by no more than ε, mean over the examples (Jensen-Shannon divergence, at most "
        "0.693; total variation, at most 1, where rows do not sum to one); and the share of examples with "
        "such a map at half of the largest distance or more. Among many {tokens} nearly any model has one, "
        "and so have random weights, the null: maps with the same output of the head, or that the head can "
        "draw from its keys, say more.",
    ),
    "heads": (
        "The heads that are read",
        "Does the prediction depend on the heads whose attention is shown? The mean |Δŷ| when the weights of "
        "all these heads are zero, beside the mean over the other layers; the share of them that change ŷ by "
        "a twentieth of its range or more when they alone are zero; and the share of attention on special "
        "tokens, by itself and minus their share of |a ∂z/∂a|.",
    ),
    "operators": (
        "Types of deletion",
        "Is it the same whether {a_word} is cut out, replaced, averaged, or loses its attention weight? The "
        "mean change of ŷ by {a_word} under each type; Kendall τ-b between the changes under two of them; "
        "and τ-b of the explanation with the changes under each, with intervals that hold for all types "
        "together. A conclusion that flips depends on the type of deletion.",
    ),
    "faithfulness": (
        "Faithfulness",
        "Does the prediction depend on the {tokens} that the explanation ranks first? Means over the "
        "examples of what ŷ, the probability of the predicted class or the rating, does as {tokens} go in "
        "that order, and as they alone are kept. Comprehensiveness and insertion are faithful if large, "
        "sufficiency and deletion if small. The null has the same {tokens} in random order.",
    ),
    "plausibility": (
        "Plausibility",
        "Does the explanation point to the {words} that people have marked for the class of the {text}? Mean "
        "over the examples; 1 is full agreement with the marks. The null has the same scores in random "
        "order. An explanation that looks right to people may still not reflect what the model does.",
    ),
    "identifiability": (
        "Identifiability",
        "Is this the only attention map that gives the head's output? For every weight the smallest and the "
        "largest value with which the head gives the same output, by linear programs; means over the heads "
        "and rows of each {text}. The null has the same weights over random values of the same size. Given "
        "the keys: could this head, with these keys, give the same output with other weights nearby?",
    ),
    "tokens": (
        "{Token} groups",
        "Do {words} that belong to a label get a score, weight, polarity or contribution of their own? "
        "Means over {token} types; separation is the probability that {a_token} of the first group has the "
        "larger value, and the share of right signs is averaged over positive and negative {tokens}.",
    ),
    "clicks": (
        "The clicked news",
        "Does attention at the news level point at the clicked news that the recommendation rests on? "
        "Kendall τ-b with what erasing each of them does to the click probability of the item that ranks "
        "first; and the change without the item of the largest weight, the fall without that of the largest "
        "contribution. The null has the same numbers in random order, or erases any other item.",
    ),
    "words": (
        "The words of the title",
        "Does attention at the word level point at the words of the title that the recommendation rests "
        "on? The same of the words of the item that ranks first.",
    ),
    "ranking": (
        "The ranking",
        "Does the ranking depend on which clicked news, and which words, get which weight? How far click "
        "probabilities move (total variation, from 0 to 1) and how much AUC is lost with other weights; "
        "means over the impressions.",
    ),
}

CANONICAL = ", canonical gauge"
STATISTICS = {
    "accuracy": "accuracy",
    "cross-entropy": "cross-entropy in nats",
    "rmse": "root mean squared error",
    "mae": "mean absolute error",
    "attention": f"attention{CANONICAL}",
    "attention-raw": "attention, raw gauge",
    "attention-absolute": "attention, absolute",
    "method": "the audited method",
    "method-absolute": "the audited method, absolute",
    "contribution": "contribution a·o",
    "contribution-absolute": "contribution, absolute",
    "effective": f"effective attention{CANONICAL}",
    "effective-absolute": "effective attention, absolute",
    "effective-gain": "effective minus attention",
    "effective-gain-absolute": "effective minus attention, absolute",
    "focus": "importance of the {tokens} that hold it (1: all on the most important)",
    "permutation": "permuted weights",
    "random": "random weights, as in the paper",
    "random-normalised": "random weights, normalised",
    "uniform": "uniform weights",
    "jsd": "distance of the farthest map (JSD)",
    "tv": "distance of the farthest map (total variation)",
    "found": "share of examples with a far map",
    "bound": "upper bound of the distance",
    "flat": "share of predictions that no weights change",
    "removal": "change of ŷ without these heads",
    "alone": "share of these heads that matter by themselves",
    "special": "share of attention on special tokens",
    "inflation": "the same minus their share of |a ∂z/∂a|",
    "change": "mean change of ŷ by {a_word}",
    "order": "order of the {words} under two types of deletion",
    "comprehensiveness": "comprehensiveness: fall of ŷ without the top-ranked {tokens}",
    "sufficiency": "sufficiency: fall of ŷ with the top-ranked {tokens} alone",
    "deletion": "area under the deletion curve",
    "insertion": "area under the insertion curve",
    "auprc": "area under precision and recall",
    "token-f1": "{token} F1 of the largest scores",
    "iou": "intersection over union of the largest scores",
    "pointing": "is the largest score marked? (pointing game)",
    "identifiable": "share of maps that are the only one",
    "width": "mean width of the intervals",
    "may-be-zero": "share of the five largest weights that could be zero",
    "another-first": "share of maps in which another {token} could be first",
    "given-keys": "share of maps that are alone, given the keys",
    "separation": "separation (AUC)",
    "sign": "share of right signs",
    "score": "score s",
    "weight": f"weight a{CANONICAL}",
    "weight-raw": "weight a, raw gauge",
    "polarity": "polarity o",
    "heaviest": "without the largest weight",
    "strongest": "without the largest contribution",
    "shift": "how far click probabilities move",
    "auc": "AUC",
    "loss": "AUC lost",
}

AGAINST = {
    "gradient": "gradient",
    "erasure-zero-weight": "removal of the weight (set to zero)",
    "erasure-renormalise": "removal of the weight (others renormalised)",
    "zero-weight": "weight set to zero",
    "renormalise": "weights renormalised",
    "zero-value": "value set to zero",
    "delete": "cut out",
    "mask-token": "replaced by [MASK]",
    "unknown-token": "replaced by [UNK]",
    "mean-embedding": "mean embedding",
    "survival": "share of types of deletion under which it is better than random",
    "free": "of all maps",
    "same-output": "of those with the same output of the head",
    "producible": "of those of another query and the same keys",
    "greedy": "minus that of a greedy order",
    "best": "minus that of the best order",
    "absolute": "absolute change",
    "signed": "signed change",
    "share": "share that changes",
    "score": "score s",
    "weight": f"weight a{CANONICAL}",
    "weight-raw": "weight a, raw gauge",
    "weight-absolute": "weight, absolute",
    "polarity": "polarity o",
    "contribution": "contribution a·o",
    "erasure": "erasure",
    "change": "change of the click probability",
    "fall": "fall of the click probability",
    "uniform-pooling": "uniform weights of the clicked news",
    "permuted-pooling": "shuffled weights of the clicked news",
    "uniform-news-level": "uniform attention at the news level",
    "uniform-word-level": "uniform attention at the word level",
}

TOKEN_STATISTICS = ("separation", "sign", "score", "weight", "weight-raw", "polarity", "contribution")

GROUPS = ("all", "", "positive vs negative", "positive", "negative")
LAST = "neutral"
UNSPOKEN = ("all", "", "positive vs negative")
"""Groups that a label does not name."""


@dataclass(frozen=True)
class Question:
    """A question of the front page and the finding that answers it; ``signed``: makes sense of signs only."""

    finding: str
    asks: str
    measure: str
    signed: bool = False


PROBABILITY, RATING = "the predicted probability", "the predicted rating"
QUESTIONS = (
    Question(
        "agreement.attention-absolute.gradient.all",
        "Is attention large where the gradient is?",
        "Kendall τ-b",
    ),
    Question(
        "agreement.attention-absolute.erasure-renormalise.all",
        "Is attention large where removing {a_token}'s weight matters?",
        "Kendall τ-b",
    ),
    Question(
        "agreement.attention.erasure-renormalise.all",
        "Does its sign say which class {a_token} supports?",
        "Kendall τ-b with removed weights",
        signed=True,
    ),
    Question(
        "agreement.contribution.gradient.all",
        "Does the contribution agree with the gradient?",
        "Kendall τ-b",
    ),
    Question(
        "agreement.contribution.erasure-renormalise.all",
        "Does the contribution agree with removing {tokens}' weights?",
        "Kendall τ-b",
    ),
    Question(
        "perturbation.permutation.absolute.all",
        "Does shuffling the weights change the answer?",
        "median |Δŷ|",
    ),
    Question("perturbation.uniform.absolute.all", "Do uniform weights change the answer?", "|Δŷ|"),
    Question(
        "perturbation.random-normalised.absolute.all",
        "Do random weights of the same total size change the answer?",
        "median |Δŷ|",
    ),
    Question(
        "adversarial.found.free.all",
        "Is there a map far from this one with the same prediction?",
        "share of the examples",
    ),
    Question(
        "adversarial.found.same-output.all",
        "Is there one with the same head output?",
        "share of the examples",
    ),
    Question(
        "adversarial.found.producible.all",
        "Is there one that the head can produce?",
        "share of the examples",
    ),
    Question(
        "heads.removal.all",
        "Does the prediction depend on the heads whose attention is shown?",
        "mean |Δŷ|",
    ),
    Question(
        "operators.attention-absolute.survival.all",
        "Does attention agree with erasure under every type of deletion?",
        "share of the types under which it is better than random",
    ),
    Question(
        "faithfulness.comprehensiveness.all",
        "Does removing the top-ranked {tokens} lower the predicted probability?",
        "fall of ŷ",
    ),
    Question(
        "faithfulness.sufficiency.all",
        "Do the top-ranked {tokens} alone keep the predicted probability?",
        "fall of ŷ",
    ),
    Question(
        "plausibility.auprc.all",
        "Does it point to the {words} that people mark?",
        "area under precision and recall",
    ),
    Question(
        "identifiability.identifiable.all",
        "Is this the only attention map that gives the head's output?",
        "share of maps",
    ),
    Question(
        "identifiability.another-first.all",
        "Could another {token} be the most attended one?",
        "share of maps",
    ),
    Question(
        "identifiability.may-be-zero.all",
        "Could the largest weights be zero, with the same output?",
        "share of the five largest",
    ),
    Question(
        "tokens.separation.weight.positive vs negative",
        "Do the weights tell positive from negative {words}?",
        "AUC",
    ),
)
RECOMMENDATION = "recommendation"
"""The task of cards about recommenders, whose front page asks other questions."""
RECOMMENDATION_QUESTIONS = (
    Question("ranking.auc.all", "Does the model rank better than chance?", "AUC"),
    Question(
        "clicks.attention.erasure.all",
        "Is attention large where erasing a clicked news item matters?",
        "Kendall τ-b",
    ),
    Question(
        "clicks.contribution.erasure.all",
        "Does the contribution of clicked news agree with erasing them?",
        "Kendall τ-b",
    ),
    Question(
        "clicks.heaviest.change.all",
        "Does the recommendation rest on the clicked news item of the largest weight?",
        "|Δp| without it",
    ),
    Question(
        "words.attention.erasure.all",
        "Is attention large where erasing a word of the title matters?",
        "Kendall τ-b",
    ),
    Question(
        "words.contribution.erasure.all",
        "Does the contribution of words agree with erasing them?",
        "Kendall τ-b",
    ),
    Question(
        "words.heaviest.change.all",
        "Does the recommendation rest on the word of the largest weight?",
        "|Δp| without it",
    ),
    Question(
        "ranking.shift.permuted-pooling.all",
        "Does shuffling the weights of the clicked news change the recommendation?",
        "total variation",
    ),
    Question(
        "ranking.loss.uniform-news-level.all",
        "Is the ranking worse with uniform attention over the clicked news?",
        "AUC lost",
    ),
    Question(
        "ranking.loss.uniform-word-level.all",
        "Is the ranking worse with uniform attention over the words?",
        "AUC lost",
    ),
)


def method_words(statistic: str) -> str:
    """What an audited explanation is called in a sentence."""
    named = {ATTENTION: "attention", METHOD: "the audited method"}
    return named.get(statistic, f"the method {statistic}")


def questions(cards: Sequence[AuditCard]) -> list[Question]:
    """The questions of the front page, about what these cards audit; what attention contributes
    is asked only where one of them audits attention."""
    if any(card.facts.get("task") == RECOMMENDATION for card in cards):
        return list(RECOMMENDATION_QUESTIONS)
    statistic = next((card.statistic for card in cards), ATTENTION)
    nouns = nouns_of(*(card.facts for card in cards))
    filled = [replace(question, asks=nouns.fill(question.asks)) for question in QUESTIONS]
    if all(card.facts.get("task") == NEXT_TOKEN for card in cards):
        asked = [ask_of_log(question) for question in filled]
    else:
        rated = all(card.facts.get("task") == REGRESSION for card in cards)
        what = RATING if rated else PROBABILITY
        asked = [replace(question, asks=question.asks.replace(PROBABILITY, what)) for question in filled]
    if statistic == ATTENTION:
        return asked
    about = tuple(f"{audit}.{ATTENTION}" for audit in ("agreement", "operators"))
    attends = any(card.method == ATTENTION for card in cards)
    return [
        replace(
            question,
            finding=question.finding.replace(f".{ATTENTION}", f".{statistic}", 1),
            asks=question.asks.replace("attention", method_words(statistic)),
        )
        if question.finding.startswith(about)
        else question
        for question in asked
        if attends or question.finding.startswith(about) or not question.finding.startswith("agreement.")
    ]


def ask_of_log(question: Question) -> Question:
    """The question as it is asked of a next token, whose faithfulness is measured in log ŷ."""
    if not question.finding.startswith("faithfulness."):
        return question
    asks = question.asks.replace(PROBABILITY, "the log probability")
    return replace(question, asks=asks, measure=question.measure.replace("ŷ", "log ŷ"))


def display_name(name: str, names: Mapping[str, str], signed: bool = True, nouns: Nouns = TEXTS) -> str:
    """The wording of a name about such inputs, or the name itself; weights that are not ``signed`` have no
    gauge."""
    absolute = f"{name.removesuffix(ABSOLUTE)}, absolute" if name.endswith(ABSOLUTE) else name
    words = nouns.fill(names[name]) if name in names else absolute
    return words if signed else words.removesuffix(CANONICAL)


def finding_label(finding: Finding, signed: bool = True, nouns: Nouns = TEXTS) -> str:
    """A finding's full name in words about such inputs."""
    parts = [display_name(finding.statistic, STATISTICS, signed, nouns)]
    if finding.against:
        word = "with" if finding.audit == "agreement" else "by" if finding.statistic == "separation" else "–"
        parts.append(f"{word} {display_name(finding.against, AGAINST, signed, nouns)}")
    text = " ".join(parts)
    return text if finding.group in UNSPOKEN else f"{text} ({finding.group})"


def join_names(names: Sequence[str]) -> str:
    """``a, b and c``."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def sort_names(names: Iterable[str], known: Iterable[str]) -> list[str]:
    """Distinct names: the known ones in their order, then the others as they came."""
    present = list(dict.fromkeys(names))
    listed = [name for name in known if name in present]
    return listed + [name for name in present if name not in listed]


def sort_groups(names: Iterable[str]) -> list[str]:
    """Distinct groups: all first, then polarities, classes as they came, and neutral last."""
    groups = sort_names(names, GROUPS)
    return [name for name in groups if name != LAST] + [name for name in groups if name == LAST]


def sentence(verdict: str) -> str:
    """A verdict as a sentence: a capital first, a full stop last."""
    if not verdict:
        return ""
    start = verdict[0].upper() if verdict[0].isascii() else verdict[0]
    return start + verdict[1:] + ("" if verdict[-1] in ".!?" else ".")

"""What statistics and comparisons are called on paper, and in which order they stand.

A name that is not listed here is shown as it is, after those that are. Fields such as ``{tokens}`` are filled
with what inputs are called (`Nouns.fill`).
"""

from collections.abc import Iterable, Mapping

from glasshead.nouns import TEXTS, Nouns
from glasshead.results import ABSOLUTE, Finding

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


def sort_names(names: Iterable[str], known: Iterable[str]) -> list[str]:
    """Distinct names: the known ones in their order, then the others as they came."""
    present = list(dict.fromkeys(names))
    listed = [name for name in known if name in present]
    return listed + [name for name in present if name not in listed]


def sort_groups(names: Iterable[str]) -> list[str]:
    """Distinct groups: all first, then polarities, classes as they came, and neutral last."""
    groups = sort_names(names, GROUPS)
    return [name for name in groups if name != LAST] + [name for name in groups if name == LAST]

"""Train a pooled classifier and watch how its attention scores come about: Sun and Lu (2020)."""

from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from glasshead.papers.dynamics import dynamics_callback, findings, groups_from_source
from glasshead.papers.dynamics.findings import NEUTRAL
from glasshead.papers.experiments.job import MEASURES, Job, Measured
from glasshead.papers.experiments.measures.classifier import classifier
from glasshead.papers.results import NOT_EXPLAINED, History, read_history

CLOSE = 4
"""Steps between two snapshots of a close look; else a hundredth of the training or so."""
SIGNS = {
    "positive × positive": ("lower", 1),
    "negative × negative": ("lower", 1),
    "positive × negative": ("upper", -1),
}
"""Of dot products of embeddings: the quartile that has the sign of three quarters of them."""
COUPLINGS = ("V′ᵀW′", "V′ᵀW", "VᵀW")
"""VᵀW of the model at hand is the first of these that it has."""


@MEASURES.register("dynamics")
def measure_dynamics(job: Job) -> Measured:
    """What `classifier` measures, and where the tokens of each group stand after the last step: the
    probability that one has a larger attention score, or more polarity, than a neutral token, and VᵀW.

    The accuracy is that of the best epoch on dev, all else of the last step.
    """
    return watch(job, None)


@MEASURES.register("dynamics-close")
def close_dynamics(job: Job) -> Measured:
    """Measure with a snapshot every `CLOSE` steps, as the terms of the update need that change fast."""
    return watch(job, CLOSE)


def watch(job: Job, every: int | None) -> Measured:
    """Train with the callback, and read its history."""
    truth = groups_from_source(job.cell.data.record())
    job.train([dynamics_callback(truth, every)])
    measured = classifier(job)
    history = read_history(job.folder)
    numbers = separation_numbers(history) | product_numbers(history) | term_numbers(history)
    return Measured(measured.numbers | numbers, measured.hits)


def separation_numbers(history: History) -> dict[str, Any]:
    """AUC of scores and polarities of each group against neutral tokens, the gap, and VᵀW."""
    last = history.tokens["step"] == history.steps[-1]
    groups = history.tokens["group"][last]
    numbers: dict[str, Any] = {}
    for quantity in ("score", "polarity"):
        values = history.tokens[quantity][last]
        neutral = values[(groups == NEUTRAL) & np.isfinite(values)]
        for group in (name for name in history.groups if name != NEUTRAL):
            own = values[(groups == group) & np.isfinite(values)]
            if len(own) and len(neutral):
                is_own = np.arange(len(own) + len(neutral)) < len(own)
                numbers[f"{quantity}_{group}"] = float(roc_auc_score(is_own, np.r_[own, neutral]))
    means = {group: history.curve("score", group)["mean"] for group in history.groups}
    if {"positive", "negative"} <= means.keys():
        gaps = means["positive"] - means["negative"]
        numbers["gap"] = float(gaps[-1])
        late = history.curve("score", "positive")["step"] >= history.steps[-1] / 2
        numbers["late_gap"] = float(np.abs(gaps[late]).mean())
    for name in COUPLINGS:
        if len(values := history.curve(name)["mean"]):
            return numbers | {"VᵀW": float(values[-1])}
    return numbers


def product_numbers(history: History) -> dict[str, Any]:
    """The mean dot product of the embeddings of every two groups after the last step, and from which step on
    the signs of those of words with a polarity are what the paper derives."""
    last = (history.products["step"] == history.steps[-1]) & (history.products["of"] == "e")
    pairs, means = history.products["pair"][last], history.products["mean"][last]
    numbers: dict[str, Any] = {
        f"product_{pair.replace(' × ', '_')}": float(mean) for pair, mean in zip(pairs, means, strict=True)
    }
    if all(pair in pairs for pair in SIGNS):
        numbers["settling_steps"] = settling_step(history)
    return numbers


def settling_step(history: History) -> int:
    """The first step from which on three quarters of the dot products within a class are positive, and three
    quarters of those between the classes negative; the last step, if there is none."""
    right = np.ones(len(history.steps), dtype=bool)
    for pair, (quartile, sign) in SIGNS.items():
        chosen = (history.products["of"] == "e") & (history.products["pair"] == pair)
        right &= sign * history.products[quartile][chosen] > 0
    wrong = np.flatnonzero(~right)
    first = wrong[-1] + 1 if len(wrong) else 0
    return int(history.steps[min(first, len(right) - 1)])


def term_numbers(history: History) -> dict[str, Any]:
    """What each term has added to the mean score of a group, and which is surely the largest part, or why
    none is (`glasshead.papers.dynamics.findings`); nothing where the terms do not add up to the change."""
    numbers: dict[str, Any] = {}
    for finding in findings(history):
        if finding.statistic != "added to score":
            continue
        term = "rest" if finding.against == NOT_EXPLAINED else finding.against
        numbers[f"{finding.group}_{term}"] = finding.estimate
        if finding.verdict:
            numbers[f"{finding.group}_largest"] = finding.reason or finding.against
    return numbers

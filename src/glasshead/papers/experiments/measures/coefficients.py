"""Scores and weights of words by their group: Huang, Yang and Wang (2024), Fig. 2."""

from typing import Any

import numpy as np

from glasshead.audits import audit
from glasshead.opening import load_run
from glasshead.papers.experiments.job import MEASURES, Job, Measured
from glasshead.papers.experiments.measures.classifier import classifier
from glasshead.papers.experiments.measures.interpretability import gauge_numbers
from glasshead.results import AuditCard

GROUPS = ("positive", "negative", "neutral")
DRAWN = 30
"""Words of each group whose scores and weights are kept one by one: those that occur most."""
SIGNIFICANT_DIGITS = 3


@MEASURES.register("coefficients")
def measure_coefficients(job: Job) -> Measured:
    """What `classifier` measures, and the canonical weights of the words of each group (the γ_e of train).

    A word's number is its mean over the test texts. ``separation`` is the probability that a positive word
    has a larger weight than a negative one, ``neutral_size`` the mean |a| of neutral words by that of others.
    """
    measured = classifier(job)
    card = audit(load_run(job.folder), job.data["test"], audits=("tokens",), seed=job.seed)
    return Measured(measured.numbers | weight_numbers(card) | gauge_numbers(card), measured.hits)


def weight_numbers(card: AuditCard) -> dict[str, Any]:
    """Mean weight of each group, its spread over the words, and some of the words themselves."""
    columns = {name: np.asarray(card.tokens[name]) for name in ("group", "occurrences", "score", "weight")}
    numbers: dict[str, Any] = {}
    sizes: dict[str, float] = {}
    for name in GROUPS:
        own = np.flatnonzero(columns["group"] == name)
        if not len(own):
            continue
        weights = columns["weight"][own]
        sizes[name] = float(np.abs(weights).mean())
        numbers[f"weight_{name}"] = float(weights.mean())
        most = own[np.argsort(-columns["occurrences"][own], kind="stable")][:DRAWN]
        numbers[f"points_{name}"] = [
            [float(f"{columns[name][place]:.{SIGNIFICANT_DIGITS}g}") for name in ("score", "weight")]
            for place in most
        ]
    if len(sizes) == len(GROUPS):
        numbers["neutral_size"] = 2 * sizes["neutral"] / (sizes["positive"] + sizes["negative"])
    separation = card.finding("tokens.separation.weight.positive vs negative")
    return numbers | {"separation": None if separation is None else separation.estimate}

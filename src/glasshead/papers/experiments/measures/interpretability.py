"""Train a classifier and audit its attention: Huang, Yang and Wang (2024), Tables 1 and 2."""

from typing import Any

from glasshead.audits import audit
from glasshead.opening import load_run
from glasshead.papers.experiments.job import MEASURES, Job, Measured
from glasshead.papers.experiments.measures.classifier import classifier
from glasshead.results import AuditCard

TABLE_AUDITS = ("performance", "agreement", "perturbation", "tokens")
PER_CLASS = {
    "gradient": ("agreement.attention.gradient.class {}", "estimate"),
    "gradient_share": ("agreement.attention.gradient.class {}", "significant_fraction"),
    "erasure": ("agreement.attention.erasure-zero-weight.class {}", "estimate"),
    "erasure_share": ("agreement.attention.erasure-zero-weight.class {}", "significant_fraction"),
    "permutation": ("perturbation.permutation.absolute.class {}", "estimate"),
    "random": ("perturbation.random.absolute.class {}", "estimate"),
}
"""Columns of Table 1: Kendall's τ of attention with gradients and with erasure (a mean over texts), the share
of texts in which it is significant, and the median change of the output, for the texts of each class."""
OF_ALL = {
    "gradient_contribution": "agreement.contribution.gradient.all",
    "erasure_contribution": "agreement.contribution.erasure-renormalise.all",
    "separation": "tokens.separation.weight.positive vs negative",
    "separation_contribution": "tokens.separation.contribution.positive vs negative",
}
"""Beside them what does not depend on the gauge, and the probability that a positive word has the larger
value."""


@MEASURES.register("interpretability")
def interpretability(job: Job) -> Measured:
    """What `classifier` measures, Table 1 by class (0 and 1), and the sign gauge of the run.

    Weights are canonical: their sign is that of `glasshead.trace`, which ``margin`` says how sure it is of.
    """
    measured = classifier(job)
    card = audit(load_run(job.folder), job.data["test"], audits=TABLE_AUDITS, seed=job.seed)
    names = job.data["train"].features["label"].names
    return Measured(measured.numbers | table_numbers(card, names) | gauge_numbers(card), measured.hits)


def table_numbers(card: AuditCard, classes: list[str]) -> dict[str, Any]:
    """The findings that the tables need, by short names; None of what could not be told."""
    finding_of = {finding.name: finding for finding in card.findings}
    numbers: dict[str, Any] = {}
    for place, label in enumerate(classes):
        for short, (name, part) in PER_CLASS.items():
            finding = finding_of.get(name.format(label))
            numbers[f"{short}_{place}"] = None if finding is None else getattr(finding, part)
    for short, name in OF_ALL.items():
        numbers[short] = finding_of[name].estimate if name in finding_of else None
    return numbers


def gauge_numbers(card: AuditCard) -> dict[str, Any]:
    """Where the sign of the attention lives, and how sure its gauge is."""
    gauge = card.facts["gauge"]
    return {name: gauge[name] for name in ("kind", "sign", "margin", "positive_polarity") if name in gauge}

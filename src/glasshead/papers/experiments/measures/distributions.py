"""How agreement and change are spread over texts: Huang, Yang and Wang (2024), Fig. 3."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from glasshead.audits import audit
from glasshead.opening import load_run
from glasshead.papers.experiments.job import MEASURES, Job, Measured
from glasshead.papers.experiments.measures.classifier import classifier
from glasshead.papers.experiments.measures.interpretability import gauge_numbers

HISTOGRAM_BINS = 40
HISTOGRAMS = {
    "gradient": ("tau.attention.gradient", -1.0),
    "erasure": ("tau.attention.erasure-zero-weight", -1.0),
    "permutation": ("permutation.median.absolute", 0.0),
    "random": ("random.median.absolute", 0.0),
}
"""A column of the examples of an audit, and the least value that it can have; the greatest is 1."""


@MEASURES.register("distributions")
def measure_distributions(job: Job) -> Measured:
    """What `classifier` measures, and histograms over the test texts of each class (0 and 1): of Kendall's τ
    of the canonical weights with gradients and with erasure, and of the median change of the output under
    permuted and under random weights. `HISTOGRAM_BINS` counts each."""
    measured = classifier(job)
    card = audit(load_run(job.folder), job.data["test"], audits=("agreement", "perturbation"), seed=job.seed)
    labels = np.asarray(job.data["test"]["label"][:])
    return Measured(measured.numbers | histograms(card.examples, labels) | gauge_numbers(card), measured.hits)


def histograms(examples: Mapping[str, Any], labels: Any) -> dict[str, Any]:
    """The counts of each class, and its median; texts without a value are in no bin."""
    numbers: dict[str, Any] = {}
    for short, (column, least) in HISTOGRAMS.items():
        values = np.asarray(examples[column], dtype=float)
        for place in (0, 1):
            own = values[(labels == place) & np.isfinite(values)]
            if len(own):
                numbers[f"{short}_{place}"] = float(np.median(own))
                counts = np.histogram(np.clip(own, least, 1.0), HISTOGRAM_BINS, (least, 1.0))[0]
                numbers[f"counts_{short}_{place}"] = counts.tolist()
    return numbers

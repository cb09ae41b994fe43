"""How far the attention of a trained encoder is determined: Bhardwaj et al. (2021), sections 3 and 4."""

from typing import Any

import numpy as np

from glasshead.files import remove
from glasshead.identifiability import IntervalOptions, RowSelector, solve_batches
from glasshead.opening import open_model
from glasshead.papers.experiments.job import MEASURES, Job, Measured
from glasshead.papers.experiments.measures.classifier import classifier
from glasshead.papers.experiments.measures.ranks import longest_text
from glasshead.papers.lengths import LengthSample, sample_texts

TOKENS_SOLVED = 32
"""Twice the d_v of concatenated heads, a quarter of that of summed ones, in the small presets."""
TEXTS_SOLVED = 60
UNIQUE = ("unique", "fixed")


@MEASURES.register("certainty")
def certainty(job: Job) -> Measured:
    """What `classifier` measures; of the row of the first token, which the prediction rests on, of all heads:
    the mean width of the intervals of its weights, the share of the five largest that may be zero, and the
    shares of rows that are unique given the keys, or undetermined there. Means over heads, then texts."""
    measured = classifier(job)
    model, tokenizer = open_model(job.folder)
    texts, parts = list(job.data["test"]["text"]), job.folder / "intervals"
    sample = LengthSample((min(TOKENS_SOLVED, longest_text(tokenizer, texts)),), TEXTS_SOLVED, job.seed)
    ((_, _, encoded),) = sample_texts(tokenizer, texts, sample)
    remove(parts)  # what a killed process left
    store = solve_batches(model, tokenizer, encoded, RowSelector(rows="first"), IntervalOptions(), parts)
    return Measured(measured.numbers | mean_rows(store.heads()), measured.hits)


def mean_rows(heads: dict[str, Any]) -> dict[str, float]:
    """The means over all rows that have the number; every text has as many rows."""
    certificates = np.asarray(heads["given_keys"])
    return {
        "width": float(np.nanmean(np.asarray(heads["width"], dtype=float))),
        "may_be_zero": float(np.nanmean(np.asarray(heads["may_be_zero"], dtype=float))),
        "unique": float(np.isin(certificates, UNIQUE).mean()),
        "undetermined": float((certificates == "undetermined").mean()),
    }

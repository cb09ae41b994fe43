"""What needs no attention: logistic regression on words, the floor of a table."""

from typing import Any

import numpy as np

from glasshead.data import has_ratings
from glasshead.papers.experiments.bag_of_words import bag_of_words
from glasshead.papers.experiments.job import MEASURES, Job, Measured


@MEASURES.register("bag-of-words")
def measure_bag_of_words(job: Job) -> Measured:
    """Test metrics of `bag_of_words`, which reads whole texts; no run, and the same with
    every seed."""
    return measure_counts(job)


@MEASURES.register("bag-of-first-words")
def measure_bag_of_first_words(job: Job) -> Measured:
    """Test metrics of the first ``max_length`` words, where models read no more."""
    return measure_counts(job, max_length=job.recipe.max_length)


@MEASURES.register("hypothesis-only")
def measure_hypothesis_only(job: Job) -> Measured:
    """Test metrics of the second text of a pair alone."""
    return measure_counts(job, reads="text_pair")


def measure_counts(job: Job, **options: Any) -> Measured:
    """Metrics of test and dev, what dev chose, and the hits of classes."""
    result = bag_of_words(job.data, **options)
    numbers = (
        dict(result["test"])
        | {f"dev_{name}": value for name, value in result["dev"].items()}
        | {name: result[name] for name in ("weighting", "C", "features", "reads")}
    )
    if has_ratings(job.data["test"]):
        return Measured(numbers)
    return Measured(numbers, result["predicted"] == np.asarray(job.data["test"]["label"][:]))

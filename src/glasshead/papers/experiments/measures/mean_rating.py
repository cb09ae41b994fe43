"""What needs no text: the mean rating of train, the floor of a table of ratings."""

import numpy as np

from glasshead.papers.experiments.job import MEASURES, Job, Measured
from glasshead.training import rating_metrics


@MEASURES.register("mean-rating")
def mean_rating(job: Job) -> Measured:
    """RMSE and MAE on test and dev of the mean rating of train."""
    mean = float(np.mean(job.data["train"]["label"][:]))
    numbers: dict[str, float] = {}
    for split, prefix in (("test", ""), ("dev", "dev_")):
        ratings = np.asarray(job.data[split]["label"][:], dtype=float)
        metrics = rating_metrics(ratings, np.full_like(ratings, mean))
        numbers |= {prefix + name: value for name, value in metrics.items()}
    return Measured(numbers)

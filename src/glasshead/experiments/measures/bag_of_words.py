"""What needs no attention: logistic regression on words, the floor of a table."""

from glasshead.experiments.job import MEASURES, Job, Measured
from glasshead.training import bag_of_words


@MEASURES.register("bag-of-words")
def measure_bag_of_words(job: Job) -> Measured:
    """Test metrics of `glasshead.training.bag_of_words`; no run, and the same with every seed."""
    found = bag_of_words(job.data)
    return Measured(
        dict(found["test"])
        | {f"dev_{name}": value for name, value in found["dev"].items()}
        | {name: found[name] for name in ("weighting", "C", "features", "reads")}
    )

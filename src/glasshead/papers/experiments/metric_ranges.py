"""Which numbers a metric of a table can be, so that no interval leaves them."""

import numpy as np

from glasshead.registry import did_you_mean
from glasshead.results import Interval

CORRELATION, SHARE, HALF, SIZE, ANY = (-1.0, 1.0), (0.0, 1.0), (0.0, 0.5), (0.0, np.inf), (-np.inf, np.inf)
METRIC_RANGES = {
    "gradient_contribution": CORRELATION, "erasure_contribution": CORRELATION,
    "accuracy": SHARE, "dev_accuracy": SHARE, "macro_f1": SHARE, "follows": SHARE, "parted": SHARE,
    "separation": SHARE, "separation_contribution": SHARE, "margin": SHARE, "map_entropy": SHARE,
    "positive_polarity": SHARE, "positive_w": SHARE, "positive_v": SHARE, "may_be_zero": SHARE,
    "unique": SHARE, "undetermined": SHARE, "obtainable": SHARE,
    "separation_size": HALF,  # |AUC − ½|
    "rmse": SIZE, "mae": SIZE, "width": SIZE, "neutral_change": SIZE, "neutral_size": SIZE,
    "step_seconds": SIZE, "short_of_full": SIZE, "full_rank_tokens": SIZE,
    "perplexity": (1.0, np.inf),
    "gap": ANY, "late_gap": SIZE, "VᵀW": ANY, "VᵀW_size": SIZE, "settling_steps": SIZE, "term_lead": ANY,
    "least_w": ANY, "most_w": ANY,
    "f1": SHARE, "share": SHARE, "correlation": CORRELATION, "gain": CORRELATION,
}  # fmt: skip
"""The smallest and the largest value of a metric, by its whole name."""
RANGE_BY_PREFIX = {
    "gradient_share_": SHARE, "erasure_share_": SHARE, "gradient_": CORRELATION, "erasure_": CORRELATION,
    "permutation_": SHARE, "random_": SHARE, "probability_": SHARE, "rising_": SHARE, "as_": SHARE,
    "score_": SHARE, "polarity_": SHARE,  # AUC
    "product_": ANY, "rank_": SIZE, "null_": SIZE, "_words": SIZE, "weight_": ANY, "_rest": ANY,
}  # fmt: skip
"""The same by how a name begins, or ends, for those that are not named whole."""


def within(interval: Interval | None, name: str) -> Interval | None:
    """The part of an interval that a metric can have."""
    return cut(interval, possible_range(name))


def cut(interval: Interval | None, possible: Interval) -> Interval | None:
    """The part of an interval within another one."""
    if interval is None:
        return None
    low, high = possible
    return min(max(interval[0], low), high), max(min(interval[1], high), low)


def possible_range(name: str) -> tuple[float, float]:
    """The smallest and the largest value of a metric, ±∞ where there is none.

    Raises:
        ValueError: for a metric whose range nobody has written down.
    """
    if name in METRIC_RANGES:
        return METRIC_RANGES[name]
    for part, possible in RANGE_BY_PREFIX.items():
        if name.startswith(part) or (part.startswith("_") and name.endswith(part)):
            return possible
    raise ValueError(f"no range of {name!r} is known: {did_you_mean(name, METRIC_RANGES)}")

"""Which numbers a metric of a table can be, so that no interval leaves them."""

import numpy as np

CORRELATIONS = {"gradient", "erasure", "gradient_contribution", "erasure_contribution"}
PROPORTIONS = {
    "accuracy", "macro_f1", "gradient_share", "erasure_share", "permutation", "random", "separation",
    "separation_contribution", "margin", "positive_polarity", "map_entropy", "positive_w", "positive_v",
    "rising_positive", "rising_negative", "parted", "may_be_zero", "unique", "undetermined", "obtainable",
}  # fmt: skip
SIZES = {"rmse", "mae", "perplexity", "width"}
"""Metrics by what they can be: from −1 to 1, from 0 to 1, or not below 0."""


def within(interval: tuple[float, float] | None, name: str) -> tuple[float, float] | None:
    """The part of an interval that a metric can have."""
    if interval is None:
        return None
    low, high = possible_range(name)
    return min(max(interval[0], low), high), max(min(interval[1], high), low)


def possible_range(name: str) -> tuple[float, float]:
    """The smallest and the largest value of a metric, ±∞ where there is none."""
    stem = name.rsplit("_", 1)[0] if name[-1:].isdigit() else name
    if stem in CORRELATIONS:
        return -1.0, 1.0
    if stem in PROPORTIONS or stem.startswith("probability_"):
        return 0.0, 1.0
    return (0.0, np.inf) if stem in SIZES else (-np.inf, np.inf)

"""The spread of some numbers from one end to the other, but for stray ones."""

import numpy as np
from numpy.typing import ArrayLike

FAR_OUT = 3.0
"""Interquartile ranges from the quartiles beyond which a number is far out (Tukey 1977)."""
STRAY_SHARE = 0.05
"""Numbers far out that are more than this share of all (and more than one) are not strays."""


def typical_range(values: ArrayLike) -> float:
    """max − min of the numbers without outliers, so that a misplaced decimal point does not decide what
    counts as a large change.

    Outliers are the numbers further than three interquartile ranges from the quartiles (Tukey, Exploratory
    Data Analysis, 1977, "far out"), if they are a single number or at most a twentieth of all, and the
    others are not all equal. Without numbers the result is 0; NaN is ignored.
    """
    known = np.asarray(values, dtype=np.float64)
    known = known[np.isfinite(known)]
    if not len(known):
        return 0.0
    low, high = np.quantile(known, (0.25, 0.75))
    reach = FAR_OUT * (high - low)
    inside = known[(known >= low - reach) & (known <= high + reach)]
    strays = len(known) - len(inside)
    few = strays <= max(1, STRAY_SHARE * len(known))
    return float(np.ptp(inside)) if few and np.ptp(inside) > 0 else float(np.ptp(known))

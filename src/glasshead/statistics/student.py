"""The interval of a mean of which sums alone are kept: Student's t."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import NDArray

from glasshead.statistics.resampling import LEVEL

Floats = NDArray[np.float64]


def student_interval(
    sums: Float[NDArray, "*n"],
    squares: Float[NDArray, "*n"],
    counts: Int[NDArray, "*n"],
    level: float = LEVEL,
) -> Floats:
    """x̄ ± t_{n−1} s / √n of n numbers with the sums Σx and Σx² [2, *n]; NaN for n < 2.

    Source: Student, Biometrika 6 (1908).
    """
    from scipy.stats import t  # takes as long to import as torch does

    n = np.where(counts > 1, counts, np.nan)
    mean = sums / n
    variance = np.maximum(squares - n * mean**2, 0.0) / (n - 1)
    half = t.ppf((1 + level) / 2, n - 1) * np.sqrt(variance / n)
    return np.asarray(np.stack([mean - half, mean + half]))

"""The interval of a mean of which sums alone are kept: Student's t."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Num

from glasshead.arrays import Floats
from glasshead.statistics.resampling import LEVEL


def student_interval(
    sums: Float[np.ndarray, "*n"],
    squares: Float[np.ndarray, "*n"],
    counts: Num[np.ndarray, "*n"],
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


def interval_of_mean(values: Float[np.ndarray, " n"], level: float = LEVEL) -> tuple[float, float]:
    """`student_interval` of the numbers themselves; NaN for n < 2."""
    sums = [np.array([total]) for total in (np.sum(values), np.sum(np.square(values)))]
    low, high = student_interval(sums[0], sums[1], np.array([len(values)]), level)[:, 0]
    return float(low), float(high)


def prediction_interval(values: Float[np.ndarray, " n"], level: float = LEVEL) -> tuple[float, float]:
    """x̄ ± t_{n−1} s √(1 + 1/n), the interval of one more value of the same kind; NaN for n < 2.

    Source: Hahn, Journal of the American Statistical Association 64 (1969).
    """
    from scipy.stats import t

    n = len(values)
    if n < 2:
        return float("nan"), float("nan")
    half = t.ppf((1 + level) / 2, n - 1) * np.std(values, ddof=1) * np.sqrt(1 + 1 / n)
    return float(np.mean(values) - half), float(np.mean(values) + half)


def detectable_difference(
    standard_error: float, degrees: float, *, power: float = 0.8, significance: float = 0.05
) -> float:
    """The δ that a two-sided t-test finds with probability ``power``: P(T'_ν(δ/se) > t_{ν, 1−α/2}) = power.

    T'_ν is Student's noncentral distribution with ν = ``degrees``; 0 without an error. Rejections on the
    wrong side are ignored: their probability is below α/2, and much smaller for useful powers.

    Source: Cohen, Statistical Power Analysis for the Behavioral Sciences (1988), chapter 2.
    """
    from scipy.optimize import brentq
    from scipy.stats import nct, t

    critical = float(t.ppf(1 - significance / 2, degrees))

    def lacking(shift: float) -> float:
        return float(nct.sf(critical, degrees, shift)) - power

    highest = critical + 1.0
    while lacking(highest) < 0:
        highest *= 1.5
    return float(brentq(lacking, 0.0, highest)) * standard_error

"""Bootstrap draws, as counts: how often each example is in each resample, and the middle of what came out."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, stdtrit

LEVEL = 0.95
RESAMPLES = 2000  # moves an end of a 95 % interval by about 0.06 standard errors of the mean
MOST_RESAMPLES = 5 * RESAMPLES
CHUNK_DRAWS = 1 << 16  # draws held at once: what stays near the processor takes half of the time


def draw_counts(n: int, resamples: int, rng: np.random.Generator) -> Iterator[NDArray[np.float64]]:
    """How often each of n examples is drawn in each resample, in chunks [R, n] of bounded size."""
    for count in chunks(n, resamples):
        yield tally(rng.integers(n, size=(count, n)), n).astype(np.float64)


def resample_means(
    values: NDArray[np.floating], resamples: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """The means of statistics [S, n] in every resample of their n examples: [R, S]."""
    n = values.shape[1]
    return np.concatenate([counts @ values.T / n for counts in draw_counts(n, resamples, rng)])


def chunks(n: int, resamples: int) -> Iterator[int]:
    """How many resamples of n examples are drawn at once."""
    rows = max(CHUNK_DRAWS // n, 1)
    for start in range(0, resamples, rows):
        yield min(rows, resamples - start)


def resamples_for(level: float) -> int:
    """The number of resamples that leaves as many beyond each end as 2,000 do at 95 %; at most 10,000."""
    return min(max(round(RESAMPLES * (1 - LEVEL) / (1 - level)), RESAMPLES), MOST_RESAMPLES)


def widen_level(level: float, n: int) -> float:
    """The level at which the percentile interval of the mean of n normal numbers is as wide as Student's t.

    2Φ(√(n/(n−1)) t_{n−1}((1+level)/2)) − 1 (Hesterberg, American Statistician 69, 2015).
    """
    return float(2 * ndtr(np.sqrt(n / (n - 1)) * stdtrit(n - 1, (1 + level) / 2)) - 1)


def seed_from(rng: np.random.Generator, level: float, resamples: int) -> int:
    """One draw, from which everything else of an interval follows."""
    if not 0 < level < 1 or resamples < 1:
        raise ValueError(
            f"level {level} must lie between 0 and 1, and resamples {resamples} must be positive"
        )
    return int(rng.integers(2**63))


def tally(drawn: NDArray[np.intp], kinds: int) -> NDArray[np.intp]:
    """How often each of 0 … kinds − 1 occurs in every row of ``drawn`` [R, n]: [R, kinds]."""
    flat = drawn + np.arange(len(drawn))[:, None] * kinds
    return np.bincount(flat.ravel(), minlength=len(drawn) * kinds).reshape(len(drawn), kinds)


def interval_ends(replicates: NDArray[np.float64], level: float) -> NDArray[np.float64]:
    """Lower and upper end [2, …] of the middle ``level`` of replicates [R, …]."""
    return np.quantile(replicates, [(1 - level) / 2, (1 + level) / 2], axis=0)

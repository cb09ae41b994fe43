"""Bootstrap draws, as counts: how often each example is in each resample, and the middle of what came out."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

LEVEL = 0.95
RESAMPLES = 2000  # moves an end of a 95 % interval by about 0.06 standard errors of the mean
CHUNK_DRAWS = 1 << 18  # draws held at once


def resampled_counts(n: int, resamples: int, rng: np.random.Generator) -> Iterator[NDArray[np.float64]]:
    """How often each of n examples is drawn in each resample, in chunks [R, n] of bounded size."""
    rows = max(CHUNK_DRAWS // n, 1)
    for start in range(0, resamples, rows):
        drawn = rng.integers(n, size=(min(rows, resamples - start), n))
        yield tally(drawn, n).astype(np.float64)


def tally(drawn: NDArray[np.intp], kinds: int) -> NDArray[np.intp]:
    """How often each of 0 … kinds − 1 occurs in every row of ``drawn`` [R, n]: [R, kinds]."""
    flat = drawn + np.arange(len(drawn))[:, None] * kinds
    return np.bincount(flat.ravel(), minlength=len(drawn) * kinds).reshape(len(drawn), kinds)


def interval_ends(replicates: NDArray[np.float64], level: float) -> NDArray[np.float64]:
    """Lower and upper end [2, …] of the middle ``level`` of replicates [R, …]."""
    return np.quantile(replicates, [(1 - level) / 2, (1 + level) / 2], axis=0)

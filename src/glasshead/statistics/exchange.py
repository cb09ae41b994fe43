"""Is one of several numbers of each unit out of the ordinary, or might each stand in its place?"""

import numpy as np
from numpy.typing import NDArray

from glasshead.statistics.resampling import chunks, seed_from

EXCHANGE_TIE = 1e-9  # sums that differ by so little of their size are ties: sums in another order


def exchange_tails(
    values: NDArray[np.floating], *, rng: np.random.Generator, level: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The p-values of a sum over units as large, and as small, as that of the first numbers, if all K
    numbers of each unit are exchangeable.

    In every draw each unit takes one of its K numbers, and p = (1 + #{Σ* ≥ Σ}) / (1 + draws), which holds
    for any distribution of the numbers. A unit that lacks one of them is left out. There are enough draws
    for p to fall below (1 − ``level``) / 2.

    Shapes: ``values`` [S, K, N] → two of [S]. One number is drawn from ``rng``.

    Source: Fisher (1935), section 21; Phipson and Smyth (2010), for p of random draws.
    """
    known = ~np.isnan(values).any(axis=1, keepdims=True)
    values = np.where(known, values, 0.0)
    statistics, places, units = values.shape
    resamples = max(2000, int(np.ceil(10 / (1 - level))))
    draws = np.random.default_rng(seed_from(rng, level, resamples))
    observed = values[:, 0].sum(axis=1)
    width = EXCHANGE_TIE * np.abs(values).max(axis=1).sum(axis=1)
    larger, smaller = np.zeros((2, statistics))
    for count in chunks(units, resamples):
        drawn = draws.integers(places, size=(count, units))
        sums = np.zeros((count, statistics))
        for place in range(places):
            sums += (drawn == place).astype(np.float64) @ values[:, place].T
        larger += (sums >= observed - width).sum(axis=0)
        smaller += (sums <= observed + width).sum(axis=0)
    return (1 + larger) / (1 + resamples), (1 + smaller) / (1 + resamples)

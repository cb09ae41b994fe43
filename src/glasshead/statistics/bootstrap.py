"""How sure a mean, or a comparison of two groups, can be: percentile bootstrap over examples.

Every resample is an exact multinomial draw, kept as counts, so that one matrix product averages it for all
statistics of the same examples. Percentile intervals (Efron, 1979), neither bias-corrected nor accelerated:
they stay inside the range of the data and need no second loop over examples.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from glasshead.statistics.resampling import (
    CHUNK_DRAWS,
    LEVEL,
    RESAMPLES,
    interval_ends,
    resampled_counts,
    tally,
)


class Estimate(NamedTuple):
    """A mean over ``n`` units with its standard deviation and the ends of its interval; None is undefined.

    Nothing is defined for n = 0. With n = 1 there is a mean, but neither a deviation nor an interval: every
    resample would repeat the one value, and a width of zero would claim a certainty that nobody has.
    """

    mean: float | None
    std: float | None
    low: float | None
    high: float | None
    n: int

    @property
    def interval(self) -> tuple[float, float] | None:
        """Both ends, or None."""
        return None if self.low is None or self.high is None else (self.low, self.high)


def mean_interval(
    values: ArrayLike, *, rng: np.random.Generator, level: float = LEVEL, resamples: int = RESAMPLES
) -> Estimate:
    """Mean, standard deviation and bootstrap interval of one statistic [N]: see ``mean_intervals``."""
    return mean_intervals(np.asarray(values)[None], rng=rng, level=level, resamples=resamples)[0]


def mean_intervals(
    values: ArrayLike, *, rng: np.random.Generator, level: float = LEVEL, resamples: int = RESAMPLES
) -> list[Estimate]:
    """The mean of each statistic over examples, with a percentile bootstrap interval.

    [q_{(1−level)/2}, q_{(1+level)/2}] of Σ_i c_i v_i / n, c ~ Multinomial(n; 1/n, …, 1/n). NaN is left out:
    n counts the rest. ``std`` is that of a sample (ddof = 1). Rows defined on the same examples share their
    resamples, and the interval of a row does not depend on the rows beside it.

    Shapes: ``values`` [S, N] → S estimates. One number is drawn from ``rng``.

    Raises:
        ValueError: a value is infinite, or ``values``, ``level`` or ``resamples`` make no sense.

    Source: Efron, Annals of Statistics 7 (1979); ``scipy.stats.bootstrap(method="percentile")``.
    """
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 2:
        raise ValueError(f"values must be [statistics, examples], not of shape {values.shape}")
    if np.isinf(values).any():
        raise ValueError("values hold infinities, and their mean has no interval: mask them with NaN")
    seed = _seed(rng, level, resamples)
    defined = ~np.isnan(values)
    estimates: dict[int, Estimate] = {}
    for rows in _same(defined):
        kept = values[rows][:, defined[rows[0]]]  # [S', n]
        n = kept.shape[1]
        if n == 0:
            estimates |= dict.fromkeys(rows, Estimate(None, None, None, None, 0))
            continue
        means = kept.mean(axis=1)
        if n == 1:
            estimates |= {
                row: Estimate(float(m), None, None, None, 1) for row, m in zip(rows, means, strict=True)
            }
            continue
        stds = kept.std(axis=1, ddof=1)
        centred = kept - means[:, None]  # no digits are lost to a large mean
        drawn = resampled_counts(n, resamples, np.random.default_rng(seed))
        shifts = [counts @ centred.T / n for counts in drawn]
        lows, highs = interval_ends(np.concatenate(shifts), level)
        for index, row in enumerate(rows):
            mean, low, high = float(means[index]), float(lows[index]), float(highs[index])
            estimates[row] = Estimate(mean, float(stds[index]), mean + low, mean + high, n)
    return [estimates[row] for row in range(len(values))]


def auc_interval(
    positive: ArrayLike,
    negative: ArrayLike,
    *,
    rng: np.random.Generator,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
) -> Estimate:
    """How often a value of the first group exceeds one of the second, with both groups resampled.

    AUC = Σ_i Σ_j ([p_i > q_j] + ½ [p_i = q_j]) / (n_p n_q), the mean over all pairs. NaN is left out. ``n``
    is n_p + n_q and ``std`` is None: pairs are not independent. An empty group leaves the AUC undefined; a
    group of one leaves the interval undefined.

    Shapes: ``positive`` [P], ``negative`` [Q]. One number is drawn from ``rng``.

    Raises:
        ValueError: a group is not a vector, or ``level`` or ``resamples`` make no sense.

    Source: Mann & Whitney, Annals of Mathematical Statistics 18 (1947); ``sklearn.metrics.roc_auc_score``.
    """
    groups = [np.asarray(group, dtype=np.float64) for group in (positive, negative)]
    if any(group.ndim != 1 for group in groups):
        raise ValueError(f"both groups must be vectors, not of shapes {[group.shape for group in groups]}")
    first, second = (group[~np.isnan(group)] for group in groups)
    draws = np.random.default_rng(_seed(rng, level, resamples))
    n = len(first) + len(second)
    if not len(first) or not len(second):
        return Estimate(None, None, None, None, n)
    levels, place = np.unique(np.concatenate([first, second]), return_inverse=True)
    p, q = place[: len(first)], place[len(first) :]

    def area(above: NDArray[np.intp], below: NDArray[np.intp]) -> NDArray[np.float64]:
        """AUC [R] from how often each level occurs in either group, both [R, K]."""
        wins = np.cumsum(below, axis=1) - below / 2
        return np.einsum("rk,rk->r", above, wins) / (len(first) * len(second))

    auc = float(area(*(np.bincount(group, minlength=len(levels))[None] for group in (p, q)))[0])
    if len(first) == 1 or len(second) == 1:
        return Estimate(auc, None, None, None, n)
    areas = []
    rows = max(CHUNK_DRAWS // n, 1)
    for start in range(0, resamples, rows):
        count = min(rows, resamples - start)
        drawn = [group[draws.integers(len(group), size=(count, len(group)))] for group in (p, q)]
        areas.append(area(*(tally(group, len(levels)) for group in drawn)))
    low, high = interval_ends(np.concatenate(areas), level)
    return Estimate(auc, None, float(low), float(high), n)


def _seed(rng: np.random.Generator, level: float, resamples: int) -> int:
    """One draw, from which everything else of a call follows."""
    if not 0 < level < 1 or resamples < 1:
        raise ValueError(
            f"level {level} must lie between 0 and 1, and resamples {resamples} must be positive"
        )
    return int(rng.integers(2**63))


def _same(defined: NDArray[np.bool_]) -> list[list[int]]:
    """Rows of ``defined`` [S, N] grouped by what they hold."""
    groups: dict[bytes, list[int]] = {}
    for row, pattern in enumerate(np.packbits(defined, axis=1)):
        groups.setdefault(pattern.tobytes(), []).append(row)
    return list(groups.values())

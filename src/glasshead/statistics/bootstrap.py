"""How sure a mean, or a comparison of two groups, can be: percentile bootstrap over examples.

Every resample is an exact multinomial draw, kept as counts, so that one matrix product averages it for all
statistics of the same examples. Percentile intervals (Efron, 1979), neither bias-corrected nor accelerated:
they stay inside the range of the data and need no second loop over examples.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from glasshead.statistics.kendall import kendall_tau_b
from glasshead.statistics.resampling import (
    LEVEL,
    RESAMPLES,
    chunks,
    interval_ends,
    resample_means,
    resamples_for,
    seed_from,
    widen_level,
)

SAME_WITHIN = 1e-12
"""Relative: numbers of float64 that differ by less are the same."""


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
    resamples, and the interval of a row does not depend on the rows beside it. Levels above 95 %, which are
    corrected for several intervals, are expanded: the tails of few examples lie further out.

    Shapes: ``metric_values`` [S, N] → S estimates. One number is drawn from ``rng``.

    Raises:
        ValueError: a value is infinite, or ``metric_values``, ``level`` or ``resamples`` make no sense.

    Source: Efron, Annals of Statistics 7 (1979); ``scipy.stats.bootstrap(method="percentile")``.
    """
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 2:
        raise ValueError(f"values must be [statistics, examples], not of shape {values.shape}")
    if np.isinf(values).any():
        raise ValueError("values hold infinities, and their mean has no interval: mask them with NaN")
    seed = seed_from(rng, level, resamples)
    defined = ~np.isnan(values)
    estimates: dict[int, Estimate] = {}
    for rows in group_by_pattern(defined):
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
        centred = kept - means[:, None]  # no digits are lost to a large mean
        unit = np.abs(centred).max(axis=1, keepdims=True)
        unit[unit == 0] = 1.0
        stds = unit[:, 0] * (centred / unit).std(axis=1, ddof=1)  # squares of large numbers overflow
        shifts = resample_means(centred, resamples, np.random.default_rng(seed))
        lows, highs = interval_ends(shifts, widen_level(level, n) if level > LEVEL else level)
        for index, row in enumerate(rows):
            mean, low, high = float(means[index]), float(lows[index]), float(highs[index])
            estimates[row] = Estimate(mean, float(stds[index]), mean + low, mean + high, n)
    return [estimates[row] for row in range(len(values))]


def mean_difference_interval(
    first: NDArray[np.float64], second: NDArray[np.float64], *, rng: np.random.Generator
) -> tuple[float, float] | None:
    """Percentile interval of the difference of two means, both groups resampled; None for a group of one."""
    if len(first) < 2 or len(second) < 2:
        return None
    ours, theirs = (resample_means(sample[None], RESAMPLES, rng)[:, 0] for sample in (first, second))
    low, high = interval_ends(ours - theirs, LEVEL)
    return float(low), float(high)


def largest_mean(values: NDArray[np.float64], *, rng: np.random.Generator) -> int | None:
    """Which of the rows [S, n] has a mean that is larger in size than all others, whatever examples are drawn
    (in 95 % of the draws); None if none has."""
    ranks = np.abs(resample_means(values, RESAMPLES, rng)).argmax(axis=1)
    first = int(np.bincount(ranks, minlength=len(values)).argmax())
    return first if float((ranks == first).mean()) >= LEVEL else None


def share_interval(true: NDArray[np.bool_], level: float = LEVEL) -> Estimate:
    """A share with its exact interval (Clopper and Pearson 1934), which is no point even at 0 and 1."""
    n = len(true)
    if not n:
        return Estimate(None, None, None, None, 0)
    from scipy.stats import binomtest  # takes as long to import as torch does

    low, high = binomtest(int(true.sum()), n).proportion_ci(level)
    std = float(true.std(ddof=1)) if n > 1 else None
    return Estimate(float(true.mean()), std, float(low), float(high), n)


def interval_of_equals(
    value: float, n: int, level: float = LEVEL, *, least: float = -1.0
) -> tuple[float, float]:
    """The interval of a mean of n numbers between ``least`` and 1 that are all one ``value``: differences of
    shares, or from 0 on shares.

    Of 0 in n that differ, at most u = 1 − ((1 − level) / 2)^(1/n) do (Clopper and Pearson 1934), each by what
    is possible at most: [value − u (value − least), value + u (1 − value)]. The bootstrap would be a point.
    """
    most = 1 - ((1 - level) / 2) ** (1 / n)
    return value - most * (value - least), value + most * (1 - value)


def tau_interval(
    x: NDArray[np.floating],
    y: NDArray[np.floating],
    *,
    rng: np.random.Generator,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
) -> Estimate:
    """Kendall's τ-b of two vectors with a percentile bootstrap interval over their entries.

    An entry that is drawn twice is tied with itself in both vectors, and τ-b leaves such pairs out. Draws in
    which a vector is constant have no τ and are left out.
    """
    n = len(x)
    draws = np.random.default_rng(seed_from(rng, level, resamples))
    (tau,) = kendall_tau_b(x[None], y[None], np.ones((1, n), dtype=bool)).tau
    if np.isnan(tau):
        return Estimate(None, None, None, None, n)
    replicates = []
    for count in chunks(n, resamples):
        drawn = draws.integers(n, size=(count, n))
        replicates.append(kendall_tau_b(x[drawn], y[drawn], np.ones(drawn.shape, dtype=bool)).tau)
    values = np.concatenate(replicates)
    low, high = interval_ends(values[~np.isnan(values)], level)
    return Estimate(float(tau), None, float(low), float(high), n)


def intervals_beside_nulls(
    values: Sequence[NDArray[np.floating]],
    nulls: Sequence[Mapping[str, NDArray[np.floating] | None]],
    *,
    rng: np.random.Generator,
    level: float = LEVEL,
) -> list[tuple[Estimate, dict[str, Estimate]]]:
    """The mean of each statistic of the same units, and of its paired difference from each of its nulls.

    NaNs are units without the statistic. One bootstrap serves them all, so intervals of different statistics
    rest on the same resamples. A null that is None, or shares no unit with its statistic, has no difference.
    """
    paired = [
        (row, name, null)
        for row, nulls_of_row in enumerate(nulls)
        for name, null in nulls_of_row.items()
        if null is not None
    ]
    differences = [beyond_rounding(values[row], null) for row, _, null in paired]
    stacked = np.stack([*values, *differences])
    estimates = mean_intervals(stacked, rng=rng, level=level, resamples=resamples_for(level))
    over_nulls: list[dict[str, Estimate]] = [{} for _ in values]
    for (row, name, _), estimate in zip(paired, estimates[len(values) :], strict=True):
        if estimate.mean is not None:
            over_nulls[row][name] = estimate
    return list(zip(estimates[: len(values)], over_nulls, strict=True))


def beyond_rounding(a: NDArray[np.floating], b: NDArray[np.floating]) -> NDArray[np.floating]:
    """a − b, 0 where they differ by rounding alone, which else would be a difference that never varies."""
    difference = a - b
    return np.where(np.abs(difference) <= SAME_WITHIN * np.maximum(np.abs(a), np.abs(b)), 0.0, difference)


def nan_mean(values: NDArray[np.floating] | None) -> float | None:
    """The mean of what is no NaN; None of nothing."""
    defined = np.array([]) if values is None else values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else None


def group_by_pattern(defined: NDArray[np.bool_]) -> list[list[int]]:
    """Rows of ``defined`` [S, N] grouped by what they hold."""
    groups: dict[bytes, list[int]] = {}
    for row, pattern in enumerate(np.packbits(defined, axis=1)):
        groups.setdefault(pattern.tobytes(), []).append(row)
    return list(groups.values())

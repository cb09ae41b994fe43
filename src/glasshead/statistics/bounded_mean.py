"""Exact intervals: of a share, and of a mean of numbers of which nothing is known but their range."""

import numpy as np
from scipy.special import betaincinv

from glasshead.arrays import Floats
from glasshead.statistics.resampling import LEVEL, chunks


def share_ends(ones: float, n: float, level: float = LEVEL) -> tuple[float, float]:
    """The exact interval of a share, from ``ones`` successes in n; it is not a point even at 0 and 1.

    [B_{α/2}(k, n − k + 1), B_{1−α/2}(k + 1, n − k)], quantiles of Beta distributions, 1 − α the level.

    Source: Clopper and Pearson, Biometrika 26 (1934).
    """
    tail = (1 - level) / 2
    low = float(betaincinv(ones, n - ones + 1, tail)) if ones else 0.0
    high = float(betaincinv(ones + 1, n - ones, 1 - tail)) if ones < n else 1.0
    return low, high


def interval_of_equals(
    value: float, n: float, level: float = LEVEL, *, least: float = -1.0, most: float = 1.0
) -> tuple[float, float]:
    """The interval of a mean of n numbers between ``least`` and ``most`` that all equal ``value``: shares
    or differences of shares.

    If none of n numbers differs, a share of at most u = 1 − ((1 − level) / 2)^(1/n) can differ (Clopper and
    Pearson 1934), each by the maximum: [value − u (value − least), value + u (most − value)]. The bootstrap
    interval would be a point.
    """
    differing = 1 - ((1 - level) / 2) ** (1 / n)
    return value - differing * (value - least), value + differing * (most - value)


def bounded_ends(
    values: Floats,
    within: Floats,
    level: float,
    resamples: int,
    rng: np.random.Generator,
    nearest: Floats | None = None,
) -> Floats:
    """The interval [2, S] of the mean of each row of ``values`` [S, n], whose numbers lie ``within`` [S, 2];
    or ``nearest`` [2, S], where an end of that lies nearer to the mean.

    The sample with one more number, the one that it does not show, at the least that is possible for the
    lower end and at the most for the upper one:
    [Q_α(Σ_i w_i v_i + w_{n+1} least), Q_{1−α}(Σ_i w_i v_i + w_{n+1} most)], w ~ Dirichlet(1, …, 1) and α half
    of what the level leaves over. Of zeros and ones these are the ends of Clopper and Pearson (`share_ends`),
    and of numbers that are all alike those of `interval_of_equals`. It is conjectured to cover the mean of
    any distribution as often as it says, also where the numbers that matter are so rare that a sample may
    hold none, and no distribution is known of which it does not.

    Source: Learned-Miller and Thomas, arXiv:1905.06208 (2019); Phan et al., ICML 2021.
    """
    n, draws = values.shape[1], np.empty((len(values), resamples))
    unseen, start = np.empty(resamples), 0
    for count in chunks(n + 1, resamples):
        weights = rng.standard_exponential((count, n + 1))
        weights /= weights.sum(axis=1, keepdims=True)
        np.matmul(values, weights[:, :n].T, out=draws[:, start : start + count])
        unseen[start : start + count] = weights[:, n]
        start += count
    tail, ends = (1 - level) / 2, np.empty((2, len(values)))
    for side, sign in enumerate((-1.0, 1.0)):
        for row, (drawn, end) in enumerate(zip(draws, within[:, side], strict=True)):
            outward = sign * (drawn + end * unseen)
            if nearest is not None and np.mean(outward > sign * nearest[side, row]) > tail:
                ends[side, row] = nearest[side, row]
            else:
                ends[side, row] = sign * np.quantile(outward, 1 - tail, overwrite_input=True)
    return ends

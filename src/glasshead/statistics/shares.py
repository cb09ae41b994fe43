"""Shares of words that stand in sentences: words of one sentence are right or wrong together."""

import numpy as np

from glasshead.arrays import Floats
from glasshead.statistics.bounded_mean import interval_of_equals
from glasshead.statistics.exchange import exchange_tails
from glasshead.statistics.resampling import LEVEL, draw_counts, interval_ends, resamples_for, widen_level


def cluster_interval(hits: Floats, totals: Floats, level: float = LEVEL) -> tuple[float, float]:
    """The interval of Σ hits / Σ totals over n clusters [n]: that of Clopper and Pearson (1934) for as many
    independent trials as have the same variance, which is not a point even at 0 and 1.

    With p the share and v = n/(n − 1) Σ(hits − p totals)² / (Σ totals)², these are p (1 − p) / v trials,
    times (t_{N−1} / t_{n−1})² for N words, N at most. If all are right, or none, each cluster is one trial.

    With few clusters that are nearly all right it covers too rarely, since samples often show too little
    variance. 4,000 draws of clusters of 1 to 11 words, whose share is from Beta(0.45, 0.05) (0.9 in the
    mean, and nearly every cluster all right or all wrong): the 95 % interval misses it in 9.1 % of the
    draws of 20 clusters, 6.9 % of 40 and 4.9 % of 100. With shares from Beta(4.5, 0.5), or 0.5 in the mean,
    it misses less than 5 % of the draws of 20.

    Source: Korn and Graubard, Survey Methodology 24 (1998).
    """
    from scipy.stats import beta, t  # takes as long to import as torch does

    kept = totals > 0
    hits, totals = hits[kept], totals[kept]
    n, words = len(totals), float(totals.sum())
    share, tail = float(hits.sum()) / words, (1 - level) / 2
    variance = n / max(n - 1, 1) * float(np.square(hits - share * totals).sum()) / words**2
    trials = float(n)
    if 0 < share < 1 and variance > 0:
        fewer = (t.ppf(tail, words - 1) / t.ppf(tail, n - 1)) ** 2
        trials = min(share * (1 - share) / variance * fewer, words)
    right = share * trials
    low = 0.0 if share == 0 else float(beta.ppf(tail, right, trials - right + 1))
    high = 1.0 if share == 1 else float(beta.ppf(1 - tail, right + 1, trials - right))
    return low, high


def share_difference_interval(
    first: Floats, second: Floats, totals: Floats, *, rng: np.random.Generator, level: float = LEVEL
) -> tuple[float, float]:
    """The interval of (Σ first − Σ second) / Σ totals over n clusters [n] that both have judged.

    The percentile bootstrap over clusters, widened to Student's t. If it excludes 0 but an exchange test
    does not confirm this, it is extended to 0. Such a test keeps its level even if a few clusters make the
    whole difference; the bootstrap does not.
    """
    kept = totals > 0
    gaps, totals = (first - second)[kept], totals[kept]
    n, difference = len(totals), float(gaps.sum() / totals.sum())
    if np.ptp(gaps / totals) == 0:
        return interval_of_equals(difference, n, level)
    replicates = np.concatenate(
        [(counts @ gaps) / (counts @ totals) for counts in draw_counts(n, resamples_for(level), rng)]
    )
    low, high = map(float, interval_ends(replicates, widen_level(level, n)))
    if low > 0 or high < 0:
        larger, smaller = exchange_tails(np.stack([gaps, 0 * gaps])[None], rng=rng, level=level)
        beyond = (1 - level) / 2
        low = 0.0 if low > 0 and larger[0] > beyond else low
        high = 0.0 if high < 0 and smaller[0] > beyond else high
    return low, high

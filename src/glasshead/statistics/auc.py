"""How often a value of one group exceeds one of another: the area under the ROC curve, with its interval."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit, stdtrit

from glasshead.arrays import AnyFloats
from glasshead.statistics.bootstrap import Estimate
from glasshead.statistics.bounded_mean import interval_of_equals
from glasshead.statistics.resampling import (
    LEVEL,
    RESAMPLES,
    chunks,
    interval_ends,
    seed_from,
    tally,
    widen_level,
)

Counts = NDArray[np.integer]
Pair = tuple[AnyFloats, AnyFloats]


def auc(positive: AnyFloats, negative: AnyFloats) -> float:
    """Σ_i Σ_j ([p_i > q_j] + ½ [p_i = q_j]) / (P Q), both groups hold something."""
    ordered = np.sort(negative)
    wins = sum(int(np.searchsorted(ordered, positive, side=side).sum()) for side in ("left", "right"))
    return float(wins / 2 / (len(positive) * len(negative)))


def resample_auc(
    first: AnyFloats, second: AnyFloats, first_counts: Counts, second_counts: Counts
) -> AnyFloats:
    """Σ_i Σ_j c_i d_j ([p_i > q_j] + ½ [p_i = q_j]) / (P Q) of every resample, given as counts c [R, P] and
    d [R, Q]: [R]."""
    order = second.argsort()
    below = np.pad(second_counts[:, order].cumsum(axis=1), ((0, 0), (1, 0)))  # [R, Q + 1]
    less, up_to = (np.searchsorted(second[order], first, side=side) for side in ("left", "right"))
    wins = (below[:, less] + below[:, up_to]) / 2  # [R, P]
    areas: AnyFloats = (wins * first_counts).sum(axis=1) / (len(first) * len(second))
    return areas


def auc_interval(
    positive: ArrayLike,
    negative: ArrayLike,
    *,
    rng: np.random.Generator,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
) -> Estimate:
    """How often a value of the first group exceeds one of the second, with its interval.

    AUC = Σ_i Σ_j ([p_i > q_j] + ½ [p_i = q_j]) / (n_p n_q), the mean over all pairs. NaN is left out. ``n``
    is n_p + n_q and ``std`` is None: pairs are not independent. An empty group leaves the AUC undefined; a
    group of one leaves the interval undefined. Each end is the outer one of two intervals: the percentile
    bootstrap of both groups, widened to Student's t for the smaller one, and `placement_ends`, which is
    valid if the groups hardly overlap. For groups that do not overlap, or are constant, it is that of
    min(n_p, n_q) pairs, all in one order (Clopper and Pearson 1934).

    Shapes: ``positive`` [P], ``negative`` [Q]. One number is drawn from ``rng``.

    Raises:
        ValueError: a group is not a vector, or ``level`` or ``resamples`` make no sense.

    Source: Mann & Whitney, Annals of Mathematical Statistics 18 (1947); ``sklearn.metrics.roc_auc_score``.
    """
    groups = [np.asarray(group, dtype=np.float64) for group in (positive, negative)]
    if any(group.ndim != 1 for group in groups):
        raise ValueError(f"both groups must be vectors, not of shapes {[group.shape for group in groups]}")
    first, second = (group[~np.isnan(group)] for group in groups)
    draws = np.random.default_rng(seed_from(rng, level, resamples))
    n = len(first) + len(second)
    if not len(first) or not len(second):
        return Estimate(None, None, None, None, n)
    area = auc(first, second)
    if len(first) == 1 or len(second) == 1:
        return Estimate(area, None, None, None, n)
    areas = []
    for count in chunks(n, resamples):
        drawn = [tally(draws.integers(len(g), size=(count, len(g))), len(g)) for g in (first, second)]
        areas.append(resample_auc(first, second, *drawn))
    fewer = min(len(first), len(second))
    low, high = interval_ends(np.concatenate(areas), widen_level(level, fewer))
    if area in (0.0, 1.0) or np.ptp([first.min(), first.max(), second.min(), second.max()]) == 0:
        low, high = interval_of_equals(area, fewer, level, least=0.0)  # disjoint pairs that are all alike
    else:
        least, most = placement_ends(first, second, area, level)
        low, high = min(low, least), max(high, most)
    return Estimate(area, None, float(low), float(high), n)


def placement_ends(first: AnyFloats, second: AnyFloats, area: float, level: float) -> tuple[float, float]:
    """The ends of an AUC between 0 and 1, on the scale of its logit: ± t √v / (A (1 − A)).

    v = s²(u) / P + s²(w) / Q, u_i the share of the second group below p_i and w_j that of the first above
    q_j, with the degrees of freedom of Welch.

    Source: DeLong, DeLong and Clarke-Pearson, Biometrics 44 (1988); Pepe, The Statistical Evaluation of
    Medical Tests (2003), chapter 5.
    """
    parts = []
    for one, other in ((first, second), (second, first)):
        ordered = np.sort(other)
        sides = [np.searchsorted(ordered, one, side=side) for side in ("left", "right")]
        parts.append(float(np.var((sides[0] + sides[1]) / (2 * len(other)), ddof=1)) / len(one))
    variance = sum(parts)
    if variance == 0:
        return area, area
    degrees = variance**2 / sum(v**2 / (len(g) - 1) for v, g in zip(parts, (first, second), strict=True))
    half = stdtrit(degrees, (1 + level) / 2) * np.sqrt(variance) / (area * (1 - area))
    middle = logit(area)
    return float(expit(middle - half)), float(expit(middle + half))


def auc_difference_interval(
    before: Pair, after: Pair, *, rng: np.random.Generator, level: float = LEVEL, resamples: int = RESAMPLES
) -> Estimate:
    """AUC after − AUC before of the same units of two groups, with both groups resampled.

    Undefined where `auc_interval` is: an empty group has no AUC, a group of one no interval.
    """
    p, q = len(before[0]), len(before[1])
    draws = np.random.default_rng(seed_from(rng, level, resamples))
    if not p or not q:
        return Estimate(None, None, None, None, p + q)
    gain = auc(*after) - auc(*before)
    if p == 1 or q == 1:
        return Estimate(gain, None, None, None, p + q)
    gains = []
    for count in chunks(p + q, resamples):
        drawn = [draws.multinomial(n, np.full(n, 1 / n), size=count) for n in (p, q)]
        gains.append(resample_auc(*after, *drawn) - resample_auc(*before, *drawn))
    low, high = interval_ends(np.concatenate(gains), widen_level(level, min(p, q)))
    return Estimate(gain, None, float(low), float(high), p + q)

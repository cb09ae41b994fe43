"""The interval of a mean by the bootstrap of Student's t, which follows the skew of the sample."""

import math

import numpy as np
from scipy.special import ndtr, ndtri, stdtrit

from glasshead.arrays import Floats
from glasshead.statistics.resampling import RESAMPLES, draw_counts

NO_SPREAD = 1e-10
"""A variance of a resample that is no larger a part of that of the sample is 0 but for rounding."""
NO_SHIFT = 1e-12
"""And so is a mean of numbers of size 1."""
ROWS = 64
"""Statistics of one product."""


def student_ends(centred: Floats, level: float) -> Floats:
    """∓ t_{n−1} s / √n of each row of ``centred`` [S, n]: [2, S]."""
    n = centred.shape[1]
    half = stdtrit(n - 1, (1 + level) / 2) * centred.std(axis=1) / np.sqrt(n - 1)
    return np.stack([-half, half])


def bootstrap_t_ends(centred: Floats, level: float, resamples: int, rng: np.random.Generator) -> Floats:
    """Ends [2, S], from the mean, of the interval of the mean of each row of ``centred`` [S, n], whose mean
    is 0 and largest size 1.

    [−Q_{1−α}(t*) σ, −Q_α(t*) σ], t* = m* / σ* of every resample, σ the deviation. α is expanded from half of
    what the level leaves over, α = Φ(n/(n−1) Φ⁻¹((1 − level)/2)): else 20 log-normal numbers miss their mean
    too often. One product of numbers and counts, and one of squares and counts, serve all resamples. One that
    is all alike has no σ*, and its t* is infinite: where so many are that an end is infinite too, the sample
    cannot say where it lies.

    Source: Efron, Canadian Journal of Statistics 9 (1981); Hesterberg, American Statistician 69 (2015), who
    finds it the most accurate of the simple bootstrap intervals where numbers are skewed.
    """
    n = centred.shape[1]
    variance = centred.var(axis=1)
    ratios, start = np.empty((len(centred), resamples)), 0
    for counts in draw_counts(n, resamples, rng):
        for first in range(0, len(centred), ROWS):  # what stays near the processor
            rows = slice(first, first + ROWS)
            means, variances = resample_moments(centred[rows], counts)
            with np.errstate(divide="ignore", invalid="ignore"):
                np.divide(means, np.sqrt(variances), out=ratios[rows, start : start + len(counts)])
        start += len(counts)
    return ends_of_ratios(ratios, n, level) * np.sqrt(variance)


def mean_difference_ends(one: Floats, other: Floats, level: float, rng: np.random.Generator) -> Floats:
    """The ends [2] of the interval of mean(one) − mean(other) of two samples [n], [m].

    Either is the further one of the bootstrap-t of both samples, its level expanded for the smaller one, and
    of Welch's t; infinite where too few differ from the others of their sample.
    """
    difference, scale = one.mean() - other.mean(), max(np.ptp(one), np.ptp(other))
    samples = [(sample - sample.mean())[None] / scale for sample in (one, other)]
    errors = [sample.var() / (sample.size - 1) for sample in samples]
    moments = []
    for sample in samples:
        chunks = [resample_moments(sample, counts) for counts in draw_counts(sample.size, RESAMPLES, rng)]
        moments.append([np.concatenate(parts, axis=1) for parts in zip(*chunks, strict=True)])
    (means, variances), (their_means, their_variances) = moments
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = variances / (one.size - 1) + their_variances / (other.size - 1)
        ratios = (means - their_means) / np.sqrt(spread)
    low, high = ends_of_ratios(ratios, min(one.size, other.size), level)[:, 0]
    degrees = sum(errors) ** 2 / sum(e**2 / (s.size - 1) for e, s in zip(errors, samples, strict=True))
    half = stdtrit(degrees, (1 + level) / 2)
    ends = np.array([min(low, -half), max(high, half)])
    return np.asarray(difference + ends * np.sqrt(sum(errors)) * scale)


def resample_moments(centred: Floats, counts: Floats) -> tuple[Floats, Floats]:
    """Means and variances [S, R] of rows [S, n], of size 1 at most, in every resample, given as counts
    [R, n]; exactly 0 where all that was drawn is alike."""
    n = centred.shape[1]
    means = centred @ counts.T / n
    variances = np.square(centred) @ counts.T / n - np.square(means)
    alike = variances <= NO_SPREAD * centred.var(axis=1)[:, None]
    variances[alike] = 0.0
    means[alike & (np.abs(means) <= NO_SHIFT)] = 0.0
    return means, variances


def ends_of_ratios(ratios: Floats, n: int, level: float) -> Floats:
    """−Q_{1−α} and −Q_α of t* [S, R], which is sorted in part: [2, S]."""
    last = ratios.shape[1] - 1
    place = math.ceil((1 - ndtr(n / (n - 1) * ndtri((1 - level) / 2))) * last)
    ratios.partition((last - place, place, last), axis=1)
    low, high = ratios[:, last - place].copy(), ratios[:, place].copy()
    unknown = np.isnan(ratios[:, last])  # 0 / 0 counts against both ends, and NaN is sorted last
    low[unknown] = -np.partition(-ratios[unknown], place, axis=1)[:, place]
    ends = np.stack([-high, -low])
    return np.where(np.isnan(ends), [[-np.inf], [np.inf]], ends)

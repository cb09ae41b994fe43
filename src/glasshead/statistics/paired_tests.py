"""Is one model better than another? Tests of two groups of runs on the same examples.

A group is one mechanism trained with one or more seeds. Its metric is the mean over its runs. Everything a
metric needs from an example is a short row of numbers whose sum over examples decides the metric, so that
resampling examples is one matrix product for all runs, metrics and resamples.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasshead.arrays import AnyFloats
from glasshead.statistics.bootstrap import UNKNOWN, mean_interval
from glasshead.statistics.resampling import LEVEL, RESAMPLES, draw_counts, interval_ends, widen_level

DRAWS_AT_ONCE = 1 << 22  # coin tosses held at once
TIE_WIDTH = 1e-12  # statistics that differ by less are ties: sums in another order


@dataclass(frozen=True)
class Predictions:
    """The predictions of the runs of one group for the same examples: ``predicted`` [S, n], ``labels`` [n].

    Both hold class numbers below ``classes``, or ratings if there are no classes. ``seeds`` [S] are
    ascending.
    """

    seeds: tuple[int, ...]
    labels: NDArray[Any]
    predicted: NDArray[Any]
    classes: int | None


class TTest(NamedTuple):
    """Student's t with its degrees of freedom and p; ``paired``, or Welch's."""

    t: float
    degrees: float
    p: float
    paired: bool


@dataclass(frozen=True)
class Metric:
    """A metric by its sums: ``rows`` gives [S, n, K], ``value`` makes [..., S] of sums [..., S, K] and n."""

    rows: Callable[[Predictions], AnyFloats]
    value: Callable[[AnyFloats, int], AnyFloats]
    higher_is_better: bool
    additive: bool
    """A mean over examples, so that the mean over runs is one too."""
    changes: tuple[float, float] = UNKNOWN
    """The least and the most by which two runs can differ in one example."""


def is_correct(predictions: Predictions) -> AnyFloats:
    """[ŷ = y]."""
    return (predictions.predicted == predictions.labels)[..., None].astype(np.float32)


def confusion_counts(predictions: Predictions) -> AnyFloats:
    """Counts of every class: [ŷ = k = y], and [ŷ = k] + [y = k]."""
    kinds = np.arange(predictions.classes or 0)
    predicted, true = (
        predictions.predicted[..., None] == kinds,
        predictions.labels[:, None] == kinds,
    )  # [S, n, K], [n, K]
    both = np.concatenate([predicted & true, predicted.astype(np.int8) + true], axis=-1)
    return both.astype(np.float32)  # counts below 2^24 are exact


def macro_f1(sums: AnyFloats, n: int) -> AnyFloats:
    """Mean of F_k = 2 TP_k / (predicted_k + true_k) over the classes that occur, as scikit-learn has it."""
    hits, either = np.split(sums.astype(np.float64), 2, axis=-1)
    score = np.divide(2 * hits, either, out=np.zeros_like(hits), where=either > 0)
    return score.sum(axis=-1) / (either > 0).sum(axis=-1)


def mean_over_examples(sums: AnyFloats, n: int) -> AnyFloats:
    """A mean over examples."""
    return sums[..., 0].astype(np.float64) / n


METRICS = {
    "accuracy": Metric(
        is_correct, mean_over_examples, higher_is_better=True, additive=True, changes=(-1.0, 1.0)
    ),
    "macro_f1": Metric(confusion_counts, macro_f1, higher_is_better=True, additive=False),
    "rmse": Metric(
        lambda predictions: np.square(predictions.predicted - predictions.labels)[..., None],
        lambda sums, n: np.sqrt(mean_over_examples(sums, n)),
        higher_is_better=False,
        additive=False,
    ),
    "mae": Metric(
        lambda predictions: np.abs(predictions.predicted - predictions.labels)[..., None],
        mean_over_examples,
        higher_is_better=False,
        additive=True,
    ),
}


def metrics_of(predictions: Predictions) -> dict[str, Metric]:
    """The metrics of classes, or of ratings."""
    names = ("rmse", "mae") if predictions.classes is None else ("accuracy", "macro_f1")
    return {name: METRICS[name] for name in names}


def metric_values(metric: Metric, predictions: Predictions) -> AnyFloats:
    """The metric of every run [S]."""
    return metric.value(metric.rows(predictions).sum(axis=1), len(predictions.labels))


def same_seeds(first: Predictions, second: Predictions) -> bool:
    """Whether run s of both groups started from the same seed."""
    return first.seeds == second.seeds


def seed_test(first: AnyFloats, second: AnyFloats, *, paired: bool) -> TTest | None:
    """Student's t-test of a metric over seeds [S]: of the differences if paired by seed, else Welch's.

    None with fewer than two seeds on a side, or if nothing varies.

    Source: the t-test of Wu, Wu and Huang (2021), section 4.2; Student (1908), Welch (1947).
    """
    if min(len(first), len(second)) < 2:
        return None
    varying = [first - second] if paired else [first, second]
    if not any(np.ptp(sample) > TIE_WIDTH for sample in varying):
        return None
    from scipy import stats  # takes as long to import as torch does

    result = stats.ttest_rel(first, second) if paired else stats.ttest_ind(first, second, equal_var=False)
    return TTest(float(result.statistic), float(result.df), float(result.pvalue), paired)


def difference_intervals(
    first: Predictions,
    second: Predictions,
    metrics: Sequence[Metric],
    *,
    rng: np.random.Generator,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
) -> list[tuple[float, float]]:
    """Bootstrap interval of the metric of the first minus that of the second; seeds and examples are
    resampled.

    Each resample draws n examples, the same for all runs, and the mean of S seeds. With D̄ the mean
    difference, D̄* that on the drawn examples, and s the standard deviation of the D_s of the seeds, a
    replicate is D̄ + √`common_variance` · (D̄* − D̄) + s/√S · t, t drawn from Student's distribution of S − 1
    degrees: resampling two or three seeds would give neither its width nor its tails. Differences of pairs of
    runs if both groups have the same seeds, else each group by itself. Percentiles, but never narrower than
    the interval of these runs alone: that of D̄*, widened to Student's t for n examples, or the
    `mean_interval` of a metric that is a mean over examples.

    One number is drawn from ``rng``; the interval of a metric does not depend on other metrics.

    Source: Efron (1979); Student (1908); for resampling seeds and examples together: Owen, Annals of
    Applied Statistics 1 (2007).
    """
    n, split = len(first.labels), len(first.seeds)
    paired = same_seeds(first, second)
    rows = [np.concatenate([metric.rows(first), metric.rows(second)]) for metric in metrics]  # [2S, n, K]
    flat = [values.transpose(1, 0, 2).reshape(n, -1) for values in rows]
    seed = int(rng.integers(2**63))
    examples, seeds = np.random.default_rng(seed).spawn(2)
    sizes = [split] if paired else [split, len(second.seeds)]
    drawn = [student_quantiles(size, resamples, seeds) for size in sizes]
    sums: list[list[AnyFloats]] = [[] for _ in metrics]
    for counts in draw_counts(n, resamples, examples):
        narrow = counts.astype(np.float32)
        for metric_sums, values in zip(sums, flat, strict=True):
            metric_sums.append((narrow if values.dtype == np.float32 else counts) @ values)
    intervals = []
    for metric, values, metric_sums in zip(metrics, rows, sums, strict=True):
        total = np.concatenate(metric_sums).reshape(resamples, len(values), -1)  # [R, 2S, K]
        redone, real = metric.value(total, n), metric.value(values.sum(axis=1), n)  # [R, 2S], [2S]
        sides = [(redone[:, :split], real[:split]), (-redone[:, split:], -real[split:])]
        if paired:
            sides = [(sides[0][0] + sides[1][0], sides[0][1] + sides[1][1])]
        examples_alone, replicates = np.zeros((2, resamples))
        for (again, once), t in zip(sides, drawn, strict=True):
            mean_again, mean_once = again.mean(axis=1), once.mean()
            examples_alone += mean_again
            replicates += mean_once + np.sqrt(common_variance(again)) * (mean_again - mean_once)
            replicates += standard_error(once) * t
        alone = interval_ends(examples_alone, widen_level(level, max(n, 2)))
        if metric.additive:
            ours, theirs = (side[..., 0].mean(axis=0, dtype=np.float64) for side in np.split(values, [split]))
            of_mean = mean_interval(
                ours - theirs,
                rng=np.random.default_rng(seed),
                level=level,
                resamples=resamples,
                within=metric.changes,
            )
            alone = alone if of_mean.interval is None else np.array(of_mean.interval)
        lows, highs = zip(alone, interval_ends(replicates, level), strict=True)  # the further ones
        intervals.append((float(min(lows)), float(max(highs))))
    return intervals


def common_variance(again: AnyFloats) -> float:
    """How much of the variance of the mean over seeds on drawn examples ``again`` [R, S] all seeds have in
    common.

    The rest is there because seeds err on different examples. It is a part of the variance between seeds, and
    is not counted twice (the variance components of a two-way layout).
    """
    seeds = again.shape[1]
    total = float(again.mean(axis=1).var())
    if seeds < 2 or total <= TIE_WIDTH**2:
        return 1.0
    own = float((again - again.mean(axis=1, keepdims=True)).var(axis=0).sum()) / (seeds - 1)
    return max(0.0, 1.0 - own / (seeds * total))


def standard_error(once: AnyFloats) -> float:
    """s/√S of the metric of each seed [S]; 0 of a single one."""
    return float(once.std(ddof=1) / np.sqrt(len(once))) if len(once) > 1 else 0.0


def student_quantiles(seeds: int, resamples: int, rng: np.random.Generator) -> AnyFloats:
    """Numbers [R] from Student's distribution of S − 1 degrees: its quantiles in random order, since ends of
    independent draws would vary much where its tails are long; zeros for a single seed."""
    if seeds < 2:
        return np.zeros(resamples)
    from scipy.stats import t

    return np.asarray(t.ppf((rng.permutation(resamples) + 0.5) / resamples, seeds - 1))


def exchange_test(
    first: Predictions,
    second: Predictions,
    metrics: Sequence[Metric],
    *,
    rng: np.random.Generator,
    resamples: int = RESAMPLES,
) -> list[float | None]:
    """How often a difference this large arises if the two groups can be exchanged on every example.

    For each example, all predictions change sides with probability ½;
    p = (1 + #{|D*| ≥ |D|}) / (1 + resamples). It is about these runs, not about other seeds. None for a
    metric that is not a mean over examples if the groups have different numbers of runs, since they cannot
    be exchanged.

    One number is drawn from ``rng``.

    Source: Fisher (1935), section 21; Yeh (2000), for the metrics of language processing.
    """
    n, tosses = len(first.labels), np.random.default_rng(int(rng.integers(2**63)))
    sides = [permutation_statistics(metric, first, second) for metric in metrics]
    shifts = [
        None if pair is None else (pair[1] - pair[0]).transpose(1, 0, 2).reshape(n, -1) for pair in sides
    ]
    moved: list[list[AnyFloats]] = [[] for _ in metrics]
    rows = max(DRAWS_AT_ONCE // n, 1)
    for start in range(0, resamples, rows):
        coins = tosses.integers(2, size=(min(rows, resamples - start), n), dtype=np.int8)
        narrow, wide = coins.astype(np.float32), None
        for changes, shift in zip(moved, shifts, strict=True):
            if shift is not None and shift.dtype == np.float32:
                changes.append(narrow @ shift)
            elif shift is not None:
                wide = coins.astype(np.float64) if wide is None else wide
                changes.append(wide @ shift)
    results: list[float | None] = []
    for metric, pair, changes in zip(metrics, sides, moved, strict=True):
        if pair is None:
            results.append(None)
            continue
        change = np.concatenate(changes).reshape(resamples, len(pair[0]), -1)
        ours, theirs = (values.sum(axis=1) for values in pair)  # [S, K]

        def gap(one: AnyFloats, other: AnyFloats, metric: Metric = metric) -> Any:
            return metric.value(one, n).mean(axis=-1) - metric.value(other, n).mean(axis=-1)

        observed = abs(float(gap(ours, theirs)))
        extreme = np.abs(gap(ours + change, theirs - change)) >= observed - TIE_WIDTH
        results.append((1 + int(extreme.sum())) / (1 + resamples))
    return results


def permutation_statistics(
    metric: Metric, first: Predictions, second: Predictions
) -> tuple[AnyFloats, AnyFloats] | None:
    """What may change sides [S, n, K]; of groups of different size a mean over runs, if the metric is one."""
    rows = metric.rows(first), metric.rows(second)
    if len(first.seeds) == len(second.seeds):
        return rows
    if not metric.additive:
        return None
    one, other = (values.mean(axis=0, keepdims=True, dtype=np.float64) for values in rows)
    return one, other

"""Compare groups of runs: every metric with its deviation over seeds, and every difference with its tests."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from glasshead.audits.comparing.folder_names import baseline_index, short_names
from glasshead.audits.judging.summary import Interval
from glasshead.results import MIN_UNITS, TOO_FEW_EXAMPLES, RunComparison, RunDifference, SeedTest
from glasshead.statistics import (
    RESAMPLES,
    Metric,
    Predictions,
    difference_intervals,
    exchange_test,
    interval_of_equals,
    is_correct,
    metric_values,
    metrics_of,
    same_seeds,
    seed_test,
)
from glasshead.torch_modes import in_own_modes
from glasshead.training import RunGroupPredictions, align_classes, load_predictions

ONE_SEED = "only one seed: train with several to test over seeds"
SAME_DIFFERENCES = "the differences of all seeds are equal"
UNEQUAL = "groups of different size cannot be exchanged"


@in_own_modes
def compare_runs(
    folders: Sequence[Path], *, against: str | None = None, split: str = "test", seed: int = 0,
    resamples: int = RESAMPLES,
) -> RunComparison:  # fmt: skip
    """The metrics of run folders, or of folders of repeats, and how each differs from the first.

    ``against`` names another folder to compare with.

    Raises:
        InputError: on folders that are not runs or not comparable, and on an unknown ``against``.
    """
    names = short_names(folders)
    base = baseline_index(folders, names, against)
    predictions = [load_predictions(folder, name, split) for folder, name in zip(folders, names, strict=True)]
    aligned = align_classes(predictions)
    differences = [
        difference
        for rank in range(len(folders))
        if rank != base
        for difference in metric_differences(
            aligned[rank], aligned[base], rank, base, np.random.default_rng([seed, rank]), resamples
        )
    ]
    return RunComparison(
        data=data_name(predictions[0]),
        split=split,
        n=len(aligned[0].labels),
        groups=[folder.group for folder in predictions],
        differences=differences,
        resamples=resamples,
        floor=predictions[0].floor,
    )


def metric_differences(
    one: Predictions, other: Predictions, rank: int, base: int, rng: np.random.Generator, resamples: int
) -> list[RunDifference]:
    """Every metric of one group minus that of the other."""
    metrics = metrics_of(one)
    metric_list = list(metrics.values())
    intervals = difference_intervals(one, other, metric_list, rng=rng, resamples=resamples)
    exchanges = exchange_test(one, other, metric_list, rng=rng, resamples=resamples)
    n, seeds = len(one.labels), min(len(one.seeds), len(other.seeds))
    rows = []
    for (name, metric), interval, exchange in zip(metrics.items(), intervals, exchanges, strict=True):
        ours, theirs = metric_values(metric, one), metric_values(metric, other)
        if name == "accuracy":
            interval = with_equals(interval, one, other)
        test = seed_test(ours, theirs, paired=same_seeds(one, other))
        rows.append(
            RunDifference(
                name=name,
                one=rank,
                other=base,
                estimate=float(ours.mean() - theirs.mean()),
                interval=interval if n > 1 else None,
                n=n,
                verdict=describe_run_difference(interval, metric, n, seeds),
                seed_test=None if test is None else SeedTest(*test),
                untested="" if test else ONE_SEED if seeds < 2 else SAME_DIFFERENCES,
                exchange=exchange,
                unexchanged="" if exchange is not None else UNEQUAL,
            )
        )
    return rows


def with_equals(interval: Interval, one: Predictions, other: Predictions) -> Interval:
    """The interval of a difference of accuracies; where it is the same for every example, as wide as that
    allows, for the bootstrap over examples is then a point."""
    changes = is_correct(one)[..., 0].mean(axis=0) - is_correct(other)[..., 0].mean(axis=0)
    if np.ptp(changes) > 0:
        return interval
    low, high = interval_of_equals(float(changes[0]), len(changes))
    return min(low, interval[0]), max(high, interval[1])


def describe_run_difference(interval: Interval, metric: Metric, n: int, seeds: int) -> str:
    """A difference of runs in words, from the interval alone."""
    if n < MIN_UNITS:
        return TOO_FEW_EXAMPLES.words
    low, high = interval if metric.higher_is_better else (-interval[1], -interval[0])
    direction = "better" if low > 0 else "worse" if high < 0 else "no difference shown"
    return direction if seeds > 1 else f"{direction}, for these runs alone"


def data_name(group: RunGroupPredictions) -> str:
    """What the runs were trained on, in a word."""
    data: Any = group.group.facts["data"]
    return str(data.get("source") or "data")

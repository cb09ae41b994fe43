"""Groups of runs compared, as rows in figures and words for the page and the terminal."""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from glasshead.escaping import visible
from glasshead.report.difference_rows import DifferenceRow, difference_row, pairs
from glasshead.report.number_format import DASH, count, number
from glasshead.report.run_facts import split_in_words
from glasshead.results import METRIC_NAMES, RunComparison, RunDifference, RunGroup

LOWER = ("rmse", "mae", "cross-entropy")
SPLITS = ("test", "dev")
ONE_SEED = (
    "One seed does not show how much seeds differ: train five of each model, and compare those folders."
)
STEPS = 4  # about so many steps fit into the range of a strip of dots


@dataclass(frozen=True)
class TestedDifference:
    """One difference with its tests in words."""

    metric: str
    row: DifferenceRow
    t: str
    seeds: str
    exchange: str


def seed_values(group: RunGroup, split: str, metric: str) -> list[float]:
    """One value for each seed; none where the runs lack it."""
    return list(group.metrics.get(split, {}).get(metric, []))


def mean(values: Sequence[float]) -> str:
    """The mean over seeds."""
    return number(statistics.fmean(values), 4)


def deviation(values: Sequence[float]) -> str:
    """The standard deviation over seeds (n − 1), or nothing for one seed."""
    return number(statistics.stdev(values), 4) if len(values) > 1 else ""


def round_limits(values: Sequence[float]) -> tuple[float, float]:
    """Round ends that hold all values."""
    low, high = min(values), max(values)
    width = (high - low) or abs(high) or 1.0
    power = 10.0 ** math.floor(math.log10(width / STEPS))
    step = next(digit * power for digit in (1, 2, 5, 10) if digit * power >= width / STEPS)
    return math.floor(low / step) * step, math.ceil(high / step) * step


def tested_differences(comparison: RunComparison) -> list[tuple[tuple[str, str], list[TestedDifference]]]:
    """For each pair: who minus whom, and a row for each metric."""
    names = [visible(group.name) for group in comparison.groups]
    return [
        (
            (names[one], names[other]),
            [
                TestedDifference(
                    METRIC_NAMES[difference.name], difference_row(difference), student(difference),
                    seeds_of(difference), exchange_text(difference),
                )
                for difference in comparison.differences
                if (difference.one, difference.other) == (one, other)
            ],
        )
        for one, other in pairs(comparison.differences)
    ]  # fmt: skip


def student(difference: RunDifference) -> str:
    """``t(4) = 3.79, p = 0.019``, or why there is none."""
    test = difference.seed_test
    if test is None:
        return difference.untested
    degrees = f"{test.degrees:.0f}" if test.paired else f"{test.degrees:.1f}"
    return f"t({degrees})\u00a0=\u00a0{number(test.t, 2)}, p\u00a0=\u00a0{number(test.p)}"


def seeds_of(difference: RunDifference) -> str:
    """Which t-test it was."""
    test = difference.seed_test
    return "" if test is None else "paired by seed" if test.paired else "Welch: the seeds differ"


def exchange_text(difference: RunDifference) -> str:
    """The p-value of the exchange test, or why there is none."""
    return (
        difference.unexchanged
        if difference.exchange is None
        else f"p\u00a0=\u00a0{number(difference.exchange)}"
    )


def compared_settings(
    comparison: RunComparison,
) -> tuple[list[tuple[str, list[str]]], list[tuple[str, list[str]]]]:
    """The settings in which the groups differ, and those that they share, one value for each group."""
    flat = [dict(_flat(group.facts.get("recipe") or {})) for group in comparison.groups]
    keys = list(dict.fromkeys(key for settings in flat for key in settings))
    rows = [(key, [format_setting(settings.get(key)) for settings in flat]) for key in keys]
    rows.append(("seeds", [", ".join(map(str, group.seeds)) for group in comparison.groups]))
    differing = [row for row in rows if len(set(row[1])) > 1]
    return differing, [row for row in rows if len(set(row[1])) == 1]


def _flat(value: Mapping[str, Any], above: str = "") -> list[tuple[str, Any]]:
    leaves = []
    for key, part in value.items():
        name = f"{above} · {key}" if above else str(key)
        leaves += _flat(part, name) if isinstance(part, Mapping) else [(name, part)]
    return leaves


def format_setting(value: Any) -> str:
    """A setting as a reader wants it."""
    if value is None:
        return DASH
    return "yes" if value is True else "no" if value is False else str(value)


def intro_sentence(comparison: RunComparison) -> str:
    """One sentence on what is compared, and one on what a single seed cannot tell."""
    sizes = sorted({len(group.seeds) for group in comparison.groups})
    runs = f"{sizes[0]} to {sizes[-1]}" if len(sizes) > 1 else str(sizes[0])
    seeds = "one seed each" if sizes == [1] else f"{runs} seeds each"
    data = comparison.data.rstrip("/").rsplit("/", 1)[-1]
    rows = split_in_words(comparison.split)
    first = f"{count(comparison.n)} examples of {visible(data)} ({rows}), {seeds}."
    return " ".join([first, *([] if sizes[0] > 1 else [ONE_SEED]), *single_class_sentences(comparison)])


def single_class_sentences(comparison: RunComparison) -> list[str]:
    """A sentence on each group in which a model predicts one class only."""
    sentences = []
    for group in comparison.groups:
        if len(group.only_class) == 0:
            continue
        names = ", ".join(sorted({repr(visible(name)) for name in group.only_class.values()}))
        seeds = ", ".join(map(str, group.only_class))
        of = "" if len(group.seeds) == 1 else f" with seed {seeds}"
        sentences.append(f"{visible(group.name)}{of} predicts one class only: {names}.")
    return sentences

"""The page and the terminal tables that compare groups of runs."""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup
from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from glasshead.escaping import visible
from glasshead.report.difference_rows import Gap, gap, gap_scale, pairs
from glasshead.report.html_fragments import Scale
from glasshead.report.labels import sentence
from glasshead.report.number_format import DASH, count, number
from glasshead.report.tables import Uncut
from glasshead.results import METRIC_NAMES, Comparison, RunDifference, RunGroup

LOWER = ("rmse", "mae")
SPLITS = ("test", "dev")
ONE_SEED = "One seed says nothing of others: train each model with five seeds and compare those folders."
STEPS = 4  # about so many steps fit into the range of a strip of dots


@dataclass(frozen=True)
class Line:
    """One metric of one group: mean, deviation over seeds, and a dot for every seed."""

    group: str
    mean: str
    std: str
    seeds: int | None
    strip: Markup


@dataclass(frozen=True)
class Strip:
    """One metric on one split, of all groups, on one scale."""

    title: str
    axis: Markup
    lines: list[Line]


@dataclass(frozen=True)
class Tested:
    """One difference with its tests in words."""

    metric: str
    gap: Gap
    t: str
    seeds: str
    exchange: str


def strips(comparison: Comparison) -> list[Strip]:
    """Every metric that a group has, test first."""
    found = []
    for split in SPLITS:
        for metric, word in METRIC_NAMES.items():
            columns = [(each, measured(each, split, metric)) for each in comparison.groups]
            columns = [(each, values) for each, values in columns if values]
            if not columns:
                continue
            floor = comparison.floor.metrics[split][metric]
            scale = Scale(*span([floor, *(value for _, values in columns for value in values)]))
            lines = [
                Line(each.name, mean(values), deviation(values), len(values), scale.strip(values))
                for each, values in columns
            ]
            lines.append(Line("floor", number(floor, 4), "", None, scale.null(floor)))
            better = "lower is better" if metric in LOWER else "higher is better"
            found.append(Strip(f"{word}, {split} ({better})", scale.axis(digits=3), lines))
    return found


def measured(group: RunGroup, split: str, metric: str) -> list[float]:
    """One value for each seed; none where the runs lack it."""
    return list(group.metrics.get(split, {}).get(metric, []))


def mean(values: Sequence[float]) -> str:
    """The mean over seeds."""
    return number(statistics.fmean(values), 4)


def deviation(values: Sequence[float]) -> str:
    """The standard deviation over seeds (n − 1), or nothing for one seed."""
    return number(statistics.stdev(values), 4) if len(values) > 1 else ""


def span(values: Sequence[float]) -> tuple[float, float]:
    """Round ends that hold all values."""
    low, high = min(values), max(values)
    width = (high - low) or abs(high) or 1.0
    power = 10.0 ** math.floor(math.log10(width / STEPS))
    step = next(each * power for each in (1, 2, 5, 10) if each * power >= width / STEPS)
    return math.floor(low / step) * step, math.ceil(high / step) * step


def tested(comparison: Comparison) -> list[tuple[tuple[str, str], Markup, list[Tested]]]:
    """For each pair: who minus whom, the axis, and a row for each metric."""
    names = [visible(each.name) for each in comparison.groups]
    scale = gap_scale(comparison.differences)  # one for all pairs, so that they can be compared
    found = []
    for one, other in pairs(comparison.differences):
        members = [each for each in comparison.differences if (each.one, each.other) == (one, other)]
        assert scale is not None
        rows = [
            Tested(METRIC_NAMES[each.name], gap(each, scale), student(each), seeds_of(each), exchanged(each))
            for each in members
        ]
        found.append(((names[one], names[other]), scale.axis(), rows))
    return found


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


def exchanged(difference: RunDifference) -> str:
    """The p-value of the exchange test, or why there is none."""
    return (
        difference.unexchanged
        if difference.exchange is None
        else f"p\u00a0=\u00a0{number(difference.exchange)}"
    )


def settings(comparison: Comparison) -> tuple[list[tuple[str, list[str]]], list[tuple[str, list[str]]]]:
    """The settings in which the groups differ, and those that they share, one value for each group."""
    flat = [dict(_flat(each.facts.get("recipe") or {})) for each in comparison.groups]
    keys = list(dict.fromkeys(key for each in flat for key in each))
    rows = [(key, [said(each.get(key)) for each in flat]) for key in keys]
    rows.append(("seeds", [", ".join(map(str, each.seeds)) for each in comparison.groups]))
    differing = [row for row in rows if len(set(row[1])) > 1]
    return differing, [row for row in rows if len(set(row[1])) == 1]


def _flat(value: Mapping[str, Any], above: str = "") -> list[tuple[str, Any]]:
    leaves = []
    for key, part in value.items():
        name = f"{above} · {key}" if above else str(key)
        leaves += _flat(part, name) if isinstance(part, Mapping) else [(name, part)]
    return leaves


def said(value: Any) -> str:
    """A setting as a reader wants it."""
    if value is None:
        return DASH
    return "yes" if value is True else "no" if value is False else str(value)


def lead(comparison: Comparison) -> str:
    """One sentence on what is compared, and one on what a single seed cannot tell."""
    sizes = sorted({len(each.seeds) for each in comparison.groups})
    runs = f"{sizes[0]} to {sizes[-1]}" if len(sizes) > 1 else str(sizes[0])
    seeds = "one seed each" if sizes == [1] else f"{runs} seeds each"
    data = comparison.data.rstrip("/").rsplit("/", 1)[-1]
    said = f"{count(comparison.n)} examples of {visible(data)} ({comparison.split} split), {seeds}."
    return " ".join([said, *([] if sizes[0] > 1 else [ONE_SEED]), *collapsed(comparison)])


def collapsed(comparison: Comparison) -> list[str]:
    """A sentence on each group in which a model predicts one class only."""
    sentences = []
    for each in comparison.groups:
        if len(each.only_class) == 0:
            continue
        names = ", ".join(sorted({repr(visible(name)) for name in each.only_class.values()}))
        seeds = ", ".join(map(str, each.only_class))
        of = "" if len(each.seeds) == 1 else f" with seed {seeds}"
        sentences.append(f"{visible(each.name)}{of} predicts one class only: {names}.")
    return sentences


def comparison_table(comparison: Comparison) -> RenderableType:
    """Metrics of all groups, then the differences and their tests, for the terminal."""
    parts: list[RenderableType] = [Text(lead(comparison), style="bold")]
    parts.append(_metrics_table(comparison))
    parts.append(Text(f"floor: {visible(comparison.floor.guess)}", style="dim"))
    for (one, other), _, rows in tested(comparison):
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", title_justify="left")
        table.title, table.title_style = Text(f"{one} minus {other}", style="bold"), ""
        for column, justify in (("metric", "left"), ("difference", "right"), ("95 % interval", "right")):
            table.add_column(column, justify=justify, no_wrap=True)  # type: ignore[arg-type]
        for column in ("t-test over seeds", "exchange", "verdict"):
            table.add_column(column)
        for row in rows:
            t = f"{row.t} ({row.seeds})" if row.seeds else row.t
            verdict = sentence(row.gap.difference.verdict)
            cells = (row.metric, row.gap.estimate, row.gap.interval, t, row.exchange, verdict)
            table.add_row(*map(Text, cells))
        parts.append(Uncut(table))
    return Group(*parts)


def _metrics_table(comparison: Comparison) -> Uncut:
    columns = [
        (split, metric)
        for split in SPLITS
        for metric in METRIC_NAMES
        if any(measured(each, split, metric) for each in comparison.groups)
    ]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("runs")
    table.add_column("seeds", justify="right", no_wrap=True)
    for split, metric in columns:
        table.add_column(f"{split} {METRIC_NAMES[metric]}", justify="right")
    for each in comparison.groups:
        cells = [
            " ± ".join(part for part in (mean(values), deviation(values)) if part) if values else DASH
            for values in (measured(each, split, metric) for split, metric in columns)
        ]
        table.add_row(*map(Text, (visible(each.name), str(len(each.seeds)), *cells)))
    floors = (number(comparison.floor.metrics[split][metric], 4) for split, metric in columns)
    table.add_row(Text("floor", style="dim"), "", *floors)
    return Uncut(table)

"""What a table of results shows as a picture: estimates with intervals, points by group, and histograms."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from glasshead.report import (
    Distribution,
    Figure,
    IntervalPoint,
    IntervalRow,
    LegendEntry,
    Points,
    group_colours,
    histogram_panel,
    interval_panel,
    limits,
    scatter_panel,
    violin_panel,
)

WIDTH, LETTER = 3.4, 0.062
"""Inches of a panel, and of a letter of the names beside it."""
PANEL_SIZE = 2.35, 2.1
"""Width and height of a histogram in inches."""


@dataclass(frozen=True)
class Estimate:
    """A number of one row: its mean, and the interval of the mean if there is one; ``series`` names it."""

    series: str
    mean: float
    interval: tuple[float, float] | None


@dataclass(frozen=True)
class EstimateRow:
    """A row of a panel: its name, a note in small text, and its numbers."""

    label: str
    note: str
    estimates: Sequence[Estimate]


@dataclass(frozen=True)
class Histogram:
    """The number of values in each of several equal bins, by group."""

    ends: tuple[float, float]
    counts: Mapping[str, Sequence[int]]

    def values(self) -> list[Distribution]:
        """The middle of each bin, once for every value in it."""
        rows = []
        for label, counts in self.counts.items():
            edges = np.linspace(*self.ends, len(counts) + 1)
            rows.append(Distribution(label, np.repeat((edges[1:] + edges[:-1]) / 2, counts)))
        return rows


def interval_figure(
    title: str, parts: Mapping[str, Sequence[EstimateRow]], axis: str, caption: str
) -> Figure:
    """A panel for each part, with a row for each line of a table; every panel has its own limits."""
    names = list(
        dict.fromkeys(mark.series for rows in parts.values() for row in rows for mark in row.estimates)
    )
    colours = group_colours(names)
    panels, bare = [], False
    for part, rows in parts.items():
        drawn = [
            IntervalRow(
                row.label,
                row.note,
                [
                    IntervalPoint(mark.mean, mark.interval, colours[mark.series], mark.interval is not None)
                    for mark in row.estimates
                ],
            )
            for row in rows
        ]
        points = [point for row in drawn for point in row.points]
        bare |= any(point.interval is None for point in points)
        ends = limits(np.array([end for mark in points for end in (mark.estimate, *(mark.interval or ()))]))
        panels.append(interval_panel(drawn, part, axis, ends, width=WIDTH + names_width(rows)))
    legend = [LegendEntry(colours[name], name, "dot") for name in names] if len(names) > 1 else []
    legend.append(LegendEntry("--muted", "mean over seeds with its 95 % interval", "dot"))
    if bare:
        legend.append(LegendEntry("--muted", "no interval", "ring"))
    return Figure(title, panels, caption, legend, across=1 if len(panels) == 1 else 2)


def names_width(rows: Sequence[EstimateRow]) -> float:
    """Inches that the names of rows need."""
    return LETTER * max(len(row.label) for row in rows)


def coefficient_figure(
    title: str,
    parts: Mapping[str, Mapping[str, Sequence[tuple[float, float]]]],
    axes: tuple[str, str],
    caption: str,
) -> Figure:
    """A scatter plot for each part: points by group of words."""
    groups = list(dict.fromkeys(group for points in parts.values() for group in points))
    colours = group_colours(groups)
    panels = []
    for part, points in parts.items():
        columns = {group: np.asarray(points[group], dtype=float) for group in reversed(list(points))}
        both = np.concatenate(list(columns.values()))
        ends = limits(both[:, 0], zero=True), limits(both[:, 1], zero=True)
        drawn = [Points(xy[:, 0], xy[:, 1], colours[group], [""] * len(xy)) for group, xy in columns.items()]
        panels.append(scatter_panel(part, drawn, axes, ends, f"{part}: {len(both)} words by group."))
    legend = [LegendEntry(colours[group], group, "dot") for group in groups]
    return Figure(title, panels, caption, legend, across=2)


def histogram_figure(
    title: str,
    parts: Mapping[str, Sequence[tuple[str, Histogram]]],
    caption: str,
    violins: Sequence[str] = (),
) -> Figure:
    """A row of panels for each part, one for each of its quantities: histograms, or ``violins``."""
    panels = []
    for part, quantities in parts.items():
        for place, (quantity, histogram) in enumerate(quantities):
            make = violin_panel if quantity in violins else histogram_panel
            panel = make(histogram.values(), quantity, histogram.ends, f"{part}: {quantity} by class.")
            panels.append(replace(panel, title="" if place else part, size=PANEL_SIZE))
    across = max(len(quantities) for quantities in parts.values())
    return Figure(title, panels, caption, [LegendEntry("--muted", "median", "dot")], across=across)

"""The picture of a table, drawn from its rows; none where nothing is known."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from PIL import Image

from glasshead.papers.experiments.numbers import ENOUGH_SEEDS
from glasshead.papers.experiments.summary import CellSummary, TableSummary
from glasshead.papers.report import (
    Estimate,
    EstimateRow,
    Histogram,
    coefficient_figure,
    histogram_figure,
    interval_figure,
)
from glasshead.papers.results import LogitRankTable, RankTable
from glasshead.report import PLOTS, Figure, image_file

MOST_COLOURS = 32
SMOKE = " A smoke run on tiny data: its numbers say nothing."


@dataclass(frozen=True)
class IntervalPicture:
    """A panel for each data set with a row for each cell: some ``metrics``, by what they are called."""

    metrics: Mapping[str, str]
    axis: str

    def __call__(self, summary: TableSummary) -> Figure | None:
        parts: dict[str, list[EstimateRow]] = {}
        for cell in summary.cells:
            row = self.row(cell)
            if row.estimates:
                parts.setdefault(cell.cell.data.title, []).append(row)
        if not parts:
            return None
        words = f"n seeds; 95 % intervals of their mean (Student's t), from {ENOUGH_SEEDS} seeds on."
        return interval_figure(summary.table.title, parts, self.axis, caption(summary, words))

    def row(self, cell: CellSummary) -> EstimateRow:
        """The numbers of a cell."""
        known = {name: cell.metrics[name] for name in self.metrics if name in cell.metrics}
        estimates = [
            Estimate(self.metrics[name], metric.mean, metric.interval) for name, metric in known.items()
        ]
        count = max((len(metric.values) for metric in known.values()), default=0)
        note = "the same for every seed" if cell.cell.seedless else f"n = {count}"
        return EstimateRow(cell.cell.title, note, estimates)


@dataclass(frozen=True)
class CoefficientPicture:
    """Score and weight of single words by group, of the first seed of each cell."""

    groups: Sequence[str]

    def __call__(self, summary: TableSummary) -> Figure | None:
        parts = {}
        for cell in summary.cells:
            if cell.rows:
                first = cell.rows[0]
                points = {group: first.numbers.get(f"points_{group}", []) for group in self.groups}
                if any(points.values()):
                    title = f"{cell.cell.title}, seed {first.seed}"
                    parts[title] = {group: ends for group, ends in points.items() if ends}
        if not parts:
            return None
        most = max(len(points) for part in parts.values() for points in part.values())
        words = f"A point is a word: its means over the test texts. The {most} commonest words of each group."
        return coefficient_figure(
            summary.table.title, parts, ("score s", "weight a"), caption(summary, words)
        )


@dataclass(frozen=True)
class DistributionPicture:
    """Histograms over texts by class, of the first seed of some ``cells`` (none named: of all).

    ``quantities`` have their titles and least values, by the name of their counts."""

    quantities: Mapping[str, tuple[str, float]]
    violins: Sequence[str] = ()
    cells: Sequence[str] = ()
    classes: Sequence[int] = field(default=(0, 1))

    def __call__(self, summary: TableSummary) -> Figure | None:
        parts = {
            f"{cell.cell.data.title}: {cell.cell.title}": list(self.histograms(cell))
            for cell in summary.cells
            if cell.rows and cell.cell.name in (self.cells or [cell.cell.name])
        }
        parts = {title: summaries for title, summaries in parts.items() if summaries}
        if not parts:
            return None
        words = "Share of the test texts of each class; one trained model each."
        return histogram_figure(summary.table.title, parts, caption(summary, words), self.violins)

    def histograms(self, cell: CellSummary) -> Iterator[tuple[str, Histogram]]:
        """Those of a cell, by their titles."""
        for name, (title, least) in self.quantities.items():
            counts = {
                f"class {place}": cell.rows[0].numbers.get(f"counts_{name}_{place}") for place in self.classes
            }
            known = {label: count for label, count in counts.items() if count is not None}
            if known:
                yield title, Histogram((least, 1.0), known)


@dataclass(frozen=True)
class RankPicture:
    """Ranks of the values over the length of a text, and of the logits of other weights: of the first seed of
    each cell."""

    def __call__(self, summary: TableSummary) -> Figure | None:
        parts = [
            (cell.cell.title, figure)
            for cell in summary.cells
            if cell.rows
            for figure in self.figures(cell.rows[0].numbers)
        ]
        if not parts:
            return None
        panels = [replace(panel, title=title) for title, figure in parts for panel in figure.panels]
        words = "Dots are texts of the first seed, lines their mean; logits: mean and range of all draws."
        legend = next(figure.legend for _, figure in parts)
        return Figure(summary.table.title, panels, caption(summary, words), legend, across=2)

    def figures(self, numbers: Mapping[str, Any]) -> Iterator[Figure]:
        """Those of a row."""
        if (counts := numbers.get("ranks")) is not None:
            size = numbers["value_dim"]
            lines = [
                (tokens, 0, rank, tokens - rank, 0, 0, 0, 0) for tokens, rank, n in counts for _ in range(n)
            ]
            yield self.figure("ranks", RankTable(lines, size, f"d_v = {size}"))
        if (counts := numbers.get("logit_ranks")) is not None:
            size = numbers["key_dim"]
            ranks = [np.full(n, rank) for _, rank, n in counts]
            drawn = [(tokens, 0, rank, rank, rank, 0, 0) for tokens, rank, _ in counts]
            yield self.figure("logits", LogitRankTable(drawn, ranks, size, f"d_k = {size}"))

    def figure(self, name: str, table: RankTable | LogitRankTable) -> Figure:
        """One of the plots of the library."""
        figure = PLOTS[name].draw(table)
        assert figure is not None  # what is drawn is there
        return figure


def caption(summary: TableSummary, words: str) -> str:
    """What is drawn, and whether it says anything."""
    return words + (SMOKE if summary.table.smoke else "")


def small_png(figure: Figure) -> bytes:
    """A figure as a PNG of few colours, a quarter of the usual size, to be kept beside its table."""
    picture = Image.open(io.BytesIO(image_file(figure, "png"))).convert("RGB")
    buffer = io.BytesIO()
    picture.quantize(MOST_COLOURS, dither=Image.Dither.NONE).save(buffer, "png", optimize=True)
    return buffer.getvalue()

"""Distributions in rows over one axis: histograms, and violins that are split."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes

from glasshead.report.figure import Ink, Panel
from glasshead.report.marks.limits import Floats, Limits

BASE = 0.28
"""How far below the name of a row its line lies."""
ROW_HEIGHT, ROW_LETTERS = 46.0, 14


@dataclass(frozen=True)
class Distribution:
    """One row: the values above the line, and others below it (or outlined)."""

    label: str
    values: Floats
    other: Floats | None = None


def rows_panel(
    rows: Sequence[Distribution],
    axis: str,
    limits: Limits,
    description: str,
    draw_rows: Callable[[Axes, Ink, Sequence[Distribution]], None],
) -> Panel:
    """One row for each distribution, the first on top, with how many values it has."""
    upwards = list(reversed(rows))

    def draw(axes: Axes, ink: Ink) -> None:
        axes.set_xlim(*limits)
        axes.set_ylim(-BASE - 0.08, max(len(rows), 1) - BASE)
        if limits[0] < 0 < limits[1]:
            axes.axvline(0, color=ink("--muted"), linewidth=0.7, zorder=0)
        draw_rows(axes, ink, upwards)

    return Panel(
        "", (axis, ""), draw, description,
        rows=[row.label for row in upwards],
        row_notes=[f"n = {int(np.isfinite(row.values).sum()):,}" for row in upwards],
        row_height=ROW_HEIGHT, row_letters=ROW_LETTERS,
    )  # fmt: skip


def histogram_panel(
    rows: Sequence[Distribution], axis: str, limits: Limits, description: str, null: float | None = None
) -> Panel:
    """One histogram per row: ``values`` filled, ``other`` outlined, the median as a dot."""

    def draw(axes: Axes, ink: Ink, rows: Sequence[Distribution]) -> None:
        edges = np.linspace(limits[0], limits[1], 41)
        shares = [(bin_shares(row.values, edges), bin_shares(row.other, edges)) for row in rows]
        tallest = max((float(part.max()) for pair in shares for part in pair), default=0.0) or 1.0
        for rank, (row, (filled, outline)) in enumerate(zip(rows, shares, strict=True)):
            line = rank - BASE
            axes.axhline(line, color=ink("--line"), linewidth=0.7, zorder=1)
            heights = filled / tallest * 0.86 + line
            axes.stairs(heights, edges, baseline=line, fill=True, color=ink("--accent"), alpha=0.5)
            if row.other is not None:
                heights = outline / tallest * 0.86 + line
                axes.stairs(heights, edges, baseline=None, color=ink("--ink"), linewidth=0.8)
            draw_median(axes, ink, row.values, line)
        if null is not None:
            axes.axvline(null, color=ink("--ink"), linewidth=0.9, linestyle=(0, (2, 2.4)), zorder=2)

    return rows_panel(rows, axis, limits, description, draw)


def violin_panel(rows: Sequence[Distribution], axis: str, limits: Limits, description: str) -> Panel:
    """One split violin per row: ``values`` above the line, ``other`` below; medians as dots."""

    def draw(axes: Axes, ink: Ink, rows: Sequence[Distribution]) -> None:
        grid = np.linspace(limits[0], limits[1], 121)
        for rank, row in enumerate(rows):
            middle = rank + 0.46 - BASE
            axes.axhline(middle, color=ink("--line"), linewidth=0.7, zorder=1)
            lower, colour, alpha = row.values, "--accent", 0.55
            if row.other is not None:
                lower, colour, alpha = row.other, "--muted", 0.45
            for values, side, paint, strength in (
                (row.values, 1, "--accent", 0.55),
                (lower, -1, colour, alpha),
            ):
                edge = middle + side * 0.42 * density(values, grid)
                axes.fill_between(grid, middle, edge, color=ink(paint), alpha=strength, linewidth=0)
            if row.other is not None:
                draw_median(axes, ink, row.other, middle - 0.08)
            draw_median(axes, ink, row.values, middle + (0.08 if row.other is not None else 0.0))

    return rows_panel(rows, axis, limits, description, draw)


def density(values: Floats, grid: Floats) -> Floats:
    """A Gaussian kernel density on a grid, its highest point 1; zeros for no values."""
    known = finite_values(values)
    if not known.size:
        return np.zeros_like(grid)
    if known.size > 2000:
        known = np.quantile(known, np.linspace(0, 1, 2000))
    width = max(1.06 * float(known.std()) * known.size**-0.2, 0.012 * float(grid[-1] - grid[0]))
    curve = np.exp(-0.5 * ((grid[:, None] - known) / width) ** 2).mean(axis=1)
    step = float(grid[1] - grid[0])
    inside = (grid >= known.min() - step) & (grid <= known.max() + step)
    curve = np.where(inside, curve, 0.0)
    return np.asarray(curve / max(float(curve.max()), 1e-300))


def bin_shares(values: Floats | None, edges: Floats) -> Floats:
    """The part of the values in each bin; those beyond the edges count in the outermost."""
    known = np.zeros(0) if values is None else finite_values(values)
    counts = np.histogram(np.clip(known, edges[0], edges[-1]), edges)[0]
    return counts / max(known.size, 1)


def draw_median(axes: Axes, ink: Ink, values: Floats, height: float) -> None:
    """A dot at the median, or words if there is none."""
    known = finite_values(values)
    if not known.size:
        axes.text(
            sum(axes.get_xlim()) / 2, height + 0.2, "no defined value", ha="center", va="baseline",
            fontsize=8.5, color=ink("--ink"),
        )  # fmt: skip
        return
    axes.plot(
        [float(np.median(known))], [height], "o", markersize=5, color=ink("--ink"),
        markeredgecolor=ink("--paper"), markeredgewidth=1.1, clip_on=False, zorder=4,
    )  # fmt: skip


def finite_values(values: Floats) -> Floats:
    """The values that exist."""
    known = np.asarray(values, float)
    return known[np.isfinite(known)]

"""How distance-aware attention sees distance: curves of its coefficient, and its matrix over a short text."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from glasshead.report.style import LINE, MUTED, PAPER, SHADES, STYLE, plain

Floats = NDArray[np.float64]

CURVES = LinearSegmentedColormap.from_list("curves", ["#c96a08", "#9a8f86", "#2a6fbb"])


@dataclass(frozen=True)
class Curve:
    """f over the weighted distance R for one v."""

    v: float
    values: Floats


@dataclass(frozen=True)
class Matrix:
    """The coefficients between all pairs of tokens for one w and v."""

    w: float
    v: float
    values: Floats


def distance_figure(
    weighted: Floats, curves: Sequence[Curve], matrices: Sequence[Sequence[Matrix]]
) -> Figure:
    """Curves on the left, matrices on the right: one row for each v, one column for each w.

    The matrices of a column share their shades, so that one v can be compared with another.

    Source: Wu, Wu and Huang (2021), Figs. 1 and 2, in one.
    """
    rows, columns = len(matrices), len(matrices[0])
    with matplotlib.rc_context(STYLE):
        height = max(3.6, 1.9 * rows + 0.9)
        layout = ConstrainedLayoutEngine(w_pad=0.06, h_pad=0.06, wspace=0.04, hspace=0.06)
        figure = Figure(figsize=(4.6 + 2.0 * columns, height), facecolor=PAPER, layout=layout)
        panels: Any = figure.subfigures(1, 2, width_ratios=[4.6, 2.0 * columns])
        left, right = panels
        draw_curves(left.subplots(), weighted, curves)
        grid = right.subplots(rows, columns, squeeze=False)
        for column in range(columns):
            each = [row[column] for row in matrices]
            norm = Normalize(0.0, max(float(matrix.values.max()) for matrix in each))
            for row, matrix in enumerate(each):
                image = draw_matrix(grid[row, column], matrix, norm)
                if column == 0:
                    grid[row, column].set_ylabel("query i")
                if row == rows - 1:
                    grid[row, column].set_xlabel("key j")
            bar = right.colorbar(
                image, ax=list(grid[:, column]), location="bottom", shrink=0.8, aspect=22, pad=0.03
            )
            bar.outline.set_visible(False)
            bar.locator = MaxNLocator(4, steps=[1, 2, 5, 10])
            bar.set_label("coefficient f(R)", fontsize=8, color=MUTED)
    return figure


def draw_curves(axes: Axes, weighted: Floats, curves: Sequence[Curve]) -> None:
    """f(R) for several v, each named where it ends."""
    axes.axhline(1.0, color=LINE, linewidth=0.8, zorder=0)
    axes.axvline(0.0, color=LINE, linewidth=0.8, zorder=0)
    order = sorted(curves, key=lambda curve: curve.v)
    top = 1.05 * max(float(curve.values.max()) for curve in order)
    ends = apart([float(curve.values[-1]) for curve in order], 0.045 * top)
    for rank, (curve, end) in enumerate(zip(order, ends, strict=True)):
        colour = CURVES(rank / max(1, len(order) - 1))
        axes.plot(weighted, curve.values, color=colour, linewidth=1.8, solid_capstyle="round")
        axes.annotate(
            f"v = {plain(curve.v)}", (weighted[-1], end), xytext=(5, 0), textcoords="offset points",
            va="center", color=colour, fontsize=8.5, annotation_clip=False,
        )  # fmt: skip
    axes.set_xlim(weighted[0], weighted[-1])
    axes.set_ylim(0.0, top)
    axes.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    axes.set_xlabel("weighted distance R = w · |i − j|")
    axes.set_ylabel("coefficient f(R)")
    axes.set_title("f(R) = (1 + eᵛ) / (1 + eᵛ⁻ᴿ)", loc="left", pad=10)


def apart(heights: Sequence[float], gap: float) -> list[float]:
    """Ascending heights, the later ones raised until each is a gap above the one before."""
    raised: list[float] = []
    for height in heights:
        raised.append(max(height, raised[-1] + gap) if raised else height)
    return raised


def draw_matrix(axes: Axes, matrix: Matrix, norm: Normalize) -> Any:
    """f(w |i − j|); dark where attention is promoted."""
    image = axes.imshow(matrix.values, cmap=SHADES, norm=norm, interpolation="nearest")
    tokens = len(matrix.values)
    ticks = [0, tokens - 1]
    axes.set_xticks(ticks, [str(tick + 1) for tick in ticks])
    axes.set_yticks(ticks, [str(tick + 1) for tick in ticks])
    axes.tick_params(length=0, labelsize=8)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.set_title(f"w = {plain(matrix.w)}, v = {plain(matrix.v)}", pad=5)
    return image

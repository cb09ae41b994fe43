"""Heat maps of attention, one for each head."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from glasshead.escaping import visible
from glasshead.report.style import INK, LINE, MUTED, PAPER, SHADES, SIGNED, STYLE

CELL, LARGEST_CELL = 0.17, 0.45  # inches
SMALL = 24
"""Tokens up to which four maps stand side by side."""
UNIFORM = 0.97
"""Entropy of a row, as a part of the largest, log n, above which its shades are small differences."""


@dataclass(frozen=True)
class HeadMap:
    """The weights [queries, keys] of one head, NaN where it cannot look, and if they are `nearly_uniform`."""

    title: str
    weights: NDArray[np.floating[Any]]
    uniform: bool = False


def nearly_uniform(
    weights: NDArray[np.floating[Any]], allowed: NDArray[np.bool_], above: float = UNIFORM
) -> bool:
    """Whether no row [rows, keys] clearly prefers any of the n keys that it may look at.

    H(|a|) > ``above`` · log n in every row with n > 1, |a| scaled to sum to one; False if there is no such
    row, or if one has no weight at all.
    """
    sizes = np.where(allowed, np.abs(weights), 0.0)
    keys = allowed.sum(axis=-1)
    sizes, keys = sizes[keys > 1], keys[keys > 1]
    totals = sizes.sum(axis=-1, keepdims=True)
    if not len(sizes) or not totals.all():
        return False
    shares = sizes / totals
    entropy = -(shares * np.log(np.where(shares > 0, shares, 1.0))).sum(axis=-1)
    return bool((entropy > above * np.log(keys)).all())


def heads_figure(
    maps: Sequence[HeadMap], rows: Sequence[str], columns: Sequence[str], layer: str, *, signed: bool
) -> Figure:
    """All maps on one scale, so that heads can be compared; zero in the middle where weights can be negative.

    Source: Wu, Wu and Huang (2021), Fig. 8.
    """
    highest = max(float(np.nanmax(np.abs(each.weights))) for each in maps) or 1.0
    norm = Normalize(-highest if signed else 0.0, highest)
    across = min(len(maps), 4 if len(columns) <= SMALL else 2)
    down = math.ceil(len(maps) / across)
    cell = max(CELL, min(LARGEST_CELL, 2.1 / len(columns)))
    width, height = max(2.1, cell * len(columns)), max(0.4, cell * len(rows))
    labels = 0.07 * max(map(len, columns), default=1)
    with matplotlib.rc_context({**STYLE, "text.parse_math": False}):
        size = across * (width + 0.25) + labels + 0.3, down * (height + labels + 0.35) + 0.75
        layout = ConstrainedLayoutEngine(w_pad=0.06, h_pad=0.06, wspace=0.03, hspace=0.04)
        figure = Figure(figsize=size, facecolor=PAPER, layout=layout)
        grid: Any = figure.subplots(down, across, squeeze=False)
        for rank, axes in enumerate(grid.flat):
            if rank >= len(maps):
                axes.set_visible(False)
                continue
            image = draw_map(axes, maps[rank], norm, SIGNED if signed else SHADES)
            name_axes(axes, rows if rank % across == 0 else None, columns)
        bar = figure.colorbar(
            image, ax=list(grid.flat), location="bottom", fraction=0.04, aspect=38, shrink=0.6, pad=0.02
        )
        bar.outline.set_visible(False)
        bar.locator = MaxNLocator(5, steps=[1, 2, 5, 10])
        bar.ax.tick_params(labelsize=8)
        bar.set_label("attention weight", fontsize=8, color=MUTED)
        figure.suptitle(
            f"{layer}: a row is a query, a column a key", fontsize=9, x=0.01, ha="left", color=MUTED
        )
    return figure


def draw_map(axes: Axes, head: HeadMap, norm: Normalize, shades: Any) -> Any:
    """One head; cells are parted by thin lines of paper."""
    image = axes.imshow(head.weights, cmap=shades, norm=norm, interpolation="nearest", aspect="equal")
    queries, keys = head.weights.shape
    axes.set_xticks(np.arange(keys + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(queries + 1) - 0.5, minor=True)
    axes.grid(which="minor", color=PAPER, linewidth=0.5)
    axes.tick_params(which="both", length=0)
    for spine in axes.spines.values():
        spine.set_visible(True)
        spine.set_color(LINE)
    words = f"{head.title}\nnearly uniform" if head.uniform else head.title
    axes.set_title(words, loc="left", fontsize=8.5, color=INK, pad=5)
    return image


def name_axes(axes: Axes, rows: Sequence[str] | None, columns: Sequence[str]) -> None:
    """Tokens below, and beside the first map of a row."""
    axes.set_xticks(range(len(columns)), [visible(each) for each in columns], rotation=90, fontsize=7.5)
    names = [] if rows is None else [visible(each) for each in rows]
    axes.set_yticks(range(len(names)), names, fontsize=7.5)

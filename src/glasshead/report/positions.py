"""Bars of what every head has learned about distance."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from glasshead.report.style import BLUE, INK, LINE, MUTED, ORANGE, PAPER, STYLE, plain

Floats = NDArray[np.floating[Any]]
MEANINGS = {"w": "local  ←  w  →  distant", "v": "v", "k": "slope k", "b": "intercept b"}
BAR = 0.22  # inches
TITLE = 18  # points: above the caption
PLAIN = "#7f93ab"  # where the sign has no meaning of its own


@dataclass(frozen=True)
class Learned:
    """A parameter of the heads of one layer: ``values`` [seeds, heads], ``initial`` [heads]."""

    layer: str
    parameter: str
    values: Floats
    initial: Floats


def positions_figure(layers: Sequence[Sequence[Learned]]) -> Figure:
    """One row for each layer, one panel for each parameter; heads sorted by value.

    Of several seeds, heads are sorted for each seed before the mean is taken, as in the paper: heads have no
    names that would hold from seed to seed.

    Source: Wu, Wu and Huang (2021), Figs. 6 and 7.
    """
    rows, columns = len(layers), max(len(layer) for layer in layers)
    heads = max(each.initial.size for layer in layers for each in layer)
    with matplotlib.rc_context(STYLE):
        written = 0.08 * max(len(layer[0].layer) for layer in layers)
        size = columns * max(2.9, BAR * heads + 0.9, written + 0.9), 2.15 * rows + 0.3
        layout = ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.08, wspace=0.05, hspace=0.08)
        figure = Figure(figsize=size, facecolor=PAPER, layout=layout)
        grid: Any = figure.subplots(rows, columns, squeeze=False)
        for row, layer in enumerate(layers):
            for column in range(columns):
                if column < len(layer):
                    draw_bars(grid[row, column], layer[column])
                else:
                    grid[row, column].set_visible(False)
            grid[row, 0].set_title(layer[0].layer, loc="left", pad=TITLE, fontweight="bold")
    return figure


def draw_bars(axes: Axes, learned: Learned) -> None:
    """Heads as bars, of w orange below zero and blue above it; faint marks where they began."""
    seeds, heads = learned.values.shape
    order = np.argsort(learned.values[0], kind="stable")
    shown = np.sort(learned.values, axis=1)
    heights = shown.mean(axis=0)
    places = np.arange(heads)
    colours = [PLAIN if learned.parameter != "w" else BLUE if each > 0 else ORANGE for each in heights]
    axes.axhline(0.0, color=MUTED, linewidth=0.7, zorder=1)
    axes.bar(places, heights, width=0.68, color=colours, zorder=2)
    if seeds > 1:
        spread = shown.std(axis=0, ddof=1)
        axes.errorbar(
            places, heights, yerr=spread, fmt="none", ecolor=INK, elinewidth=0.9, capsize=2, zorder=3
        )
    initial = np.sort(learned.initial) if seeds > 1 else learned.initial[order]
    axes.hlines(initial, places - 0.44, places + 0.44, color=PAPER, linewidth=2.2, zorder=4)
    axes.hlines(initial, places - 0.44, places + 0.44, color="#8d949c", linewidth=1.1, zorder=5)
    axes.set_xlim(-0.7, heads - 0.3)
    axes.margins(y=0.12)
    axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    axes.grid(axis="y", color=LINE, linewidth=0.5)
    axes.set_axisbelow(True)
    axes.set_xticks(places, [str(head) for head in (order if seeds == 1 else places + 1)])
    axes.tick_params(axis="y", labelsize=8)
    axes.tick_params(axis="x", length=0, labelsize=7.5 if heads > 8 else 8.5)
    axes.set_xlabel("head" if seeds == 1 else "rank of the head")
    axes.set_ylabel(MEANINGS.get(learned.parameter, learned.parameter))
    axes.annotate(
        caption(learned), (1.0, 1.0), xytext=(0, 4), xycoords="axes fraction", textcoords="offset points",
        ha="right", va="bottom", fontsize=8, color=MUTED,
    )  # fmt: skip


def caption(learned: Learned) -> str:
    """How many heads look far, or what the marks are."""
    seeds, heads = learned.values.shape
    if learned.parameter != "w":
        return "grey: initial value" + (f"  ·  mean ± std, {seeds} seeds" if seeds > 1 else "")
    positive = plain(round(float((learned.values > 0).sum(axis=1).mean()), 1))
    return f"{positive} of {heads} heads w > 0" + (" on average" if seeds > 1 else "")

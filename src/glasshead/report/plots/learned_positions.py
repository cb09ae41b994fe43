"""Bars of what every head has learned about distance."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from glasshead.errors import pluralise
from glasshead.report.colours import FILE
from glasshead.report.figure import Figure, Ink, Panel
from glasshead.report.number_format import number, plain
from glasshead.report.plot_registry import plot
from glasshead.results import LearnedParameter

MEANINGS = {"w": "local  ←  w  →  distant", "v": "v", "k": "slope k", "b": "intercept b"}
BAR = 0.22  # inches
INITIAL = FILE["--c6"]


@plot("positions", LearnedParameter)
def learned_positions(layers: Sequence[Sequence[LearnedParameter]]) -> Figure:
    """What the positions have learned: a row for each layer, a panel for each parameter, heads by value.

    For several seeds, heads are sorted for each seed before the mean is taken, as in the paper: heads have no
    names that would hold from seed to seed.

    Source: Wu, Wu and Huang (2021), Figs. 6 and 7.
    """
    columns = max(len(layer) for layer in layers)
    heads = max(learned.initial.size for layer in layers for learned in layer)
    letters = 0.08 * max(len(layer[0].layer) for layer in layers)
    size = max(2.9, BAR * heads + 0.9, letters + 0.9), 2.15
    panels = [
        parameter_panel(learned, size, first=learned is layer[0]) for layer in layers for learned in layer
    ]
    seeds = layers[0][0].values.shape[0]
    marks = "Bars are heads, sorted by value, with marks where they began"
    caption = f"{marks}; whiskers: one standard deviation over {seeds} seeds." if seeds > 1 else f"{marks}."
    return Figure("What heads have learned about distance", panels, caption, across=columns)


def parameter_panel(learned: LearnedParameter, size: tuple[float, float], first: bool) -> Panel:
    """Heads as bars, of w red above zero and blue below it; faint marks where they began."""
    seeds, heads = learned.values.shape
    order = np.argsort(learned.values[0], kind="stable")
    values = np.sort(learned.values, axis=1)
    heights = values.mean(axis=0)
    initial = np.sort(learned.initial) if seeds > 1 else learned.initial[order]

    def draw(axes: Axes, ink: Ink) -> None:
        x = np.arange(heads)
        signed = ["--for" if height > 0 else "--against" for height in heights]
        colours = [ink(colour if learned.parameter == "w" else "--size") for colour in signed]
        axes.axhline(0.0, color=ink("--muted"), linewidth=0.7, zorder=1)
        axes.bar(x, heights, width=0.68, color=colours, zorder=2)
        if seeds > 1:
            axes.errorbar(
                x, heights, yerr=values.std(axis=0, ddof=1), fmt="none", ecolor=ink("--ink"), elinewidth=0.9,
                capsize=2, zorder=3,
            )  # fmt: skip
        for colour, width in ((ink("--paper"), 2.2), (INITIAL, 1.1)):
            axes.hlines(initial, x - 0.44, x + 0.44, color=colour, linewidth=width, zorder=5)
        axes.set_xlim(-0.7, heads - 0.3)
        axes.margins(y=0.12)
        axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
        axes.set_xticks(x, [str(head) for head in (order if seeds == 1 else x + 1)])
        axes.tick_params(axis="y", labelsize=8)
        axes.tick_params(axis="x", length=0, labelsize=7.5 if heads > 8 else 8.5)

    names = "head" if seeds == 1 else "rank of the head", MEANINGS.get(learned.parameter, learned.parameter)
    title = learned.layer if first else ""
    numbers = ", ".join(number(height) for height in heights)
    description = f"{learned.parameter} of the heads of {learned.layer}, sorted: {numbers}."
    return Panel(title, names, draw, description, x="own", note=panel_note(learned), size=size)


def panel_note(learned: LearnedParameter) -> str:
    """How many heads attend far, or what the marks are."""
    seeds, heads = learned.values.shape
    if learned.parameter != "w":
        return "grey: initial value" + (f"  ·  mean ± std, {seeds} seeds" if seeds > 1 else "")
    positive = plain(round(float((learned.values > 0).sum(axis=1).mean()), 1))
    return f"{positive} of {pluralise(heads, 'head')} w > 0" + (" on average" if seeds > 1 else "")

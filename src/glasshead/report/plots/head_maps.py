"""Heat maps of attention, one for each head."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, Normalize

from glasshead.report.figure import ColourBar, Figure, Ink, Panel
from glasshead.report.plot_registry import plot
from glasshead.report.style import SHADES, SIGNED
from glasshead.results import HeadMap, HeadMaps

CELL, LARGEST_CELL = 0.17, 0.45  # inches
SHORT_TEXT = 24
"""Tokens up to which four maps stand side by side."""


@plot("heads", HeadMaps)
def head_maps(maps: HeadMaps) -> Figure:
    """The attention of some heads to one text, on one scale; zero in the middle if weights can be negative.

    Source: Wu, Wu and Huang (2021), Fig. 8.
    """
    highest = max(float(np.nanmax(np.abs(one.weights))) for one in maps.maps) or 1.0
    norm = Normalize(-highest if maps.signed else 0.0, highest)
    shades = SIGNED if maps.signed else SHADES
    across = min(len(maps.maps), 4 if len(maps.columns) <= SHORT_TEXT else 2)
    cell = max(CELL, min(LARGEST_CELL, 2.1 / len(maps.columns)))
    letters = 0.07 * max(map(len, maps.columns), default=1)
    size = max(2.1, cell * len(maps.columns)) + 0.25, max(0.4, cell * len(maps.rows)) + letters + 0.45
    panels = []
    for rank, one in enumerate(maps.maps):
        left = letters if rank % across == 0 else 0.0
        panels.append(map_panel(maps, one, norm, shades, size, left))
    return Figure(
        f"{maps.layer}: a row is a query, a column a key",
        panels,
        across=across,
        colour_bars=[ColourBar("attention weight", range(len(panels)), norm, shades)],
    )


def map_panel(
    maps: HeadMaps, one: HeadMap, norm: Normalize, shades: Colormap, size: tuple[float, float], left: float
) -> Panel:
    """One head; thin white lines separate the cells, and if there is room on the ``left``, queries have
    names."""

    def draw(axes: Axes, ink: Ink) -> None:
        axes.imshow(one.weights, cmap=shades, norm=norm, interpolation="nearest", aspect="equal")
        queries, keys = one.weights.shape
        axes.set_xticks(np.arange(keys + 1) - 0.5, minor=True)
        axes.set_yticks(np.arange(queries + 1) - 0.5, minor=True)
        axes.grid(which="minor", color=ink("--paper"), linewidth=0.5)
        axes.tick_params(which="both", length=0)
        for spine in axes.spines.values():
            spine.set_visible(True)
            spine.set_color(ink("--line"))
        axes.set_xticks(range(keys), [ink.text(column) for column in maps.columns], rotation=90, fontsize=7.5)
        rows = [ink.text(row) for row in maps.rows] if left else []
        axes.set_yticks(range(len(rows)), rows, fontsize=7.5)

    row, column = divmod(int(np.nanargmax(np.abs(one.weights))), one.weights.shape[1])
    strongest = f"the largest weight is that of {maps.columns[column]} for {maps.rows[row]}"
    description = f"Attention weights of {one.title} in {maps.layer}: {strongest}."
    note = "nearly uniform" if one.uniform else ""
    return Panel(
        one.title,
        ("", ""),
        draw,
        description,
        x="own",
        note=note,
        grid=False,
        size=size,
        left=left,
        aspect=1.0,
    )

"""A table of numbers as shades: a row for each layer, with a word or a number in each cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, Normalize
from matplotlib.patches import Rectangle

from glasshead.arrays import AnyFloats
from glasshead.report.figure import Ink, Panel
from glasshead.report.number_format import number

HEIGHT, LETTER, FEWEST, EMPTY = 0.3, 0.075, 0.5, 0.2
"""Height of a row, width of a letter and of the narrowest cell with and without a word, in inches."""
LETTERS, MOST = 10, 24
"""Longer words are cut, and more columns than these have none in their cells."""
INSET = 0.06
"""How far inside of a cell its frame is."""
DARK = 0.45
"""The ground of a cell is dark below this brightness."""


@dataclass(frozen=True)
class HeatGrid:
    """``values`` [rows, columns], NaN where there is no cell, with their names and the ``words`` in cells;
    ``framed`` are the cells (row, column) that have a frame."""

    values: AnyFloats
    rows: Sequence[str]
    columns: Sequence[str]
    words: Sequence[Sequence[str]]
    framed: Sequence[tuple[int, int]] = field(default=())


def heat_panel(
    grid: HeatGrid, title: str, axes: tuple[str, str], norm: Normalize, shades: Colormap, description: str
) -> Panel:
    """The table as a panel."""
    rows, columns, words = (
        [shorten(one) for one in grid.rows],
        [shorten(one) for one in grid.columns],
        [[shorten(one) for one in row] for row in grid.words],
    )
    longest = max((len(one) for row in words for one in row), default=0)
    speaks = len(columns) <= MOST
    width = (max(FEWEST, LETTER * (longest + 2)) if speaks else EMPTY) * len(columns)
    turned = LETTER * max(map(len, columns), default=1) > width / max(1, len(columns))
    below = LETTER * max(map(len, columns), default=1) if turned else 0.2
    left = 1.15 * LETTER * max(map(len, rows), default=1)

    def draw(canvas: Axes, ink: Ink) -> None:
        canvas.imshow(grid.values, cmap=shades, norm=norm, interpolation="nearest", aspect="auto")
        canvas.set_xticks(np.arange(len(columns) + 1) - 0.5, minor=True)
        canvas.set_yticks(np.arange(len(rows) + 1) - 0.5, minor=True)
        canvas.grid(which="minor", color=ink("--paper"), linewidth=1.0)
        canvas.tick_params(which="both", length=0)
        canvas.set_xticks(
            range(len(columns)), list(map(ink.text, columns)), rotation=90 if turned else 0, fontsize=7.5
        )
        canvas.set_yticks(range(len(rows)), list(map(ink.text, rows)), fontsize=7.5)
        for row, column in np.argwhere(np.isfinite(grid.values)) if speaks else ():
            canvas.text(
                column, row, ink.text(words[row][column]), ha="center", va="center", fontsize=7,
                color=ink(on_ground(grid.values[row, column])),
            )  # fmt: skip
        for row, column in grid.framed:
            line = ink(on_ground(grid.values[row, column]))
            corner = (column - 0.5 + INSET, row - 0.5 + INSET)
            canvas.add_patch(
                Rectangle(corner, 1 - 2 * INSET, 1 - 2 * INSET, fill=False, edgecolor=line, linewidth=1.2)
            )

    def on_ground(value: float) -> str:
        """The colour of letters on the shade of a number."""
        red, green, blue, _ = shades(norm(value))
        is_dark = 0.299 * red + 0.587 * green + 0.114 * blue < DARK
        return "--paper" if is_dark else "--ink"

    size = (width + left + 0.3, HEIGHT * len(rows) + below + 0.5)
    return Panel(title, axes, draw, description, x="own", grid=False, size=size, left=left)


def shorten(words: str) -> str:
    """A word that is not too long for a cell."""
    return words if len(words) <= LETTERS else f"{words[: LETTERS - 1]}…"


def short_number(value: float, *, plus: bool = False) -> str:
    """A number for a cell, to two decimals."""
    return number(round(value, 2), 2, plus=plus)

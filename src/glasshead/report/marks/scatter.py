"""Points by group, which a reader of the page can point at, with the names of the outermost."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from glasshead.report.figure import Ink, Panel
from glasshead.report.marks.limits import Floats, Limits

MAX_POINTS = 1200
MAX_NAMES = 10
LONGEST_NAME = 16
AXES_SIZE = (330.0, 220.0)
"""About the size of the axes in points: the room that names have."""
Position = tuple[float, float]


@dataclass(frozen=True)
class Points:
    """One colour of a scatter plot; ``titles`` show on hover, ``names`` may be written next to a point, and
    the ``marked`` ones have a ring."""

    x: Floats
    y: Floats
    colour: str
    titles: Sequence[str]
    names: Sequence[str] = ()
    marked: NDArray[np.bool_] | None = None


def scatter_panel(
    title: str,
    groups: Sequence[Points],
    axes_names: tuple[str, str],
    limits: tuple[Limits, Limits],
    description: str,
    trend: tuple[Floats, Floats] | None = None,
) -> Panel:
    """Points by group with zero lines; ``trend`` adds one line over them."""

    def draw(axes: Axes, ink: Ink) -> None:
        axes.set_xlim(*limits[0])
        axes.set_ylim(*limits[1])
        axes.axhline(0.0, color=ink("--line"), linewidth=0.8, zorder=0)
        axes.axvline(0.0, color=ink("--line"), linewidth=0.8, zorder=0)
        for group in groups:
            draw_points(axes, group, False, ink, s=16, alpha=0.6, linewidths=0)
        for group in groups:
            draw_points(axes, group, True, ink, s=42, edgecolors=ink("--ink"), linewidths=1.1, zorder=3)
        if trend is not None and trend[0].size:
            for colour, width in (("--paper", 4.5), ("--ink", 1.6)):
                axes.plot(*trend, color=ink(colour), linewidth=width, zorder=4)
        draw_names(axes, groups, limits, ink)

    return Panel(title, axes_names, draw, description, aspect=0.7)


def draw_points(axes: Axes, group: Points, marked: bool, ink: Ink, **style: Any) -> None:
    """The marked points of a group, or the others."""
    rings = np.zeros(len(group.x), bool) if group.marked is None else group.marked
    part = np.flatnonzero(rings == marked)
    if part.size:
        titles = [group.titles[index] for index in part.tolist()]
        axes.scatter(group.x[part], group.y[part], color=ink(group.colour), **ink.hover(titles), **style)


def draw_names(axes: Axes, groups: Sequence[Points], limits: tuple[Limits, Limits], ink: Ink) -> None:
    """Name the outermost points where there is room."""
    (left, right), (low, high) = limits
    width, height = AXES_SIZE

    def position(x: float, y: float) -> Position:
        return (x - left) / (right - left) * width, (high - y) / (high - low) * height

    for name, (across, down), side in place_names(groups, position):
        axes.annotate(
            ink.text(name), (across / width, 1 - down / height), xycoords="axes fraction",
            xytext=(4 if side == "start" else -4, 0), textcoords="offset points", va="center",
            ha="left" if side == "start" else "right", fontsize=8, color=ink("--ink"), zorder=5,
            **ink.halo(),
        )  # fmt: skip


def place_names(
    groups: Sequence[Points], position: Callable[[float, float], Position], most: int = MAX_NAMES
) -> list[tuple[str, Position, str]]:
    """Which points get their names: the outermost ones, where no name lies over another or leaves the plot.

    ``position`` says where a point lies, across and down. Word, position, and the side: ``start`` to the
    right of the point, ``end`` to the left.
    """
    centre = position(0.0, 0.0)
    candidates = []
    for group in groups:
        for x, y, name in zip(group.x, group.y, group.names, strict=False):
            if name:
                here = position(x, y)
                far = sum(((a - b) / size) ** 2 for a, b, size in zip(here, centre, AXES_SIZE, strict=True))
                candidates.append((-far, name, here))
    taken: list[tuple[float, float, float, float]] = []
    placed: list[tuple[str, Position, str]] = []
    for _, name, (across, down) in sorted(candidates)[: 20 * most]:
        word = name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"
        width = 5.6 * len(word)
        for left, side in ((across + 5, "start"), (across - 5 - width, "end")):
            box = (left, down - 9, left + width, down + 7)
            clear = all(box[2] < t[0] or box[0] > t[2] or box[3] < t[1] or box[1] > t[3] for t in taken)
            if left >= 0.0 and box[2] < AXES_SIZE[0] and down >= 4 and clear:
                taken.append(box)
                placed.append((word, (across, down), side))
                break
        if len(placed) == most:
            break
    return placed


def sample(size: int, most: int) -> NDArray[np.int64]:
    """Which of ``size`` points to draw: all, or a seeded choice of ``most``."""
    if size <= most:
        return np.arange(size)
    return np.sort(np.random.default_rng(0).choice(size, most, replace=False))

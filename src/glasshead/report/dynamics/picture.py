"""A picture of a history: said once, shown as a file of its own or in the colours of the page."""

import math
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import matplotlib
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator, ScalarFormatter

from glasshead.escaping import visible
from glasshead.report.labels import sentence
from glasshead.report.style import COLOURS, LINE, MUTED, PAPER, STYLE, drawable
from glasshead.report.svg import PLACEHOLDERS, Canvas

Ink = Callable[[str], str]
"""A colour of the page, such as ``--positive`` → what a drawing is to be painted with."""
DASHES: dict[str, Any] = {
    "line": "-", "dashed": (0, (4, 2.5)), "dotted": (0, (1, 1.6)), "dashdot": (0, (6, 2, 1, 2)),
}  # fmt: skip
BROAD: dict[str, Any] = {"linewidth": 4.5, "alpha": 0.25, "solid_capstyle": "butt"}
"""A line below the others, which can lie upon it."""
WIDE, NARROW, ROW = (400.0, 250.0), (310.0, 215.0), 26.0
"""Width and height of a drawing on the page: of two beside each other, and of three."""
ROOMY = 9.0
"""Between the name of an axis and its numbers, whose letters are larger on a phone."""
LETTER = 5.3
"""Width of a letter of a name beside a row."""
LONGEST = 34
SMALL, SMALL_LETTER, SMALL_LINE, KEY_LINE = 7.5, 0.061, 0.142, 0.185
"""Size of the letters of a caption in points; width of a letter, height of its lines and of those of a legend
in inches."""
TIMES = " × "


@dataclass(frozen=True)
class Key:
    """One entry of a legend; ``kind`` is line, dashed, dotted, dashdot, broad, area, hatched or dot."""

    colour: str
    words: str
    kind: str = "line"


@dataclass(frozen=True)
class Panel:
    """One pair of axes: ``draw`` paints on them, ``about`` says it to those who do not see it.

    ``rows`` are names beside the heights 0, 1, … where there is one row for each; ``page`` draws it for the
    page in another way, where a reader can point at things. Words from outside stand in ``title`` and
    ``rows`` only.
    """

    title: str
    axes: tuple[str, str]
    draw: Callable[[Axes, Ink], None]
    about: str
    rows: Sequence[str] = ()
    over_steps: bool = True
    page: Callable[[str], str] | None = None


@dataclass(frozen=True)
class Picture:
    """Panels that belong together, with one legend; ``source`` are the figures that it is after.

    The caption says what is drawn, on the page and below the print; ``pointing`` what to do on the page.

    ``across`` panels belong in one row; None: as many as fit.
    """

    title: str
    panels: list[Panel]
    caption: str
    keys: list[Key] = field(default_factory=list)
    source: str = ""
    across: int | None = None
    pointing: str = ""

    @property
    def columns(self) -> int:
        """Panels in a row: three at most, and four in two rows."""
        n = len(self.panels)
        return min(n, self.across or (2 if n == 4 else 3))


def figure_of(picture: Picture) -> Figure:
    """The picture as a figure for print: title above, legend and caption below."""
    columns, alone = picture.columns, len(picture.panels) == 1
    down = math.ceil(len(picture.panels) / columns)
    tallest = max(max(3.4 if alone else 2.7, 0.34 * len(panel.rows) + 0.9) for panel in picture.panels)
    with matplotlib.rc_context({**STYLE, "text.parse_math": False}):
        width = max(5.6, 3.5 * columns)
        keys_across = fitting(picture.keys, width)
        caption = drawable(f"{picture.caption} {sentence(picture.source)}".strip())
        lines = textwrap.wrap(caption, int((width - 0.2) / SMALL_LETTER))
        told = SMALL_LINE * len(lines) + 0.06
        keyed = KEY_LINE * math.ceil(len(picture.keys) / keys_across) + 0.16 if picture.keys else 0.0
        height = tallest * down + 0.4 + keyed + told
        room = 0.0, (keyed + told) / height, 1.0, 1.0 - (keyed + told) / height
        layout = ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.08, wspace=0.04, hspace=0.05, rect=room)
        figure = Figure(figsize=(width, height), facecolor=PAPER, layout=layout)
        grid: Any = figure.subplots(down, columns, squeeze=False)
        for axes, panel in zip(grid.flat, [*picture.panels, *[None] * (down * columns)], strict=False):
            if panel is None:
                axes.set_visible(False)
                continue
            framed(axes, panel)
            panel.draw(axes, COLOURS.__getitem__)
            if panel.title:
                axes.set_title(drawable(panel.title), loc="left", pad=13)
            if panel.rows:
                axes.set_yticks(range(len(panel.rows)), [drawable(each) for each in panel.rows])
                axes.tick_params(axis="y", length=0)
            else:
                axes.grid(axis="y", color=LINE, linewidth=0.5)
                axes.set_axisbelow(True)
        figure.suptitle(drawable(picture.title), x=0.01, ha="left", fontsize=10.5)
        if picture.keys:
            figure.legend(
                handles=[handle(each) for each in picture.keys], loc="lower left",
                bbox_to_anchor=(0.0, told / height), frameon=False,
                ncols=keys_across, fontsize=8.5, labelcolor=MUTED, handlelength=1.8,
                columnspacing=1.4,
            )  # fmt: skip
        figure.text(
            0.1 / width, 0.06 / height, "\n".join(lines), fontsize=SMALL, color=MUTED, linespacing=1.3,
            va="bottom",
        )  # fmt: skip
    return figure


def fitting(keys: Sequence[Key], width: float) -> int:
    """How many columns of a legend fit into a width in inches; it is filled column by column."""
    sizes = [0.078 * len(key.words) + 0.55 for key in keys]
    for columns in range(len(keys), 1, -1):
        down = math.ceil(len(keys) / columns)
        if sum(max(sizes[start : start + down]) for start in range(0, len(keys), down)) <= width:
            return columns
    return 1


def framed(axes: Axes, panel: Panel) -> None:
    """Axes with their names and round numbers."""
    axes.set_xlabel(panel.axes[0])
    axes.set_ylabel(panel.axes[1])
    if panel.over_steps:
        axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        axes.margins(x=0.0)
    else:
        axes.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
        axes.xaxis.set_major_formatter(in_full())
    if not panel.rows:
        axes.yaxis.set_major_formatter(in_full())
        axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))


def in_full() -> ScalarFormatter:
    """Writes every number beside an axis as it is, with no offset or power of ten to be added in mind."""
    whole = ScalarFormatter(useOffset=False)
    whole.set_scientific(False)
    return whole


def handle(key: Key) -> Line2D | Patch:
    """A legend's sample of a line or an area."""
    colour, words = COLOURS[key.colour], drawable(key.words)
    if key.kind == "hatched":
        return Patch(facecolor="none", edgecolor=colour, hatch="/////", linewidth=0.0, label=words)
    if key.kind == "area":
        return Patch(facecolor=colour, alpha=0.75, label=words)
    if key.kind == "dot":
        return Line2D([], [], color=colour, marker="o", markersize=4.5, linestyle="none", label=words)
    if key.kind == "broad":
        return Line2D([], [], **BROAD, color=colour, label=words)
    return Line2D([], [], color=colour, linewidth=1.8, linestyle=DASHES[key.kind], label=words)


def drawings(picture: Picture, key: str) -> list[tuple[str, Markup]]:
    """Title and SVG of every panel, in the colours of the page; ``key`` is the picture's own on the page."""
    size = WIDE if picture.columns < 3 else NARROW
    return [
        (visible(panel.title), Markup(drawing(panel, f"{key}-{rank}", size)))
        for rank, panel in enumerate(picture.panels)
    ]


def drawing(panel: Panel, key: str, size: tuple[float, float] = WIDE) -> str:
    """One panel as an SVG element."""
    if panel.page is not None:
        return panel.page(key)
    names = [shortened(each) for each in panel.rows]
    left = 14 + LETTER * max(map(len, names)) if names else 66.0
    height = ROW * len(names) + 54 if names else size[1]
    canvas = Canvas(size[0], height, left=left, bottom=38, top=14)
    framed(canvas.axes, panel)
    canvas.axes.yaxis.labelpad = ROOMY
    panel.draw(canvas.axes, PLACEHOLDERS.__getitem__)
    if names:
        canvas.axes.set_yticks([])
        canvas.axes.spines["left"].set_visible(False)
        for height_, name in enumerate(names):
            across, down = canvas.place(canvas.axes.get_xlim()[0], height_)
            canvas.write(across - 8, down + 3, name, "end")
    return canvas.drawn(key, panel.about)


def shortened(name: str) -> str:
    """A name that fits beside a row; of a pair, both names are cut."""
    parts = name.split(TIMES)
    room = (LONGEST - len(TIMES) * (len(parts) - 1)) // len(parts)
    if len(name) <= LONGEST:
        return name
    return TIMES.join(part if len(part) <= room else part[: room - 1] + "…" for part in parts)

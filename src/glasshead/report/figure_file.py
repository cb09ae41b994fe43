"""A figure as an image file: title above, panels, legend and caption below."""

import io
import math
import textwrap
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.figure import Figure as MatplotlibFigure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import Bbox

from glasshead.escaping import visible
from glasshead.report.colours import FILE, LINE, MUTED, PAPER
from glasshead.report.figure import BROAD, DASHES, Figure, LegendEntry, Panel, frame
from glasshead.report.fonts import FONT, drawable, in_order, used_fonts
from glasshead.report.style import in_style, matplotlib_style
from glasshead.wording import sentence

WIDTH, HEIGHT, ALONE = 3.5, 2.7, 3.4
"""For a panel in inches; the height of one that stands alone."""
ROW, LEAST_WIDTH = 0.34, 5.6
SMALL, SMALL_LETTER, SMALL_LINE, LEGEND_LINE = 7.5, 0.061, 0.142, 0.185
"""Size of the letters of a caption in points; width of a letter, height of its lines and of those of a legend
in inches."""


class FileInk:
    """The colours of the page in daylight, and letters that a font has."""

    def __call__(self, colour: str) -> str:
        return FILE[colour]

    def text(self, words: str) -> str:
        """Words from outside with a question mark in a box for every character that no font has."""
        return drawable(words)

    def hover(self, titles: Sequence[str]) -> dict[str, Any]:
        """Nobody points at a print."""
        return {}

    def halo(self) -> dict[str, Any]:
        """A line of paper around the letters."""
        return {"path_effects": [withStroke(linewidth=2.2, foreground=PAPER)]}


INK = FileInk()
STYLE = matplotlib_style(INK, 9)


def image_file(figure: Figure, kind: str) -> bytes:
    """The figure as a ``png``, ``svg`` or ``pdf`` file; the same figure gives the same bytes."""
    return to_bytes(to_matplotlib(figure), kind)


def to_bytes(figure: MatplotlibFigure, kind: str) -> bytes:
    """A figure of matplotlib as a file."""
    metadata: dict[str, dict[str, Any]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}
    buffer = io.BytesIO()
    with in_style(STYLE):
        freeze_layout(figure)
        figure.savefig(buffer, format=kind, dpi=160, metadata=metadata[kind])
    if kind == "svg":
        # Comments, titles and what else matplotlib writes beside the outlines.
        return visible(buffer.getvalue().decode()).encode()
    return buffer.getvalue()


def freeze_layout(figure: MatplotlibFigure) -> None:
    """Give the axes their places for good, to nine digits.

    The layout's solver goes through its unknowns in the order of their addresses, so that its last digits
    differ from call to call.
    """
    if figure.get_layout_engine() is None:
        return
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for axes in figure.axes:
        bounds = axes.get_position(original=True).bounds
        axes.set_position(Bbox.from_bounds(*(round(float(number), 9) for number in bounds)))


def to_matplotlib(figure: Figure) -> MatplotlibFigure:
    """The figure as one of matplotlib, laid out but not yet drawn, in the fonts that have its letters.

    Letters that no font has are drawn as a sign and named in a `MissingFontWarning`.
    """
    with used_fonts() as used:
        canvas = in_families(figure, [FONT])
    used.warn()
    return canvas if used.families <= {FONT} else in_families(figure, in_order(used.families))


def in_families(figure: Figure, families: list[str]) -> MatplotlibFigure:
    """The same in these fonts, of which matplotlib takes for each letter the first that has it."""
    cells, down = grid_cells(figure)
    widths, heights = track_sizes(figure, cells, down)
    with in_style(STYLE | {"font.family": families}):
        # Names on the left of a column make the picture wider, not the axes of that column.
        width = max(LEAST_WIDTH, sum(widths) + max(panel.left for panel in figure.panels))
        entries_across = legend_columns(figure.legend, width)
        words = drawable(f"{figure.caption} {sentence(figure.source)}".strip())
        lines = textwrap.wrap(words, int((width - 0.2) / SMALL_LETTER))
        caption = SMALL_LINE * len(lines) + 0.06 if lines else 0.0
        legend = LEGEND_LINE * math.ceil(len(figure.legend) / entries_across) + 0.16 if figure.legend else 0.0
        bars = 0.5 if figure.colour_bars else 0.0
        height = sum(heights) + 0.4 + bars + legend + caption
        room = 0.0, (legend + caption) / height, 1.0, 1.0 - (legend + caption) / height
        layout = ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.08, wspace=0.04, hspace=0.05, rect=room)
        canvas = MatplotlibFigure(figsize=(width, height), facecolor=PAPER, layout=layout)
        grid = canvas.add_gridspec(down, figure.columns, width_ratios=widths, height_ratios=heights)
        all_axes = []
        for panel, (row, column) in zip(figure.panels, cells, strict=True):
            axes = canvas.add_subplot(grid[row : row + panel.spans_rows, column])
            draw_panel(axes, panel)
            all_axes.append(axes)
        for bar in figure.colour_bars:
            shades = ScalarMappable(bar.norm, bar.shades)
            fraction, aspect = 0.05, 30.0
            if bar.height is not None:
                fraction, aspect = bar.height / sum(heights), 0.7 * width / bar.height
            scale = canvas.colorbar(
                shades, ax=[all_axes[number] for number in bar.panels], location="bottom", fraction=fraction,
                shrink=0.7, pad=0.03, aspect=aspect,
            )  # fmt: skip
            scale.outline.set_visible(False)
            scale.locator = MaxNLocator(5, steps=[1, 2, 5, 10])
            scale.ax.tick_params(labelsize=8)
            scale.set_label(drawable(bar.label), fontsize=8, color=MUTED)
        canvas.suptitle(drawable(figure.title), x=0.01, ha="left", fontsize=10.5)
        if figure.legend:
            canvas.legend(
                handles=[handle(entry) for entry in figure.legend], loc="lower left",
                bbox_to_anchor=(0.0, caption / height), frameon=False,
                ncols=entries_across, fontsize=8.5, labelcolor=MUTED, handlelength=1.8,
                columnspacing=1.4,
            )  # fmt: skip
        canvas.text(
            0.1 / width, 0.06 / height, "\n".join(lines), fontsize=SMALL, color=MUTED, linespacing=1.3,
            va="bottom",
        )  # fmt: skip
    return canvas


def grid_cells(figure: Figure) -> tuple[list[tuple[int, int]], int]:
    """Row and column of every panel, row by row past those that span several rows; and how many rows."""
    taken: set[tuple[int, int]] = set()
    cells: list[tuple[int, int]] = []
    free = 0
    for panel in figure.panels:
        while divmod(free, figure.columns) in taken:
            free += 1
        row, column = divmod(free, figure.columns)
        cells.append((row, column))
        taken |= {(row + below, column) for below in range(panel.spans_rows)}
    return cells, max(row for row, _ in taken) + 1


def track_sizes(
    figure: Figure, cells: Sequence[tuple[int, int]], down: int
) -> tuple[list[float], list[float]]:
    """Widths of the columns and heights of the rows in inches."""
    alone = len(figure.panels) == 1
    widths, heights = [0.0] * figure.columns, [0.0] * down
    for panel, (row, column) in zip(figure.panels, cells, strict=True):
        rows = ROW * panel.row_height / 26 * len(panel.rows) + 0.9
        usual = LEAST_WIDTH if alone else WIDTH, max(ALONE if alone else HEIGHT, rows)
        width, height = panel.size or usual
        widths[column] = max(widths[column], width)
        for below in range(panel.spans_rows):
            heights[row + below] = max(heights[row + below], height / panel.spans_rows)
    if not any(panel.size for panel in figure.panels):
        heights = [max(heights)] * down
    return widths, heights


def draw_panel(axes: Axes, panel: Panel) -> None:
    """One panel with its title and the names of its rows."""
    frame(axes, panel)
    if panel.draw is None:
        axes.set_axis_off()
        axes.text(0.5, 0.5, "not recorded", transform=axes.transAxes, ha="center", color=MUTED)
        return
    panel.draw(axes, INK)
    if panel.title:
        axes.set_title(drawable(panel.title), loc="left", pad=18 if panel.note else 13)
    if panel.note:
        axes.annotate(
            drawable(panel.note), (1.0, 1.0), xytext=(0, 4), xycoords="axes fraction",
            textcoords="offset points", ha="right", va="bottom", fontsize=8, color=MUTED,
        )  # fmt: skip
    if panel.rows:
        notes = [f"\n{note}" for note in panel.row_notes] or [""] * len(panel.rows)
        names = [drawable(row) + note for row, note in zip(panel.rows, notes, strict=True)]
        axes.set_yticks(range(len(panel.rows)), names)
        axes.tick_params(axis="y", length=0)
    elif panel.grid:
        axes.grid(axis="y", color=LINE, linewidth=0.5)
        axes.set_axisbelow(True)


def legend_columns(legend: Sequence[LegendEntry], width: float) -> int:
    """How many columns of a legend fit into a width in inches; it is filled column by column."""
    sizes = [0.078 * len(entry.words) + 0.55 for entry in legend]
    for columns in range(len(legend), 1, -1):
        down = math.ceil(len(legend) / columns)
        if sum(max(sizes[start : start + down]) for start in range(0, len(legend), down)) <= width:
            return columns
    return 1


def handle(entry: LegendEntry) -> Line2D | Patch:
    """A legend's sample of a line or an area."""
    colour, words = FILE[entry.colour], drawable(entry.words)
    if entry.kind == "hatched":
        return Patch(facecolor="none", edgecolor=colour, hatch="/////", linewidth=0.0, label=words)
    if entry.kind == "outline":
        return Patch(facecolor="none", edgecolor=colour, linewidth=1.0, label=words)
    if entry.kind == "area":
        return Patch(facecolor=colour, alpha=0.75, label=words)
    if entry.kind in ("ring", "diamond"):
        marker = "o" if entry.kind == "ring" else "D"
        return Line2D(
            [], [], color=colour, marker=marker, markersize=4.5, markerfacecolor=PAPER, linestyle="none",
            label=words,
        )  # fmt: skip
    if entry.kind == "dot":
        return Line2D([], [], color=colour, marker="o", markersize=4.5, linestyle="none", label=words)
    if entry.kind == "broad":
        return Line2D([], [], **BROAD, color=colour, label=words)
    return Line2D([], [], color=colour, linewidth=1.8, linestyle=DASHES[entry.kind], label=words)

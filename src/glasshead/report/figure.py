"""What a plot is: panels with a legend and a caption, described once and drawn on a page or into a file."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from matplotlib.axes import Axes
from matplotlib.colors import Colormap, Normalize
from matplotlib.ticker import FuncFormatter, MaxNLocator, ScalarFormatter

from glasshead.drawable import Drawable
from glasshead.errors import InputError

DASHES: dict[str, Any] = {
    "line": "-", "dashed": (0, (4, 2.5)), "dotted": (0, (1, 1.6)), "dashdot": (0, (6, 2, 1, 2)),
}  # fmt: skip
BROAD: dict[str, Any] = {"linewidth": 4.5, "alpha": 0.25, "solid_capstyle": "butt"}
"""A line below the others, which can lie upon it."""


class Ink(Protocol):
    """The colours and fonts of a panel: those of a page, or those of a file."""

    def __call__(self, colour: str) -> str:
        """A colour of the page, such as ``--for``, as matplotlib takes it."""

    def text(self, words: str) -> str:
        """Text from outside, made safe for drawing."""

    def hover(self, titles: Sequence[str]) -> dict[str, Any]:
        """Arguments of a scatter plot whose points show text on hover."""

    def halo(self) -> dict[str, Any]:
        """Arguments of a text that is drawn over other marks."""


@dataclass(frozen=True)
class LegendEntry:
    """One entry of a legend; ``kind`` is line, dashed, dotted, dashdot, broad, area, outline, hatched,
    dot, ring or diamond."""

    colour: str
    words: str
    kind: str = "line"


@dataclass(frozen=True)
class Panel:
    """One pair of axes: ``draw`` paints on them, ``description`` is the text for screen readers.

    ``rows`` are names next to the heights 0, 1, … if the panel has rows, ``row_notes`` small text below
    them. ``x`` is the quantity on the x axis: steps, numbers, or something that ``draw`` labels itself.
    ``note`` is small text above, on the right. ``size`` is width and height in inches in a file, besides
    ``left`` for names on the left; ``aspect`` is height divided by width on a page (None: the defaults).
    ``draw`` is None where the numbers are lacking.
    """

    title: str
    axes: tuple[str, str]
    draw: Callable[[Axes, Ink], None] | None
    description: str
    rows: Sequence[str] = ()
    row_notes: Sequence[str] = ()
    row_height: float = 26.0
    row_letters: int = 34
    x: Literal["steps", "numbers", "own"] = "numbers"
    note: str = ""
    grid: bool = True
    size: tuple[float, float] | None = None
    left: float = 0.0
    aspect: float | None = None
    spans_rows: int = 1


@dataclass(frozen=True)
class ColourBar:
    """The scale of the shades of some panels, by their numbers; ``height`` is in inches (None: that of the
    panels)."""

    label: str
    panels: Sequence[int]
    norm: Normalize
    shades: Colormap
    height: float | None = None


@dataclass(frozen=True, repr=False)
class Figure(Drawable):
    """Panels that belong together, with one legend; ``source`` names the figures that it follows.
    It shows itself in a notebook, and `save` writes it.

    The caption says what is drawn, on the page and in the file; ``hint`` what to do on the page.
    ``across`` is the number of panels in a row; None: as many as fit.
    """

    title: str
    panels: Sequence[Panel]
    caption: str = ""
    legend: Sequence[LegendEntry] = ()
    source: str = ""
    across: int | None = None
    hint: str = ""
    colour_bars: Sequence[ColourBar] = ()

    def __repr__(self) -> str:
        return f"Figure({self.title!r}, {len(self.panels)} panels)"

    def to_json(self) -> str:
        """Raise: a figure has no JSON; the values that it shows have.

        Raises:
            InputError: always.
        """
        raise InputError("a figure has no JSON: save it as .html, .svg, .png or .pdf")

    @property
    def columns(self) -> int:
        """Panels in a row: three at most, and four in two rows."""
        n = len(self.panels)
        return min(n, self.across or (2 if n == 4 else 3))


def frame(axes: Axes, panel: Panel) -> None:
    """Axes with their names and round numbers."""
    axes.set_xlabel(panel.axes[0])
    axes.set_ylabel(panel.axes[1])
    if panel.x == "steps":
        axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        axes.margins(x=0.0)
    elif panel.x == "numbers":
        axes.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
        axes.xaxis.set_major_formatter(full_number_formatter())
    if not panel.rows and panel.x != "own":
        axes.yaxis.set_major_formatter(full_number_formatter())
        axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))


def full_number_formatter() -> ScalarFormatter:
    """Writes every number next to an axis as it is, with no offset or power of ten to be added in mind."""
    formatter = ScalarFormatter(useOffset=False)
    formatter.set_scientific(False)
    return formatter

"""What the pictures that are files of their own have in common: ink, letters, and how they are written."""

import io
from functools import cache
from typing import Any

import matplotlib
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.font_manager import findfont, get_font
from matplotlib.transforms import Bbox

from glasshead.escaping import visible

INK, MUTED, LINE, PAPER = "#1f2328", "#5c636b", "#d9dce0", "#ffffff"
ORANGE, BLUE = "#c96a08", "#2a6fbb"
"""Below and above zero: told apart by people who see no red or green."""
COLOURS = {
    "--ink": INK, "--muted": MUTED, "--line": LINE, "--paper": PAPER, "--accent": "#0b6a75",
    "--positive": ORANGE, "--negative": BLUE, "--neutral": "#3c8f52",
    "--c0": BLUE, "--c1": ORANGE, "--c2": "#7d4fa8", "--c3": "#b5396e", "--c4": "#7c6a1c", "--c5": "#118089",
    "--c6": "#8a4b32", "--c7": "#6b6e78",
}  # fmt: skip
"""The colours of the page as ink, for pictures that stand on both."""
SHADES = LinearSegmentedColormap.from_list("shades", ["#f6f8fb", "#9dbfe3", "#2a6fbb", "#0f2e57"])
SIGNED = LinearSegmentedColormap.from_list(
    "signed", ["#5f2e02", "#c96a08", "#efc796", "#f8f8f7", "#9dbfe3", "#2a6fbb", "#0f2e57"]
)
STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "text.color": INK,
    "axes.titlesize": 9,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.major.size": 3,
    "ytick.major.size": 3,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "svg.hashsalt": "glasshead",
}


def plain(value: float) -> str:
    """A number as a person would write it."""
    return f"{value:g}".replace("-", "−")


@cache
def _has(character: str) -> bool:
    """Whether the font of the pictures has a character."""
    return bool(get_font(findfont(STYLE["font.family"])).get_char_index(ord(character)))


def drawable(text: str) -> str:
    """Words from outside with a question mark in a box for every character that the font lacks."""
    return "".join(each if _has(each) else "\ufffd" for each in visible(text))


def drawn(figure: Figure, kind: str) -> bytes:
    """The figure as a ``png``, ``svg`` or ``pdf`` file; the same figure gives the same bytes."""
    metadata: dict[str, dict[str, Any]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}
    buffer = io.BytesIO()
    with matplotlib.rc_context(STYLE):
        laid_out(figure)
        figure.savefig(buffer, format=kind, dpi=160, metadata=metadata[kind])
    return buffer.getvalue()


def laid_out(figure: Figure) -> None:
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
        axes.set_position(Bbox.from_bounds(*(round(float(each), 9) for each in bounds)))

"""What the pictures that are files of their own have in common: ink, letters, and how they are written."""

import io
from typing import Any

import matplotlib
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

INK, MUTED, LINE, PAPER = "#1f2328", "#5c636b", "#d9dce0", "#ffffff"
ORANGE, BLUE = "#c96a08", "#2a6fbb"
"""Below and above zero: told apart by people who see no red or green."""
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


def drawn(figure: Figure, kind: str) -> bytes:
    """The figure as a ``png``, ``svg`` or ``pdf`` file; the same figure gives the same bytes."""
    metadata: dict[str, dict[str, Any]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}
    buffer = io.BytesIO()
    with matplotlib.rc_context(STYLE):
        figure.savefig(buffer, format=kind, dpi=160, metadata=metadata[kind])
    return buffer.getvalue()

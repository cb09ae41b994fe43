"""The colours of the page as ink, and the style of everything that matplotlib draws."""

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import matplotlib
from matplotlib.colors import LinearSegmentedColormap

INK, MUTED, LINE, PAPER = "#1f2328", "#5c636b", "#d9dce0", "#ffffff"
ORANGE, BLUE = "#c96a08", "#2a6fbb"
"""Below and above zero: told apart by people who see no red or green."""
COLOURS = {
    "--ink": INK, "--muted": MUTED, "--line": LINE, "--paper": PAPER, "--accent": "#0b6a75",
    "--positive": ORANGE, "--negative": BLUE, "--neutral": "#3c8f52",
    "--c0": BLUE, "--c1": ORANGE, "--c2": "#7d4fa8", "--c3": "#b5396e", "--c4": "#7c6a1c", "--c5": "#118089",
    "--c6": "#8a4b32", "--c7": "#6b6e78",
}  # fmt: skip
"""A colour of the page by its CSS name → the ink of a file."""
FOR, AGAINST = (214, 69, 65), (43, 108, 196)
"""Red and blue under words that speak for and against, laid over whatever paper there is."""
STRONGEST = 0.62
"""How opaque the strongest of them is: letters stay readable on it, in light and dark."""
SHADES = LinearSegmentedColormap.from_list("shades", ["#f6f8fb", "#9dbfe3", "#2a6fbb", "#0f2e57"])
SIGNED = LinearSegmentedColormap.from_list(
    "signed", ["#5f2e02", "#c96a08", "#efc796", "#f8f8f7", "#9dbfe3", "#2a6fbb", "#0f2e57"]
)
MAX_CLASSES = 8
POLARITY_COLOURS = {"positive": "--positive", "negative": "--negative", "neutral": "--neutral"}


def class_colour(rank: int) -> str:
    """A colour for each of eight classes, and then again."""
    return f"--c{rank % MAX_CLASSES}"


def group_colours(groups: list[str]) -> dict[str, str]:
    """One CSS colour per token group: orange, blue and green for polarities, a palette for classes."""
    others = [group for group in groups if group not in POLARITY_COLOURS]
    palette = {group: class_colour(rank) for rank, group in enumerate(others)}
    return {group: POLARITY_COLOURS.get(group) or palette[group] for group in groups}


ONE_DRAWS = threading.RLock()
"""Settings of matplotlib hold for the whole process."""


@contextmanager
def in_style(style: Mapping[Any, Any]) -> Iterator[None]:
    """Draw in the block with these settings; other threads wait until it is left."""
    with ONE_DRAWS, matplotlib.rc_context(dict(style)), quiet_search():
        yield


@contextmanager
def quiet_search() -> Iterator[None]:
    """Let matplotlib not remark that a family has no regular weight and it takes the nearest."""
    log = logging.getLogger("matplotlib.font_manager")
    before = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(before)


def matplotlib_style(colour: Callable[[str], str], size: float) -> dict[Any, Any]:
    """Settings of matplotlib; ``size`` is that of the letters in points. Text is never read as
    mathematics."""
    ink, muted = colour("--ink"), colour("--muted")
    return {
        "text.parse_math": False,
        "font.family": ["DejaVu Sans"],
        "font.size": size,
        "text.color": ink,
        "axes.titlesize": 9,
        "axes.edgecolor": muted,
        "axes.labelcolor": ink,
        "axes.linewidth": 0.7,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.unicode_minus": True,
        "axes.grid": False,
        "xtick.color": muted,
        "ytick.color": muted,
        "xtick.labelcolor": muted,
        "ytick.labelcolor": muted,
        "xtick.major.size": 3,
        "ytick.major.size": 3,
        "xtick.major.width": 0.7,
        "ytick.major.width": 0.7,
        "svg.hashsalt": "glasshead",
    }

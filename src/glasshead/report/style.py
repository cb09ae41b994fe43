"""The style of everything that matplotlib draws."""

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import matplotlib
from matplotlib.colors import LinearSegmentedColormap

from glasshead.report.colours import SIGNED_SHADES, SIZE_SHADES

SHADES = LinearSegmentedColormap.from_list("shades", SIZE_SHADES)
SIGNED = LinearSegmentedColormap.from_list("signed", SIGNED_SHADES)
"""For numbers that have a size alone, and of those with a sign."""


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

"""Curves over the length of a text, named where they end."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from glasshead.report import Ink, spread_apart

LENGTH = "tokens of the text, d_s"


def whole_numbers(axes: Axes) -> None:
    """Both axes count."""
    axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    axes.yaxis.set_major_locator(MaxNLocator(6, integer=True))


def name_ends(
    axes: Axes, ink: Ink, across: float, ends: Sequence[tuple[float, str, str]], gap: float
) -> None:
    """Names of curves where they end: height, name, colour."""
    ends = sorted(ends)
    for (_, name, colour), height in zip(ends, spread_apart([end[0] for end in ends], gap), strict=True):
        axes.annotate(
            name, (across, height), xytext=(6, 0), textcoords="offset points", va="center",
            color=ink(colour), annotation_clip=False,
        )  # fmt: skip

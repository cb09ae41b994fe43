"""Curves over the length of a text: rank and left null space of T, and the rank that logits would need."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from glasshead.report.distances import apart
from glasshead.report.style import BLUE, LINE, MUTED, ORANGE, PAPER, STYLE

Numbers = NDArray[Any]


@dataclass(frozen=True)
class Curve:
    """One number of each text: ``values`` [n] at ``tokens`` [n] = d_s, and what generic values would give at
    all ``lengths``."""

    name: str
    tokens: Numbers
    values: Numbers
    lengths: Numbers
    expected: Numbers


def rank_figure(rank: Curve, null: Curve, size: int, said: str) -> Figure:
    """rank T (blue) and dim LN(T) (orange) over d_s: a dot per text, the mean as a line, theory dashed.

    ``size`` is d_v, up to which weights can be identifiable; ``said`` tells which head was read.

    Source: Bhardwaj et al. (2021), Figs. 2 and 6.
    """
    with matplotlib.rc_context(STYLE):
        figure, axes = framed(said)
        top = 1.15 * max(float(rank.values.max()), float(null.values.max()), 1.0)
        if size < rank.tokens.max():
            axes.axvline(size, color=LINE, linewidth=0.9, zorder=0)
            note(axes, (size, 1.0), f"d_v = {size}", (4, -2))
        for curve, colour in ((null, ORANGE), (rank, BLUE)):
            axes.plot(
                curve.lengths, curve.expected, color=MUTED, linewidth=1.0, linestyle=(0, (4, 3)), zorder=1
            )
            axes.scatter(curve.tokens, curve.values, s=9, color=colour, alpha=0.25, linewidths=0, zorder=2)
            axes.plot(*means(curve), color=colour, linewidth=1.6, zorder=3)
        ends = [
            (float(means(curve)[1][-1]), curve.name, colour)
            for curve, colour in ((null, ORANGE), (rank, BLUE))
        ]
        name_ends(axes, float(rank.tokens.max()), ends, 0.06 * top)
        axes.set_ylim(-0.03 * top, top)
        axes.set_ylabel("dimensions")
        axes.set_xlabel(f"{axes.get_xlabel()}     (dashed: theory, for values without any relation)")
    return figure


def logits_figure(tokens: Numbers, ranks: Sequence[Numbers], head_dim: int, said: str) -> Figure:
    """The least rank of logits that could have produced other weights, over d_s, beside d_k (orange).

    ``ranks`` holds for each of the ``tokens`` all ranks that were found: their mean is drawn as a line, their
    range as a band. Weights above the orange line cannot come from queries and keys of this size.

    Source: Bhardwaj et al. (2021), Fig. 5.
    """
    with matplotlib.rc_context(STYLE):
        figure, axes = framed(said)
        mean, least, most = (np.array([f(each) for each in ranks]) for f in (np.mean, np.min, np.max))
        top = max(float(most.max()), head_dim, 1.0)
        axes.fill_between(tokens, least, most, color=BLUE, alpha=0.2, linewidth=0)
        axes.plot(tokens, mean, color=BLUE, linewidth=1.6, marker="o", markersize=3)
        axes.plot(tokens, np.full(len(tokens), head_dim), color=ORANGE, linewidth=1.6)
        ends = [(float(head_dim), f"d_k = {head_dim}", ORANGE), (float(mean[-1]), "least rank", BLUE)]
        name_ends(axes, float(tokens[-1]), ends, 0.06 * top)
        axes.set_ylim(0.0, 1.05 * top)
        axes.set_ylabel("rank of the logits")
    return figure


def framed(said: str) -> tuple[Figure, Axes]:
    """Empty axes over the length of a text."""
    layout = ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.08)
    figure = Figure(figsize=(6.2, 3.7), facecolor=PAPER, layout=layout)
    axes = figure.subplots()
    axes.set_title(said, loc="left", pad=8)
    axes.set_xlabel("tokens of the text, d_s")
    axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    axes.yaxis.set_major_locator(MaxNLocator(6, integer=True))
    axes.grid(axis="y", color=LINE, linewidth=0.5)
    axes.set_axisbelow(True)
    return figure, axes


def note(axes: Axes, place: tuple[float, float], text: str, offset: tuple[float, float]) -> None:
    """Small print; ``place`` is the length of a text, and the height in parts of that of the axes."""
    axes.annotate(
        text, place, xycoords=axes.get_xaxis_transform(), xytext=offset, textcoords="offset points",
        fontsize=8, color=MUTED, va="top",
    )  # fmt: skip


def means(curve: Curve) -> tuple[Numbers, Numbers]:
    """The lengths that there are, and the mean at each."""
    tokens = np.unique(curve.tokens)
    return tokens, np.array([curve.values[curve.tokens == each].mean() for each in tokens])


def name_ends(axes: Axes, across: float, ends: Sequence[tuple[float, str, str]], gap: float) -> None:
    """Names of curves where they end: height, name, colour."""
    ends = sorted(ends)
    for (_, name, colour), height in zip(ends, apart([end[0] for end in ends], gap), strict=True):
        axes.annotate(
            name, (across, height), xytext=(6, 0), textcoords="offset points", va="center", color=colour,
            annotation_clip=False,
        )  # fmt: skip

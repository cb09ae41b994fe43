"""How fast depth makes all tokens alike, and the rank of log |A|."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from glasshead.escaping import visible
from glasshead.papers.report.length_axes import name_ends
from glasshead.papers.results import DepthCurve, LogRank, RankCollapse
from glasshead.report import (
    Figure,
    Ink,
    IntervalPoint,
    IntervalRow,
    LegendEntry,
    Panel,
    class_colour,
    count,
    interval_panel,
    number,
    plot,
)

PANEL_INCHES = (4.6, 3.2)
DEPTH = ("layers", "‖H − 1x̄ᵀ‖ / ‖H‖")
RANK_CAPTION = (
    "The logarithm of softmax is linear in the scores except for one number per row, so its rank is at "
    "most d_k + 1; singular values up to n·ε·σ₁ count as zero."
)
GAP = 0.055
"""The least distance of two names at the ends of curves."""


@plot("collapse", RankCollapse)
def collapse(value: RankCollapse) -> Figure:
    """The residual of the states over depth, one panel for each kind of weights, and the ranks of log |A|.

    Source: Dong, Cordonnier and Loukas (2021), Fig. 2; Huang, Yang and Wang (2024), Fig. 4.
    """
    titles = list(dict.fromkeys(curve.panel for curve in value.curves))
    panels = [depth_panel([curve for curve in value.curves if curve.panel == title]) for title in titles]
    if value.ranks:
        panels.append(rank_panel(value))
    units = " or ".join(dict.fromkeys(f"{curve.unit}s" for curve in value.curves))
    captions = [
        f"At 0 every token has the same vector; the band is a 95 % interval over {units}.",
        *([RANK_CAPTION] if value.ranks else []),
        *value.remarks,
    ]
    return Figure(
        f"What depth leaves of the differences between tokens: {visible(value.name)}"
        if value.name
        else "What depth leaves of the differences between tokens",
        panels,
        " ".join(map(visible, captions)),
        [
            LegendEntry("--muted", "mean"),
            LegendEntry("--muted", "95 % interval", "area"),
            *([LegendEntry("--muted", "d_k + 1", "diamond")] if value.ranks else []),
        ],
        source="after Dong et al. 2021 and Huang et al. 2024, Fig. 4",
        across=min(len(panels), 2),
    )


def depth_panel(curves: Sequence[DepthCurve]) -> Panel:
    """Curves over the same depth, named where they end."""
    depth = np.arange(len(curves[0].mean))
    known = np.concatenate([curve.high for curve in curves] + [curve.mean for curve in curves])
    top = 1.05 * max(1.0, float(np.nanmax(known, initial=1.0)))

    def draw(axes: Axes, ink: Ink) -> None:
        axes.set_ylim(-0.03, top)
        axes.axhline(0.0, color=ink("--line"), linewidth=0.8, zorder=0)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        for rank, curve in enumerate(curves):
            colour = ink(class_colour(rank))
            axes.fill_between(depth, curve.low, curve.high, color=colour, alpha=0.18, linewidth=0)
            axes.plot(depth, curve.mean, color=colour, linewidth=1.6, marker="o", markersize=3)
        ends = [
            (float(np.nan_to_num(curve.mean[-1])), ink.text(curve.name), class_colour(rank))
            for rank, curve in enumerate(curves)
        ]
        name_ends(axes, ink, float(depth[-1]), ends, GAP * top)

    words = "; ".join(f"{curve.name}: {', '.join(map(number, curve.mean))}" for curve in curves)
    n, unit = curves[0].n[0], curves[0].unit
    note = f"n = {count(n)} {unit}{'' if n == 1 else 's'}"
    return Panel(
        curves[0].panel, DEPTH, draw, visible(f"Residual over depth. {words}."), note=note, size=PANEL_INCHES
    )


def rank_panel(value: RankCollapse) -> Panel:
    """The rank of log |A| by mechanism, and d_k + 1 (diamonds), the most that softmax can have."""
    rows = [rank_row(one, value.head_dim) for one in value.ranks]
    title = f"Rank of log |A|: {value.rows} queries and keys, d_k = {value.head_dim}"
    return interval_panel(rows, title, "rank", (0.0, 1.05 * value.rows), width=PANEL_INCHES[0])


def rank_row(one: LogRank, head_dim: int) -> IntervalRow:
    """The mean rank of a mechanism and the range of its draws; nothing where a weight is 0."""
    if not one.ranks:
        return IntervalRow(visible(one.name), "has weights of 0: log is −∞", [])
    mean = float(np.mean(one.ranks))
    ends = (float(min(one.ranks)), float(max(one.ranks)))
    point = IntervalPoint(mean, ends if ends[0] < ends[1] else None, class_colour(0), True, (head_dim + 1.0,))
    return IntervalRow(visible(one.name), f"{number(mean, 1)} in {count(len(one.ranks))} draws", [point])

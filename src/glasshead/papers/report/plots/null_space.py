"""Rank and left null space of T over the length of a text."""

import numpy as np
from matplotlib.axes import Axes

from glasshead.papers.report.length_axes import LENGTH, name_ends, whole_numbers
from glasshead.papers.results import RankTable
from glasshead.report import Figure, Ink, LegendEntry, Panel, plain, plot

RANK_CURVES = {"null": ("dim LN(T)", "--c0"), "rank": ("rank T", "--c1")}


@plot("ranks", RankTable)
def null_space(table: RankTable) -> Figure:
    """The rank of T (purple) and the size of its left null space (orange) over the length of a text.

    Source: Bhardwaj et al. (2021), Figs. 2 and 6.
    """
    tokens, size = table.column("tokens"), table.value_dim
    lengths = np.unique(tokens)
    every = np.arange(tokens.min(), tokens.max() + 1)
    theory = {"rank": np.minimum(every, size), "null": np.maximum(every - size, 0)}
    values = {name: table.column(name) for name in RANK_CURVES}
    means = {
        name: np.array([column[tokens == length].mean() for length in lengths])
        for name, column in values.items()
    }
    top = 1.15 * max(*(float(column.max()) for column in values.values()), 1.0)

    def draw(axes: Axes, ink: Ink) -> None:
        whole_numbers(axes)
        if size < tokens.max():
            axes.axvline(size, color=ink("--line"), linewidth=0.9, zorder=0)
            axes.annotate(
                f"d_v = {size}", (size, 1.0), xycoords=axes.get_xaxis_transform(), xytext=(4, -2),
                textcoords="offset points", fontsize=8, color=ink("--muted"), va="top",
            )  # fmt: skip
        for name, (_, colour) in RANK_CURVES.items():
            axes.plot(
                every, theory[name], color=ink("--muted"), linewidth=1.0, linestyle=(0, (4, 3)), zorder=1
            )
            axes.scatter(tokens, values[name], s=9, color=ink(colour), alpha=0.25, linewidths=0, zorder=2)
            axes.plot(lengths, means[name], color=ink(colour), linewidth=1.6, zorder=3)
        ends = [(float(means[name][-1]), words, colour) for name, (words, colour) in RANK_CURVES.items()]
        name_ends(axes, ink, float(tokens.max()), ends, 0.06 * top)
        axes.set_ylim(-0.03 * top, top)

    ends = ", ".join(f"{words} {plain(means[name][-1])}" for name, (words, _) in RANK_CURVES.items())
    description = f"{table.description}. At {plain(lengths[-1])} tokens: {ends}, on average."
    panel = Panel(table.description, (LENGTH, "dimensions"), draw, description, size=(6.2, 3.5))
    legend = [
        LegendEntry("--ink", "a text", "dot"),
        LegendEntry("--ink", "mean"),
        LegendEntry("--muted", "theory, for generic values", "dashed"),
    ]
    title = "Rank and left null space of the values"
    return Figure(title, [panel], legend=legend, source="after Bhardwaj et al. 2021, Figs. 2 and 6")

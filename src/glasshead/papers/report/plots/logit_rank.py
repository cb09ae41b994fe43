"""The rank that logits would need, over the length of a text."""

import numpy as np
from matplotlib.axes import Axes

from glasshead.papers.report.length_axes import LENGTH, name_ends, whole_numbers
from glasshead.papers.results import LogitRankTable
from glasshead.report import Figure, Ink, Panel, number, plot


@plot("logits", LogitRankTable)
def logit_rank(table: LogitRankTable) -> Figure:
    """The least rank of logits that could have produced other weights, over d_s, beside d_k (orange).

    The mean of all ranks of a length is a line, their range a band. Weights above the orange line cannot come
    from queries and keys of this size.

    Source: Bhardwaj et al. (2021), Fig. 5.
    """
    ranks = table.by_length()
    tokens = np.array(list(ranks))
    mean, least, most = (
        np.array([f(values) for values in ranks.values()]) for f in (np.mean, np.min, np.max)
    )
    top = max(float(most.max()), table.head_dim, 1.0)

    def draw(axes: Axes, ink: Ink) -> None:
        whole_numbers(axes)
        axes.fill_between(tokens, least, most, color=ink("--c1"), alpha=0.2, linewidth=0)
        axes.plot(tokens, mean, color=ink("--c1"), linewidth=1.6, marker="o", markersize=3)
        axes.plot(tokens, np.full(len(tokens), table.head_dim), color=ink("--c0"), linewidth=1.6)
        ends = [
            (float(table.head_dim), f"d_k = {table.head_dim}", "--c0"),
            (float(mean[-1]), "least rank", "--c1"),
        ]
        name_ends(axes, ink, float(tokens[-1]), ends, 0.06 * top)
        axes.set_ylim(0.0, 1.05 * top)

    description = f"{table.description}: {number(mean[-1])} at {tokens[-1]} tokens, d_k = {table.head_dim}."
    panel = Panel(table.description, (LENGTH, "rank of the logits"), draw, description, size=(6.2, 3.5))
    caption = "The line is the mean over texts and draws, the band their range."
    source = "after Bhardwaj et al. 2021, Fig. 5"
    return Figure("The rank of the logits of other weights", [panel], caption, source=source)

"""Box plots of the dot products of embeddings at one step."""

from matplotlib.axes import Axes

from glasshead.papers.report.plots.embedding_products import (
    AXIS,
    SPACES,
    PairColumns,
    pair_style,
    pairs_by_space,
    quartiles,
)
from glasshead.papers.report.term_labels import SUN_AND_LU
from glasshead.papers.results import History
from glasshead.report import Figure, Ink, Panel, PlotOptions, number, plot


@plot("boxes", History, "embeddings", order=2, at_step=True, drawn_by="plot dynamics --what boxes")
def boxes(history: History, options: PlotOptions) -> Figure:
    """Box plots of the dot products at the snapshot nearest to a step, else the last."""
    spaces = pairs_by_space(history)
    step = history.nearest(options.step)
    panels = [box_panel(history, space, pairs, step) for space, pairs in spaces.items()]
    when = f"at step {step:,}" if len(history.steps) > 1 else "of the trained model"
    caption = "A box holds the middle half of all pairs of tokens, the mark in it is their median; the thin "
    caption += "line reaches from the smallest to the largest."
    return Figure(f"Dot products of tokens {when}", panels, caption, source=f"{SUN_AND_LU}, Figs. 2, 8, 11")


def box_panel(history: History, space: str, pairs: PairColumns, step: int) -> Panel:
    """One box for each pair, the first on top."""
    numbers = dict(reversed(quartiles(pairs, step).items()))

    def draw(axes: Axes, ink: Ink) -> None:
        axes.axvline(0.0, color=ink("--line"), linewidth=0.8, zorder=0)
        axes.set_ylim(-0.6, len(numbers) - 0.4)
        for height, (pair, (low, lower, median, upper, high)) in enumerate(numbers.items()):
            colour = ink(pair_style(history, pair)[0])
            axes.hlines(height, low, high, color=colour, linewidth=0.9)
            axes.barh(height, upper - lower, 0.52, left=lower, color=colour, alpha=0.55, linewidth=0)
            axes.vlines(median, height - 0.3, height + 0.3, color=ink("--ink"), linewidth=1.5)

    medians = ", ".join(f"{pair} {number(values[2])}" for pair, values in numbers.items())
    description = f"Box plots of dot products, medians: {medians}."
    return Panel(
        SPACES.get(space, space), (AXIS.get(space, space), ""), draw, description, rows=list(numbers)
    )

"""Dot products of the embeddings of two tokens over a training, by the groups that they are of."""

import numpy as np
from matplotlib.axes import Axes

from glasshead.papers.report.curves import (
    STEPS,
    caption_with_best_step,
    mark_best_step,
    require_recorded,
    require_snapshots,
)
from glasshead.papers.report.term_labels import SUN_AND_LU
from glasshead.papers.results import Columns, History
from glasshead.report import (
    DASHES,
    LAST,
    Figure,
    Ink,
    LegendEntry,
    Panel,
    PlotOptions,
    group_colours,
    number,
    plot,
)

SPACES = {"e": "embeddings, Ω = eᵢᵀeₖ", "h": "after the map, hᵢᵀhₖ"}
AXIS = {"e": "Ω", "h": "hᵢᵀhₖ"}
OPPOSITE = "--ink"
"""Pairs of different classes: no class has this colour."""

PairColumns = dict[str, Columns]


@plot("products", History, "embeddings", order=1, drawn_by="plot dynamics --what products")
def products(history: History, options: PlotOptions) -> Figure:
    """Median and quartiles of the dot products of all pairs of groups over the steps."""
    require_snapshots(history)
    spaces = pairs_by_space(history)
    panels = [products_over_steps(history, space, pairs) for space, pairs in spaces.items()]
    caption = (
        "A line is the median of all pairs of tokens, the band holds the middle half of them; for large "
        "groups a random part is paired."
    )
    legend = pair_legend(history, next(iter(spaces.values())))
    source = f"{SUN_AND_LU}, Figs. 1, 6, 8"
    return Figure("Dot products of tokens", panels, caption_with_best_step(history, caption), legend, source)


def pairs_by_space(history: History) -> dict[str, PairColumns]:
    """e and h → pair of groups → its rows."""
    require_recorded(history, len(history.products.get("step", [])), "dot product")
    spaces: dict[str, PairColumns] = {}
    for space in dict.fromkeys(history.products["of"].tolist()):
        chosen = history.products["of"] == space
        pairs = dict.fromkeys(history.products["pair"][chosen].tolist())
        spaces[space] = {
            pair: {
                name: column[chosen & (history.products["pair"] == pair)]
                for name, column in history.products.items()
            }
            for pair in pairs
        }
    return spaces


def pair_style(history: History, pair: str) -> tuple[str, str]:
    """Colour and kind of line: a group with itself in its colour, with neutral tokens dashed, different
    classes in one colour of their own."""
    first, second = next((a, b) for a in history.groups for b in history.groups if f"{a} × {b}" == pair)
    colours = group_colours(history.groups)
    if first == second:
        return colours[first], "line"
    if LAST in (first, second):
        return colours[first if second == LAST else second], "dashed"
    return OPPOSITE, "line"


def pair_legend(history: History, pairs: PairColumns) -> list[LegendEntry]:
    """A legend of all pairs; pairs of different classes are one entry where there are many."""
    entries: dict[LegendEntry, None] = {}
    for pair in pairs:
        colour, kind = pair_style(history, pair)
        words = pair if colour != OPPOSITE or len(history.groups) <= 3 else "different classes"
        entries[LegendEntry(colour, words, kind)] = None
    return list(entries)


def products_over_steps(history: History, space: str, pairs: PairColumns) -> Panel:
    """The curves of one space."""

    def draw(axes: Axes, ink: Ink) -> None:
        axes.axhline(0.0, color=ink("--line"), linewidth=0.8, zorder=0)
        for pair, columns in pairs.items():
            name, kind = pair_style(history, pair)
            colour, step = ink(name), columns["step"]
            axes.fill_between(step, columns["lower"], columns["upper"], color=colour, alpha=0.1, linewidth=0)
            axes.plot(step, columns["median"], color=colour, linewidth=1.5, linestyle=DASHES[kind])
        mark_best_step(axes, history, ink)

    ends = ", ".join(f"{pair} to {number(columns['median'][-1])}" for pair, columns in pairs.items())
    description = f"Medians of dot products over {history.steps[-1]:,} steps: {ends}."
    return Panel(SPACES.get(space, space), (STEPS, AXIS.get(space, space)), draw, description, x="steps")


def quartiles(pairs: PairColumns, step: int) -> dict[str, tuple[float, ...]]:
    """Minimum, quartiles and maximum of every pair at a step."""
    names = ("low", "lower", "median", "upper", "high")
    return {
        pair: tuple(np.asarray(columns[name])[columns["step"] == step].item() for name in names)
        for pair, columns in pairs.items()
    }

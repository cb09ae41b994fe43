"""How fast leads and labels move the mean dot product of every two groups."""

import numpy as np
from matplotlib.axes import Axes

from glasshead.papers.report.curves import (
    STEPS,
    caption_with_best_step,
    mark_best_step,
    require_recorded,
    require_snapshots,
)
from glasshead.papers.report.plots.embedding_products import PairColumns, pair_legend, pair_style
from glasshead.papers.report.term_labels import SUN_AND_LU, cause_of
from glasshead.papers.results import PRODUCT_RATE, Columns, History
from glasshead.report import DASHES, Figure, Ink, Panel, PlotOptions, number, plot, power_of_ten


@plot("product-rates", History, "embeddings", order=3, drawn_by="plot dynamics --what product-rates")
def product_rates(history: History, options: PlotOptions) -> Figure:
    """How fast leads (A) and labels (B) move the mean dot product of every two groups, on one scale.

    Raises:
        InputError: if it was not recorded, or only once.
    """
    require_snapshots(history)
    rates = {
        name.removeprefix(PRODUCT_RATE): pair_curves(history, name)
        for name in history.quantities()
        if name.startswith(PRODUCT_RATE)
    }
    require_recorded(history, rates, "rate of dot products")
    pairs = next(iter(rates.values()))
    panels = {f"{name}: {cause_of(name).words}": curves for name, curves in rates.items()}
    panels |= {
        f"{' + '.join(rates)} = dΩ/dτ": {p: summed_rates([c[p] for c in rates.values()]) for p in pairs}
    }
    values = [columns["mean"] for curves in panels.values() for columns in curves.values()]
    caption = (
        "What each part adds to the mean dot product of the embeddings of a pair in a unit of time τ of "
        "gradient flow (steps times learning rate); the last panel is their sum. The larger λ, "
        "the more of it is B."
    )
    return Figure(
        "What moves dot products of tokens",
        [rate_panel(history, title, curves, values) for title, curves in panels.items()],
        caption_with_best_step(history, caption),
        pair_legend(history, pairs),
        f"{SUN_AND_LU}, eqs. 43–46",
    )


def pair_curves(history: History, quantity: str) -> PairColumns:
    """Pair of groups → the curve of a part of dΩ/dτ."""
    chosen = history.curves["quantity"] == quantity
    pairs = dict.fromkeys(history.curves["group"][chosen].tolist())
    return {pair: history.curve(quantity, pair) for pair in pairs}


def summed_rates(curves: list[Columns]) -> Columns:
    """All parts of one pair."""
    return {
        "step": curves[0]["step"],
        "mean": np.sum([columns["mean"] for columns in curves], axis=0),
    }


def rate_panel(history: History, title: str, pairs: PairColumns, values: list[np.ndarray]) -> Panel:
    """One part of all pairs; all panels share the scale of all ``values``."""
    size, power = power_of_ten(values)
    low = min(0.0, *(array.min() for array in values))
    high = max(0.0, *(array.max() for array in values))
    air = 0.06 * (high - low) or 1.0

    def draw(axes: Axes, ink: Ink) -> None:
        axes.set_ylim((low - air) / size, (high + air) / size)
        axes.axhline(0.0, color=ink("--line"), linewidth=0.8, zorder=0)
        for pair, columns in pairs.items():
            colour, kind = pair_style(history, pair)
            rate = columns["mean"] / size
            axes.plot(columns["step"], rate, color=ink(colour), linewidth=1.5, linestyle=DASHES[kind])
        mark_best_step(axes, history, ink)

    ends = ", ".join(f"{pair} {number(columns['mean'][-1])}" for pair, columns in pairs.items())
    description = f"Rates of dot products, {title}, at the end: {ends}."
    return Panel(title, (STEPS, f"dΩ/dτ{power}"), draw, description, x="steps")

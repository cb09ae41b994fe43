"""The maps of all heads before one text: a row for each layer, a column for each head."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import PowerNorm, SymLogNorm

from glasshead.errors import InputError
from glasshead.escaping import visible
from glasshead.nouns import nouns_of
from glasshead.report.figure import Figure, Ink, Panel
from glasshead.report.plot_registry import plot
from glasshead.report.style import SHADES, SIGNED
from glasshead.results import HeadReport, HeadSummary, HeadText

SIDE = 1.0
"""Width of a small map in inches."""
LETTERS = 16
TEXT_LETTERS = 80


@plot("head-grid", HeadReport, drawn_by="HeadReport.save")
def head_grid(report: HeadReport) -> Figure:
    """Small maps of all heads before the first text, each on a scale of its own, with what each head does.

    Source: Clark et al. (2019), Fig. 1 and 2.
    """
    if not report.texts:
        raise InputError("the report has no text whose maps could be drawn: save it as .html or .json")
    text = report.texts[0]
    drawn = [head for head in report.heads if head.layer in text.weights]
    across = max(sum(head.layer == layer for head in drawn) for layer in {head.layer for head in drawn})
    noun = nouns_of(report.facts).text.capitalize()
    shown = visible(text.text) if len(text.text) <= TEXT_LETTERS else f"{visible(text.text[:TEXT_LETTERS])}…"
    return Figure(
        f"What heads do: {visible(str(report.facts.get('name', 'model')))}",
        [small_map(head, text) for head in drawn],
        f"{visible(report.conclusion[0])} A row is a layer, a column a head; in each map a row is a query, a "
        f"column a key, and the darkest cell its own largest weight. {noun}: {shown}",
        across=across,
    )


def small_map(head: HeadSummary, text: HeadText) -> Panel:
    """One head before the text."""
    weights = text.weights[head.layer][head.head]
    peak = float(np.nanmax(np.abs(weights))) or 1.0
    signed = bool((weights < 0).any())
    norm = SymLogNorm(0.05 * peak, vmin=-peak, vmax=peak) if signed else PowerNorm(0.5, 0.0, peak)

    def draw(axes: Axes, ink: Ink) -> None:
        axes.imshow(
            weights, cmap=SIGNED if signed else SHADES, norm=norm, interpolation="nearest", aspect="auto"
        )
        axes.set_xticks([])
        axes.set_yticks([])
        for spine in axes.spines.values():
            spine.set_visible(True)
            spine.set_color(ink("--line"))
        axes.set_xlabel(ink.text(head.pattern[:LETTERS]), fontsize=7)

    does = head.pattern or "no pattern shown"
    description = f"Layer {head.layer}, head {head.head}: {does}; the largest weight is {peak:.2f}."
    return Panel(head.name, ("", ""), draw, description, x="own", grid=False, size=(SIDE, SIDE + 0.28))

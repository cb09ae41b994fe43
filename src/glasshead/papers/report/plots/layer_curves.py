"""Attention layer by layer over a training: entropy, distance from rank one, agreement with gradients."""

from glasshead.errors import InputError
from glasshead.nouns import nouns_of
from glasshead.papers.report.curves import (
    Curve,
    band_limits,
    caption_with_best_step,
    curve_legend,
    curve_panel,
    require_recorded,
    require_snapshots,
)
from glasshead.papers.report.plots.training_curves import LEAST_ENTROPY
from glasshead.papers.report.term_labels import groups_of, single_row_note
from glasshead.papers.results import History
from glasshead.report import Figure, LegendEntry, Panel, PlotOptions, class_colour, plot
from glasshead.spelling import spell

LAYER_QUANTITIES = {
    "entropy": (
        "Entropy of attention",
        "entropy",
        "relative to the maximum: 0 for one token, 1 for uniform weights",
    ),
    "residual": ("Distance from rank one", "distance from rank one", "0: every token gets the same output"),
    "agreement": ("Agreement with gradients", "Kendall τ-b", "of attention and gradient × input"),
}


@plot("layers", History, "layers", order=1, drawn_by="plot dynamics --what layers")
def layers(history: History, options: PlotOptions) -> Figure:
    """Entropy and distance from rank one of every layer, and agreement with gradients."""
    require_snapshots(history)
    if history.facts["kind"] != "layers":
        raise InputError(f"only models with several layers record them: choose another {spell('what')}")
    panels: list[Panel] = []
    legend: list[LegendEntry] = []
    for quantity, (title, axis, _) in LAYER_QUANTITIES.items():
        curves = [
            Curve(history.curve(quantity, group), "--ink" if group == "" else class_colour(rank), group)
            for rank, group in enumerate(groups_of(history, quantity))
        ]
        if curves:
            limits = band_limits(curves, LEAST_ENTROPY if quantity == "entropy" else 0.0)
            panels.append(curve_panel(history, title, curves, axis, title, limits))
            legend = legend or [entry for entry in curve_legend(curves) if entry.words]
    require_recorded(history, panels, "entropy")
    titles = {panel.title for panel in panels}
    meanings = "; ".join(
        f"{axis} – {meaning}" for title, axis, meaning in LAYER_QUANTITIES.values() if title in titles
    )
    means = f"Means over heads and {nouns_of(history.facts).texts}, with one standard deviation: {meanings}."
    caption = f"{means} {single_row_note(history)}"
    return Figure(
        "Attention layer by layer", panels, caption_with_best_step(history, caption.strip()), legend
    )

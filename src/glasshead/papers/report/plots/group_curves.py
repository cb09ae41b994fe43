"""Score, polarity and weight of the groups of tokens over the steps of a training."""

from glasshead.papers.report.curves import (
    Curve,
    caption_with_best_step,
    curve_legend,
    curve_panel,
    require_recorded,
    require_snapshots,
)
from glasshead.papers.report.term_labels import SUN_AND_LU
from glasshead.papers.results import History
from glasshead.report import Figure, PlotOptions, group_colours, plot

BAND = "Mean over the tokens of a group; the band is one standard deviation of its tokens to either side."
AT_THE_START = "Before training it is about 1 / length of a text, so groups can differ from the start."
"""Of a weight."""
GROUP_AXIS = {"polarity": "polarity s", "score": "attention score a", "weight": "attention weight α"}


@plot("polarity", History, "groups", order=1, drawn_by="plot dynamics --what polarity")
def polarities(history: History, options: PlotOptions) -> Figure:
    """Polarity s, what a token adds to the output at weight 1, by group."""
    return group_figure(history, "polarity", "Polarity of tokens", f"{SUN_AND_LU}, Figs. 3, 9, 10")


@plot("scores", History, "groups", order=2, drawn_by="plot dynamics --what scores")
def scores(history: History, options: PlotOptions) -> Figure:
    """Attention score a of the tokens, by group."""
    return group_figure(
        history, "score", "Attention scores of tokens", f"{SUN_AND_LU}, Figs. 4, 5, 9, 10, 12"
    )


@plot("weights", History, "groups", order=3, drawn_by="plot dynamics --what weights")
def weights(history: History, options: PlotOptions) -> Figure:
    """Attention weight α that the tokens get where they occur, by group."""
    return group_figure(history, "weight", "Attention weights of tokens", "", AT_THE_START)


def group_figure(history: History, quantity: str, title: str, source: str, note: str = "") -> Figure:
    """One quantity of every group of tokens over the steps.

    Raises:
        InputError: if it was not recorded, or only once.
    """
    require_snapshots(history)
    colours = group_colours(history.groups)
    curves = [
        Curve(history.curve(quantity, group), colours[group], group)
        for group in history.groups
        if len(history.curve(quantity, group)["step"])
    ]
    require_recorded(history, curves, quantity)
    panel = curve_panel(history, "", curves, GROUP_AXIS[quantity], title)
    caption = caption_with_best_step(history, f"{BAND} {note}".strip())
    return Figure(title, [panel], caption, curve_legend(curves), source)

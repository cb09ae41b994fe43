"""Score, polarity and weight of chosen tokens over the steps of a training."""

from collections.abc import Sequence

import numpy as np

from glasshead.errors import InputError
from glasshead.papers.report.curves import Curve, caption_with_best_step, curve_panel, require_snapshots
from glasshead.papers.report.plots.group_curves import GROUP_AXIS
from glasshead.papers.results import History
from glasshead.report import Figure, LegendEntry, PlotOptions, group_colours, near_zero, plot

TOKEN_COLOURS = ("--c3", "--c5", "--c2", "--c4", "--c6", "--c0", "--c1", "--c7")
MAX_TOKENS = len(TOKEN_COLOURS)


def unique_tokens(tokens: Sequence[str], option: str) -> tuple[str, ...]:
    """Each token once; ``option`` is the name of the option for messages.

    Raises:
        InputError: if there are too many to distinguish.
    """
    unique = tuple(dict.fromkeys(tokens))
    if len(unique) > MAX_TOKENS:
        raise InputError(f"{option} takes at most {MAX_TOKENS} tokens, not {len(unique)}")
    return unique


@plot("tokens", History, "tokens", order=1, tokens="required", drawn_by="plot dynamics --what tokens")
def tokens(history: History, options: PlotOptions) -> Figure:
    """Score, polarity and weight of chosen tokens, each beside the bands of the groups.

    Raises:
        InputError: if the training was not recorded, none was chosen, or too many to be told apart.
    """
    if not options.tokens:
        raise InputError("the plot of tokens needs chosen tokens: name one")
    require_snapshots(history)
    coloured = dict(zip(unique_tokens(options.tokens, "the plot of tokens"), TOKEN_COLOURS, strict=False))
    groups = group_colours(history.groups)
    panels = []
    for quantity, axis in GROUP_AXIS.items():
        curves = [token_curve(history, quantity, token, colour) for token, colour in coloured.items()]
        bands = [Curve(history.curve(quantity, group), colour, group) for group, colour in groups.items()]
        ends = [
            band.columns["mean"] + sign * np.nan_to_num(band.columns["std"])
            for band in bands
            for sign in (-1, 1)
        ]
        limits = near_zero(*ends, *(curve.columns["mean"] for curve in curves))
        panels.append(curve_panel(history, "", curves, axis, axis, limits, bands))
    legend = [LegendEntry(colour, token) for token, colour in coloured.items()]
    legend += [LegendEntry(colour, group, "area") for group, colour in groups.items()]
    caption = "Lines are the tokens, bands are their groups: mean ± one standard deviation."
    return Figure("Chosen tokens over time", panels, caption_with_best_step(history, caption), legend)


def token_curve(history: History, quantity: str, token: str, colour: str) -> Curve:
    """One quantity of one token."""
    rows = history.token(token)
    nothing = np.full(len(rows["step"]), np.nan)
    return Curve({"step": rows["step"], "mean": rows[quantity], "std": nothing}, colour, token)

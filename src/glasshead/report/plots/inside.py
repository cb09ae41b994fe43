"""What each layer would predict, and what each head and MLP adds to a logit."""

from dataclasses import replace

import numpy as np
from matplotlib.colors import Normalize

from glasshead.escaping import one_line, visible
from glasshead.report.documents.inside import SCALE, lens_headline, lens_meaning, logit_headline
from glasshead.report.figure import ColourBar, Figure
from glasshead.report.marks.heat_grid import HeatGrid, heat_panel, short_number
from glasshead.report.plot_registry import plot
from glasshead.report.style import SHADES, SIGNED
from glasshead.results import LayerLens, LogitAttribution

PLACES = 16
"""So many of the last places of a text are drawn."""


@plot("lens", LayerLens, drawn_by="lens")
def lens_figure(lens: LayerLens) -> Figure:
    """The most probable answer of every layer at the last places of a text, the last layer on top.

    Source: nostalgebraist (2020).
    """
    layers = [*reversed(range(len(lens.layers)))]
    places = range(max(0, len(lens.places) - PLACES), len(lens.places))
    tops = [[lens.top(layer, place) for place in places] for layer in layers]
    grid = HeatGrid(
        np.array([[chance for _, chance in row] for row in tops]),
        [lens.layers[layer] for layer in layers],
        [visible(one_line(lens.places[place])) for place in places],
        [[visible(one_line(word)) for word, _ in row] for row in tops],
    )
    said = f"{visible(lens_headline(lens))}."
    norm = Normalize(0.0, 1.0)
    left_out = len(lens.places) - len(places)
    more = f" {left_out:,} earlier places are left out here; a page (.html) has them." if left_out else ""
    return Figure(
        f"What each layer would predict: {visible(lens.model)}",
        [
            heat_panel(
                grid,
                "most probable answer",
                ("behind" if len(lens.places) > 1 else "", ""),
                norm,
                SHADES,
                said,
            )
        ],
        f"{said} {lens_meaning(lens)}{more}",
        colour_bars=[ColourBar("its probability", [0], norm, SHADES, height=0.12)],
    )


@plot("logit-parts", LogitAttribution, drawn_by="lens")
def logit_figure(found: LogitAttribution) -> Figure:
    """What each head and each MLP adds to a logit directly, the last layer on top.

    Source: Elhage et al. (2021).
    """
    sums = [(one.layer, one.effects.sum(axis=1)) for one in found.heads]
    most = max((len(own) for _, own in sums), default=0)
    rows: list[tuple[str, np.ndarray]] = []
    for layer, mlp in enumerate(found.mlps):
        own = [effects for number_of, effects in sums if number_of == layer] or [np.zeros(0)]
        for place, effects in enumerate(own):
            row = np.full(most + 1, np.nan)
            row[: len(effects)] = effects
            if place == len(own) - 1:
                row[-1] = mlp
            rows.append((f"layer {layer}" + (f", attention {place + 1}" if len(own) > 1 else ""), row))
    rows.reverse()
    values = np.stack([row for _, row in rows])
    peak = float(np.nanmax(np.abs(values), initial=0.0)) or 1.0
    norm = Normalize(-peak, peak)
    columns = [*(f"head {head}" for head in range(most)), "MLP"]
    words = [["" if np.isnan(one) else short_number(float(one), plus=True) for one in row] for row in values]
    said = f"{visible(logit_headline(found))}."
    caveat = "" if found.caveat is None else f" {found.caveat}"
    grid = HeatGrid(values, [title for title, _ in rows], columns, words)
    return Figure(
        f"What adds to the {visible(found.question)}: {visible(found.model)}",
        [heat_panel(grid, "added to the logit", ("", ""), norm, SIGNED, said)],
        f"{said}{caveat} {SCALE}",
        colour_bars=[ColourBar("logits", [0], norm, SIGNED, height=0.12)],
    )


def inside_figure(lens: LayerLens, found: LogitAttribution) -> Figure:
    """Both plots, one below the other."""
    above, below = logit_figure(found), lens_figure(lens)
    bars = [*above.colour_bars, *(replace(bar, panels=[1]) for bar in below.colour_bars)]
    return Figure(
        f"Inside {visible(lens.model)}: {visible(found.question)}",
        [*above.panels, *below.panels],
        f"{above.caption} {below.caption}",
        across=1,
        colour_bars=bars,
    )

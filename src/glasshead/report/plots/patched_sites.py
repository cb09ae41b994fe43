"""What the exchange of each site changes: layers by heads, or by tokens."""

import numpy as np
from matplotlib.colors import Normalize

from glasshead.escaping import one_line, visible
from glasshead.report.documents.patching import what_was_done
from glasshead.report.figure import ColourBar, Figure
from glasshead.report.marks.heat_grid import HeatGrid, heat_panel, short_number
from glasshead.report.plot_registry import plot
from glasshead.report.style import SIGNED
from glasshead.results import Patching


@plot("patched-sites", Patching, drawn_by="patch")
def patched_sites(patching: Patching) -> Figure:
    """The mean change of every site in shades, with a frame around those that are shown to matter.

    Source: Meng et al. (2022), Fig. 1.
    """
    order = list(range(len(patching.columns)))
    if patching.facts["sites"] != "heads":
        order.reverse()  # as texts are read; columns count from the last token
    values = np.full((patching.layers, len(order)), np.nan)
    words = [["" for _ in order] for _ in range(patching.layers)]
    framed = []
    for site in patching.sites:
        place = site.layer, order.index(site.column)
        values[place] = site.change
        words[site.layer][place[1]] = short_number(site.change)
        if site.is_shown:
            framed.append(place)
    peak = float(np.nanmax(np.abs(values), initial=0.0)) or 1.0
    norm = Normalize(-peak, peak)
    names = [visible(one_line(patching.columns[column])) for column in order]
    across = "head" if patching.facts["sites"] == "heads" else "token, counted from the last"
    grid = HeatGrid(values, [f"layer {layer}" for layer in range(patching.layers)], names, words, framed)
    said = " ".join(map(visible, patching.conclusion))
    panel = heat_panel(grid, "", (across, ""), norm, SIGNED, said)
    unit = patching.facts["unit"]
    return Figure(
        f"What carries the answer: {visible(str(patching.facts['name']))}",
        [panel],
        f"{said} {what_was_done(patching)}",
        colour_bars=[ColourBar(f"change of the {unit}", [0], norm, SIGNED, height=0.12)],
    )

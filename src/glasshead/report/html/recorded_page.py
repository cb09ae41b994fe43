"""The page of recorded attention: all maps."""

from dataclasses import replace

from glasshead.report.documents.recorded import map_scale_words
from glasshead.report.html.environment import environment
from glasshead.report.html.figure_page import render
from glasshead.report.plots.head_maps import head_maps
from glasshead.results import RecordedAttention

MAPS = 400
"""Maps of a page."""


def recorded_page(recorded: RecordedAttention) -> str:
    """A figure for every layer before every text."""
    figures, drawn, left_out = [], 0, 0
    for rank, text in recorded.drawings():
        heads = len(recorded.layers[rank].heads)
        if drawn and drawn + heads > MAPS:
            left_out += heads
            continue
        drawn += heads
        maps = recorded.head_maps(rank, text)
        figure = replace(head_maps(maps), title=maps.layer, caption=f"{map_scale_words(maps).capitalize()}.")
        figures.append(render(figure, f"maps-{rank}-{text}"))
    remark = f"{left_out:,} of {drawn + left_out:,} maps are left out: record fewer layers, heads or texts"
    lead = "Attention weights of every recorded layer and head, text by text."
    template = environment().get_template("recorded.html.j2")
    return template.render(figures=figures, lead=lead, remark=remark if left_out else "")

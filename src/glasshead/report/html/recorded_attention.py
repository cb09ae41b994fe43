"""Recorded attention: a table of its layers with a first picture for a notebook, and a page of all maps."""

from dataclasses import replace

from markupsafe import Markup

from glasshead.report.html.environment import environment
from glasshead.report.html.figure_page import figure_fragment, render
from glasshead.report.html.notebook_table import WIDE, notebook_table, quiet_line
from glasshead.report.number_format import number
from glasshead.report.plots.head_maps import head_maps
from glasshead.results import HeadMaps, RecordedAttention, RecordedLayer

HEAD = ("layer", "module", "mechanism", "texts", "heads", "queries × keys")
LAYERS, FIRST = 50, 4
"""Layers of a notebook's table, and heads of its picture."""
MAPS = 400
"""Maps of a page."""


def recorded_fragment(recorded: RecordedAttention) -> str:
    """The layers, and the first heads of the first of them before the first text."""
    if not recorded.layers:
        return str(quiet_line("nothing is recorded yet: call the model inside the block"))
    rows = [layer_row(layer, recorded.passes > 1) for layer in recorded.layers[:LAYERS]]
    parts = [notebook_table(HEAD, rows, words=(0, 1, 2))]
    if len(recorded.layers) > LAYERS:
        parts.append(quiet_line(f"{len(recorded.layers) - LAYERS} more layers are recorded"))
    maps = recorded.head_maps(0, 0)
    shown = replace(maps, maps=maps.maps[:FIRST])
    parts += [quiet_line(f"{maps.layer}: {scale_words(shown)}"), Markup(figure_fragment(head_maps(shown)))]
    parts.append(quiet_line('all weights: to_pandas(), save("trace.html")'))
    return str(Markup('<div style="{}">{}</div>').format(WIDE, Markup("").join(parts)))


def layer_row(layer: RecordedLayer, several: bool) -> tuple[str, ...]:
    """One layer in numbers."""
    return (
        f"pass {layer.forward_pass + 1}, {layer.layer}" if several else str(layer.layer),
        layer.name,
        layer.mechanism,
        str(layer.texts),
        str(len(layer.heads)),
        f"{len(layer.rows)} × {layer.keys}",
    )


def scale_words(maps: HeadMaps) -> str:
    """What the darkest cell is, and what is left out."""
    values = [abs(float(value)) for one in maps.maps for value in one.weights.ravel() if value == value]
    sides = "raw signs, red above zero, blue below" if maps.signed else "the darker, the larger"
    words = f"a row is a query, a column a key; {sides}, up to {number(max(values, default=0.0))}"
    return f"{words}; {maps.remark}" if maps.remark else words


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
        figure = replace(head_maps(maps), title=maps.layer, caption=f"{scale_words(maps).capitalize()}.")
        figures.append(render(figure, f"maps-{rank}-{text}"))
    remark = f"{left_out:,} of {drawn + left_out:,} maps are left out: record fewer layers, heads or texts"
    lead = "Attention weights of every recorded layer and head, text by text."
    template = environment().get_template("recorded.html.j2")
    return template.render(figures=figures, lead=lead, remark=remark if left_out else "")

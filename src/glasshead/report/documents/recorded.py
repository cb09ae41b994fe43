"""Recorded attention: a row for each layer, and the first maps."""

from dataclasses import replace

from glasshead.report.document import Document, Drawing, Sentence, columns, table
from glasshead.report.number_format import number
from glasshead.report.plots.head_maps import head_maps
from glasshead.results import HeadMaps, RecordedAttention, RecordedLayer

LAYERS, FIRST = 50, 4
"""Layers of the table, and heads of the picture."""


def recorded_document(recorded: RecordedAttention) -> Document:
    """The layers, and the first heads of the first of them before the first text."""
    if not recorded.layers:
        return [Sentence("nothing has been recorded yet: call the model inside the block", "quiet")]
    rows = [layer_row(layer, recorded.passes > 1) for layer in recorded.layers[:LAYERS]]
    left = len(recorded.layers) - LAYERS
    maps = recorded.head_maps(0, 0)
    shown = replace(maps, maps=maps.maps[:FIRST])
    return [
        table(
            columns(("layer", "module", "mechanism"), ("texts", "heads", "queries × keys")),
            rows,
            caption=f"{left} more layers are recorded" if left > 0 else "",
        ),
        Sentence(f"{maps.layer}: {map_scale_words(shown)}", "quiet"),
        Drawing(head_maps(shown)),
        Sentence('all weights: to_pandas(), save("trace.html")', "quiet"),
    ]


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


def map_scale_words(maps: HeadMaps) -> str:
    """What the darkest cell is, and what is left out."""
    values = [abs(float(value)) for one in maps.maps for value in one.weights.ravel() if value == value]
    sides = "raw signs, red above zero, blue below" if maps.signed else "the darker, the larger"
    words = f"a row is a query, a column a key; {sides}, up to {number(max(values, default=0.0))}"
    return f"{words}; {maps.remark}" if maps.remark else words

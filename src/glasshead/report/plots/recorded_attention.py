"""Recorded attention in one picture."""

from dataclasses import replace

from glasshead.errors import InputError
from glasshead.report.figure import Figure
from glasshead.report.plot_registry import plot
from glasshead.report.plots.head_maps import head_maps
from glasshead.results import RecordedAttention

MAPS = 16


@plot("recorded-attention", RecordedAttention, drawn_by="Trace.save")
def recorded_attention(recorded: RecordedAttention) -> Figure:
    """Heat maps of the heads of the first recorded layer before the first text."""
    if not recorded.layers:
        raise InputError("nothing has been recorded yet: call the model inside the block first")
    maps = recorded.head_maps(0, 0)
    whole = sum(layer.texts * len(layer.heads) for layer in recorded.layers)
    shown = replace(maps, maps=maps.maps[:MAPS])
    words = (
        [f"{whole - len(shown.maps):,} of {whole:,} maps are left out here; a page (.html) has more."]
        if whole > len(shown.maps)
        else []
    )
    words += [f"{maps.remark[:1].upper()}{maps.remark[1:]}."] if maps.remark else []
    return replace(head_maps(shown), caption=" ".join(words))

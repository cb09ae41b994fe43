"""A value as an image file: the plot of its class."""

from typing import Any

from glasshead.errors import InputError
from glasshead.report.figure_file import image_file
from glasshead.report.plots import PLOTS
from glasshead.report.run_facts import card_names
from glasshead.results import (
    Attribution,
    Attributions,
    AuditCard,
    AuditComparison,
    HeadReport,
    LayerLens,
    LogitAttribution,
    MethodRanking,
    Patching,
    RecordedAttention,
    RunComparison,
)

PLOT_OF: dict[type, str] = {
    Attributions: "texts",
    AuditComparison: "audit-differences",
    HeadReport: "head-grid",
    LayerLens: "lens",
    LogitAttribution: "logit-parts",
    MethodRanking: "method-ranking",
    Patching: "patched-sites",
    RecordedAttention: "recorded-attention",
    RunComparison: "run-differences",
}


def value_image(value: Any, kind: str) -> bytes:
    """The value as a svg, png or pdf file.

    Raises:
        InputError: if there is nothing to draw.
    """
    if isinstance(value, Attribution):
        value = Attributions((value,))
    if isinstance(value, Attributions) and any(each.boxes is not None for each in value):
        figure = PLOTS["patches"].draw(value)
    elif isinstance(value, AuditCard):
        figure = PLOTS["key-findings"].draw([value], card_names([value]))
    else:
        figure = PLOTS[PLOT_OF[type(value)]].draw(value)
    if figure is None:
        raise InputError("there is no key finding to draw: save it as .html or .json")
    return image_file(figure, kind)

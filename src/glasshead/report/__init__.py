"""Everything that is drawn, each thing once: plots, pages and terminal tables; knows nothing of torch."""

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from glasshead.drawable import RENDERERS, Renderer
from glasshead.lazy import lazy_exports

if TYPE_CHECKING:
    from glasshead.report.claims import judge_claims
    from glasshead.report.dynamics.summary import DynamicsSummary
    from glasshead.report.figure import Figure, Panel
    from glasshead.report.figure_file import image_file
    from glasshead.report.html.attribution_page import attribution_page
    from glasshead.report.html.audit_page import audit_page
    from glasshead.report.html.comparison_page import comparison_page
    from glasshead.report.html.dynamics_page import dynamics_page
    from glasshead.report.html.environment import page_part
    from glasshead.report.html.figure_page import figure_page
    from glasshead.report.html.heads_page import heads_page
    from glasshead.report.html.written_page import written_page
    from glasshead.report.model_card import model_card
    from glasshead.report.number_format import number, share
    from glasshead.report.plot_registry import Plot, PlotOptions, plot
    from glasshead.report.plots import PLOTS, plots_of
    from glasshead.report.plots.class_ratios import ratio_lines
    from glasshead.report.plots.minima import minimum_lines
    from glasshead.report.plots.token_curves import unique_tokens
    from glasshead.report.plots.transition import transition_lines
    from glasshead.report.table_figures import (
        Estimate,
        EstimateRow,
        Histogram,
        coefficient_figure,
        histogram_figure,
        interval_figure,
    )
    from glasshead.report.terminal.attribution_table import attribution_table
    from glasshead.report.terminal.card_table import card_table
    from glasshead.report.terminal.comparison_table import comparison_table
    from glasshead.report.terminal.doctor_table import doctor_table
    from glasshead.report.terminal.dynamics_table import dynamics_table
    from glasshead.report.terminal.head_table import head_table
    from glasshead.report.terminal.method_table import method_table
    from glasshead.report.terminal.ranking_table import ranking_table
    from glasshead.report.terminal.text_heatmap import text_heatmap
    from glasshead.report.terminal.wrapping_table import WrappingTable
    from glasshead.report.terminal.written_table import written_table
    from glasshead.report.text_alignment import AlignedPiece, align_texts
    from glasshead.report.text_drawing import DrawnSpan, TextDrawing, draw_text
    from glasshead.report.text_spans import (
        computation,
        diverging,
        prediction,
        scale_words,
        shared_scale,
        sink_in_words,
    )

# matplotlib, jinja and rich take their time: each is imported for what needs it.
MODULES = {
    "AlignedPiece": "glasshead.report.text_alignment",
    "DrawnSpan": "glasshead.report.text_drawing",
    "Estimate": "glasshead.report.table_figures",
    "EstimateRow": "glasshead.report.table_figures",
    "Histogram": "glasshead.report.table_figures",
    "coefficient_figure": "glasshead.report.table_figures",
    "histogram_figure": "glasshead.report.table_figures",
    "interval_figure": "glasshead.report.table_figures",
    "DynamicsSummary": "glasshead.report.dynamics.summary",
    "Figure": "glasshead.report.figure",
    "PLOTS": "glasshead.report.plots",
    "Panel": "glasshead.report.figure",
    "Plot": "glasshead.report.plot_registry",
    "PlotOptions": "glasshead.report.plot_registry",
    "written_page": "glasshead.report.html.written_page",
    "written_table": "glasshead.report.terminal.written_table",
    "WrappingTable": "glasshead.report.terminal.wrapping_table",
    "attribution_page": "glasshead.report.html.attribution_page",
    "attribution_table": "glasshead.report.terminal.attribution_table",
    "TextDrawing": "glasshead.report.text_drawing",
    "align_texts": "glasshead.report.text_alignment",
    "audit_page": "glasshead.report.html.audit_page",
    "card_table": "glasshead.report.terminal.card_table",
    "comparison_page": "glasshead.report.html.comparison_page",
    "comparison_table": "glasshead.report.terminal.comparison_table",
    "doctor_table": "glasshead.report.terminal.doctor_table",
    "diverging": "glasshead.report.text_spans",
    "draw_text": "glasshead.report.text_drawing",
    "dynamics_page": "glasshead.report.html.dynamics_page",
    "dynamics_table": "glasshead.report.terminal.dynamics_table",
    "figure_page": "glasshead.report.html.figure_page",
    "image_file": "glasshead.report.figure_file",
    "judge_claims": "glasshead.report.claims",
    "words_of_card": "glasshead.report.headline",
    "head_table": "glasshead.report.terminal.head_table",
    "heads_page": "glasshead.report.html.heads_page",
    "method_table": "glasshead.report.terminal.method_table",
    "model_card": "glasshead.report.model_card",
    "number": "glasshead.report.number_format",
    "plot": "glasshead.report.plot_registry",
    "plots_of": "glasshead.report.plots",
    "computation": "glasshead.report.text_spans",
    "sink_in_words": "glasshead.report.text_spans",
    "prediction": "glasshead.report.text_spans",
    "ranking_table": "glasshead.report.terminal.ranking_table",
    "minimum_lines": "glasshead.report.plots.minima",
    "transition_lines": "glasshead.report.plots.transition",
    "ratio_lines": "glasshead.report.plots.class_ratios",
    "share": "glasshead.report.number_format",
    "scale_words": "glasshead.report.text_spans",
    "shared_scale": "glasshead.report.text_spans",
    "page_part": "glasshead.report.html.environment",
    "text_heatmap": "glasshead.report.terminal.text_heatmap",
    "unique_tokens": "glasshead.report.plots.token_curves",
}

__all__ = [
    "PLOTS",
    "AlignedPiece",
    "DrawnSpan",
    "DynamicsSummary",
    "Estimate",
    "EstimateRow",
    "Figure",
    "Histogram",
    "Panel",
    "Plot",
    "PlotOptions",
    "TextDrawing",
    "WrappingTable",
    "align_texts",
    "attribution_page",
    "attribution_table",
    "audit_page",
    "card_table",
    "coefficient_figure",
    "comparison_page",
    "comparison_table",
    "computation",
    "diverging",
    "doctor_table",
    "draw_text",
    "dynamics_page",
    "dynamics_table",
    "figure_page",
    "head_table",
    "heads_page",
    "histogram_figure",
    "image_file",
    "interval_figure",
    "judge_claims",
    "method_table",
    "minimum_lines",
    "model_card",
    "number",
    "page_part",
    "plot",
    "plots_of",
    "prediction",
    "ranking_table",
    "ratio_lines",
    "scale_words",
    "share",
    "shared_scale",
    "sink_in_words",
    "text_heatmap",
    "transition_lines",
    "unique_tokens",
    "words_of_card",
    "written_page",
    "written_table",
]

__getattr__, __dir__, _ = lazy_exports(globals(), MODULES)


def lazy_function(module: str, name: str) -> Callable[..., Any]:
    """A function of a module of this room, which is imported when it is first called."""
    return lambda *args: getattr(import_module(f"{__name__}.{module}"), name)(*args)


NOTEBOOK = "html.notebook"
PAGE_AND_IMAGE = (
    lazy_function("html.attribution_page", "attribution_page"),
    lazy_function("value_image", "value_image"),
)
RENDERERS.register("Attribution")(Renderer(lazy_function(NOTEBOOK, "attribution_fragment"), *PAGE_AND_IMAGE))
RENDERERS.register("Attributions")(
    Renderer(
        lazy_function(NOTEBOOK, "attributions_fragment"),
        *PAGE_AND_IMAGE,
    )
)
RENDERERS.register("AuditCard")(
    Renderer(
        lazy_function("html.card_fragment", "card_fragment"),
        lazy_function("html.card_fragment", "card_page"),
        lazy_function("value_image", "value_image"),
        lazy_function("headline", "words_of_card"),
    )
)
RENDERERS.register("Figure")(
    Renderer(
        lazy_function("html.figure_page", "figure_fragment"),
        lazy_function("html.figure_page", "figure_page"),
        lazy_function("figure_file", "image_file"),
    )
)
RENDERERS.register("HeadReport")(
    Renderer(
        lazy_function("html.heads_page", "heads_fragment"),
        lazy_function("html.heads_page", "heads_page"),
        lazy_function("value_image", "value_image"),
    )
)
RENDERERS.register("MethodRanking")(
    Renderer(
        lazy_function("html.ranking_page", "ranking_fragment"),
        lazy_function("html.ranking_page", "ranking_page"),
        lazy_function("value_image", "value_image"),
    )
)
RENDERERS.register("RecordedAttention")(
    Renderer(
        lazy_function("html.recorded_attention", "recorded_fragment"),
        lazy_function("html.recorded_attention", "recorded_page"),
        lazy_function("value_image", "value_image"),
    )
)
RENDERERS.register("Written")(
    Renderer(
        lazy_function("html.written_page", "written_fragment"),
        lazy_function("html.written_page", "written_page"),
    )
)
for compared in ("AuditComparison", "RunComparison"):
    RENDERERS.register(compared)(
        Renderer(
            lazy_function("html.comparison_fragment", "comparison_fragment"),
            lazy_function("html.comparison_page", "comparison_page"),
            lazy_function("value_image", "value_image"),
        )
    )

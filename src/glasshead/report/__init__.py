"""Plots, pages and terminal tables; it does not need torch."""

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from glasshead.drawable import RENDERERS, Renderer
from glasshead.lazy import lazy_exports

if TYPE_CHECKING:  # matplotlib, jinja and rich take their time: each is imported for what needs it
    from glasshead.report.colours import class_colour, group_colours
    from glasshead.report.document import (
        Block,
        Cell,
        Column,
        Document,
        Facts,
        Heading,
        Piece,
        Row,
        Rows,
        Sentence,
        Table,
        cell,
        columns,
        table,
    )
    from glasshead.report.documents.attributions import tokens_document
    from glasshead.report.documents.audits import audits_document
    from glasshead.report.documents.checkup import checkup_document
    from glasshead.report.documents.cited import cited_document
    from glasshead.report.documents.comparisons import comparison_document
    from glasshead.report.documents.heads import heads_document
    from glasshead.report.documents.inside import lens_document, logit_document
    from glasshead.report.documents.model_list import model_list_document
    from glasshead.report.documents.patching import patching_document
    from glasshead.report.documents.rankings import ranking_document
    from glasshead.report.documents.source_audit import source_audit_document
    from glasshead.report.documents.written import written_document
    from glasshead.report.figure import BROAD, DASHES, ColourBar, Figure, Ink, LegendEntry, Panel
    from glasshead.report.figure_file import image_file
    from glasshead.report.html.attribution_page import attribution_page
    from glasshead.report.html.audit_page import audit_page
    from glasshead.report.html.cited_page import cited_page
    from glasshead.report.html.comparison_page import comparison_page
    from glasshead.report.html.environment import environment, page_part
    from glasshead.report.html.figure_page import RenderedFigure, figure_page, render
    from glasshead.report.html.heads_page import heads_page
    from glasshead.report.html.inside_page import inside_page
    from glasshead.report.html.model_list_page import model_list_page
    from glasshead.report.html.written_page import written_page
    from glasshead.report.labels import LAST, display_name, sort_groups
    from glasshead.report.marks.card_columns import floats, missing_panel, points_per_card, strings
    from glasshead.report.marks.distributions import Distribution, histogram_panel, violin_panel
    from glasshead.report.marks.intervals import IntervalPoint, IntervalRow, interval_panel
    from glasshead.report.marks.limits import Floats, Limits, limits, near_zero, power_of_ten, spread_apart
    from glasshead.report.marks.scatter import MAX_POINTS, Points, sample, scatter_panel
    from glasshead.report.model_card import model_card
    from glasshead.report.number_format import (
        DASH,
        MINUS,
        count,
        finite,
        interval,
        number,
        plain,
        share,
        times_ten,
    )
    from glasshead.report.plot_registry import Plot, PlotOptions, plot
    from glasshead.report.plots import PLOTS, plots_of
    from glasshead.report.plots.head_maps import map_panel
    from glasshead.report.plots.inside import inside_figure
    from glasshead.report.run_facts import any_signed
    from glasshead.report.style import SHADES, SIGNED
    from glasshead.report.terminal.document_view import terminal_view
    from glasshead.report.terminal.text_heatmap import text_heatmap
    from glasshead.report.terminal.wrapping_table import WrappingTable
    from glasshead.report.text_alignment import AlignedPiece, align_texts
    from glasshead.report.text_drawing import DrawnSpan, TextDrawing, draw_text
    from glasshead.report.text_spans import (
        computation,
        diverging,
        prediction,
        scale_words,
        scales_of,
        shared_scale,
        sink_in_words,
    )
    from glasshead.wording import sentence

__getattr__, __dir__ = lazy_exports(globals())

__all__ = [
    "BROAD", "DASH", "DASHES", "LAST", "MAX_POINTS", "MINUS", "PLOTS", "SHADES", "SIGNED",
    "AlignedPiece", "Block", "Cell", "ColourBar", "Column", "Distribution", "Document", "DrawnSpan",
    "Facts", "Figure", "Floats", "Heading", "Ink", "IntervalPoint", "IntervalRow", "LegendEntry",
    "Limits", "Panel", "Piece", "Plot", "PlotOptions", "Points", "RenderedFigure", "Row", "Rows",
    "Sentence", "Table", "TextDrawing", "WrappingTable", "align_texts", "any_signed",
    "attribution_page", "audit_page", "audits_document", "cell", "checkup_document", "cited_document",
    "cited_page", "class_colour", "columns", "comparison_document", "comparison_page", "computation",
    "count", "display_name", "diverging", "draw_text", "environment", "figure_page", "finite", "floats",
    "group_colours", "heads_document", "heads_page", "histogram_panel", "image_file", "inside_figure",
    "inside_page", "interval", "interval_panel", "lens_document", "limits", "logit_document",
    "map_panel", "missing_panel", "model_card", "model_list_document", "model_list_page", "near_zero",
    "number", "page_part", "patching_document", "plain", "plot", "plots_of", "points_per_card",
    "power_of_ten", "prediction", "ranking_document", "render", "sample", "scale_words", "scales_of",
    "scatter_panel", "sentence", "share", "shared_scale", "sink_in_words", "sort_groups",
    "source_audit_document", "spread_apart", "strings", "table", "terminal_view", "text_heatmap",
    "times_ten", "tokens_document", "violin_panel", "written_document", "written_page",
]  # fmt: skip


def lazy_function(module: str, name: str) -> Callable[..., Any]:
    """A function of a module of this room, which is imported when it is first called."""
    return lambda *args: getattr(import_module(f"{__name__}.{module}"), name)(*args)


draw_value = lazy_function("value_image", "value_image")
notebook = lazy_function("html.notebook_view", "notebook_view")
markdown = lazy_function("markdown_view", "markdown_view")


def register(
    value: str,
    document: Callable[[Any], Any],
    page: Callable[[Any], str],
    image: Callable[[Any, str], bytes] | None = draw_value,
    in_notebook: Callable[[Any], Any] | None = None,
    in_markdown: Callable[[Any], str] | None = None,
) -> None:
    """Draw the values of a class by its document, another ``in_notebook`` or ``in_markdown`` if there is one,
    its page and its picture."""
    RENDERERS.register(value)(
        Renderer(
            notebook=lambda value: notebook((in_notebook or document)(value)),
            page=page,
            image=image,
            markdown=in_markdown or (lambda value: markdown(document(value))),
        )
    )


attribution_page_of = lazy_function("html.attribution_page", "attribution_page")
register("Attribution", lazy_function("documents.attributions", "attribution_document"), attribution_page_of)
register(
    "Attributions", lazy_function("documents.attributions", "attributions_document"), attribution_page_of
)
register(
    "AuditCard",
    lazy_function("documents.audits", "card_document"),
    lazy_function("html.audit_page", "card_page"),
    in_notebook=lazy_function("documents.audits", "card_in_notebook"),
)
register(
    "Cited",
    lazy_function("documents.cited", "cited_document"),
    lazy_function("html.cited_page", "cited_page"),
    None,
    in_markdown=lazy_function("cited_markdown", "cited_markdown"),
)
RENDERERS.register("Figure")(
    Renderer(
        lazy_function("html.figure_page", "figure_fragment"),
        lazy_function("html.figure_page", "figure_page"),
        lazy_function("figure_file", "image_file"),
    )
)
register(
    "HeadReport",
    lazy_function("documents.heads", "heads_document"),
    lazy_function("html.heads_page", "heads_page"),
    in_notebook=lazy_function("documents.heads", "heads_in_notebook"),
)
register(
    "LayerLens",
    lazy_function("documents.inside", "lens_document"),
    lazy_function("html.inside_page", "lens_page"),
)
register(
    "LogitAttribution",
    lazy_function("documents.inside", "logit_document"),
    lazy_function("html.inside_page", "logit_page"),
)
register(
    "MethodRanking",
    lazy_function("documents.rankings", "ranking_document"),
    lazy_function("html.ranking_page", "ranking_page"),
    in_notebook=lazy_function("documents.rankings", "ranking_in_notebook"),
)
register(
    "Patching",
    lazy_function("documents.patching", "patching_document"),
    lazy_function("html.patching_page", "patching_page"),
)
register(
    "RecordedAttention",
    lazy_function("documents.recorded", "recorded_document"),
    lazy_function("html.recorded_page", "recorded_page"),
)
register(
    "SourceAudit",
    lazy_function("documents.source_audit", "source_audit_document"),
    lazy_function("html.source_audit_page", "source_audit_page"),
    None,
)
register(
    "Written",
    lazy_function("documents.written", "written_document"),
    lazy_function("html.written_page", "written_page"),
    None,
)
for compared in ("AuditComparison", "RunComparison"):
    register(
        compared,
        lazy_function("documents.comparisons", "comparison_document"),
        lazy_function("html.comparison_page", "comparison_page"),
        in_notebook=lazy_function("documents.comparisons", "comparison_in_notebook"),
    )

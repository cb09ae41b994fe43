"""Everything that is drawn, each thing once: plots, pages and terminal tables; knows nothing of torch."""

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from glasshead.drawable import RENDERERS, Renderer
from glasshead.lazy import lazy_exports

if TYPE_CHECKING:  # matplotlib, jinja and rich take their time: each is imported for what needs it
    from glasshead.report.claims import judge_claims
    from glasshead.report.colours import class_colour, group_colours
    from glasshead.report.figure import BROAD, DASHES, ColourBar, Figure, Ink, LegendEntry, Panel
    from glasshead.report.figure_file import image_file
    from glasshead.report.headline import words_of_card
    from glasshead.report.html.attribution_page import attribution_page
    from glasshead.report.html.audit_page import audit_page
    from glasshead.report.html.comparison_page import comparison_page
    from glasshead.report.html.environment import environment, page_part
    from glasshead.report.html.figure_page import RenderedFigure, figure_page, render
    from glasshead.report.html.heads_page import heads_page
    from glasshead.report.html.written_page import written_page
    from glasshead.report.labels import CANONICAL, LAST, display_name, sentence, sort_groups
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
    from glasshead.report.run_facts import any_signed
    from glasshead.report.style import SHADES, SIGNED
    from glasshead.report.terminal.attribution_table import attribution_table
    from glasshead.report.terminal.card_table import card_table
    from glasshead.report.terminal.comparison_table import comparison_table
    from glasshead.report.terminal.doctor_table import doctor_table
    from glasshead.report.terminal.head_table import head_table
    from glasshead.report.terminal.method_table import method_table
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

__getattr__, __dir__, __all__ = lazy_exports(globals())


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

"""One offline HTML page, and the same findings in the terminal; knows nothing of torch."""

from glasshead.report.comparison import comparison_table
from glasshead.report.distances import Curve, Floats, Matrix, distance_figure
from glasshead.report.doctor_table import checkup_table
from glasshead.report.dynamics.page import dynamics_page, picture_page
from glasshead.report.dynamics.picture import Picture, figure_of
from glasshead.report.dynamics.ratios import Point, by_ratio, ratios, told
from glasshead.report.dynamics.registry import PICTURES, Asked
from glasshead.report.dynamics.summary import Told
from glasshead.report.dynamics.terminal import dynamics_table
from glasshead.report.dynamics.tokens import few
from glasshead.report.heads import UNIFORM, HeadMap, heads_figure, nearly_uniform
from glasshead.report.html import attribution_page, comparison_page, render
from glasshead.report.null_space import logits_figure, rank_figure
from glasshead.report.number_format import number, share
from glasshead.report.positions import Learned, positions_figure
from glasshead.report.ranking_table import ranking_table
from glasshead.report.style import drawn, plain
from glasshead.report.tables import Uncut
from glasshead.report.terminal import attribution_table, card_table, coloured
from glasshead.report.text_spans import prediction

__all__ = [
    "PICTURES",
    "UNIFORM",
    "Asked",
    "Curve",
    "Floats",
    "HeadMap",
    "Learned",
    "Matrix",
    "Picture",
    "Point",
    "Told",
    "Uncut",
    "attribution_page",
    "attribution_table",
    "by_ratio",
    "card_table",
    "checkup_table",
    "coloured",
    "comparison_page",
    "comparison_table",
    "distance_figure",
    "drawn",
    "dynamics_page",
    "dynamics_table",
    "few",
    "figure_of",
    "heads_figure",
    "logits_figure",
    "nearly_uniform",
    "number",
    "picture_page",
    "plain",
    "positions_figure",
    "prediction",
    "rank_figure",
    "ranking_table",
    "ratios",
    "render",
    "share",
    "told",
]

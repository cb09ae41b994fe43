"""Drawings of the papers' values; it does not need torch."""

from glasshead.papers.report.dynamics_document import dynamics_document
from glasshead.papers.report.dynamics_page import dynamics_page
from glasshead.papers.report.dynamics_summary import DynamicsSummary
from glasshead.papers.report.plots.class_ratios import ratio_lines
from glasshead.papers.report.plots.minima import minimum_lines
from glasshead.papers.report.plots.token_curves import unique_tokens
from glasshead.papers.report.plots.transition import transition_lines
from glasshead.papers.report.ranking_table import ranking_table
from glasshead.papers.report.table_figures import (
    Estimate,
    EstimateRow,
    Histogram,
    coefficient_figure,
    histogram_figure,
    interval_figure,
)

__all__ = [
    "DynamicsSummary",
    "Estimate",
    "EstimateRow",
    "Histogram",
    "coefficient_figure",
    "dynamics_document",
    "dynamics_page",
    "histogram_figure",
    "interval_figure",
    "minimum_lines",
    "ranking_table",
    "ratio_lines",
    "transition_lines",
    "unique_tokens",
]

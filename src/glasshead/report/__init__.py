"""One offline HTML page, and the same findings in the terminal; knows nothing of torch."""

from glasshead.report.checkup import checkup_table
from glasshead.report.comparison import comparison_table
from glasshead.report.formats import number
from glasshead.report.html import attribution_page, comparison_page, render
from glasshead.report.passages import prediction
from glasshead.report.ranking import ranking_table
from glasshead.report.terminal import attribution_table, card_table, coloured

__all__ = [
    "attribution_page",
    "attribution_table",
    "card_table",
    "checkup_table",
    "coloured",
    "comparison_page",
    "comparison_table",
    "number",
    "prediction",
    "ranking_table",
    "render",
]

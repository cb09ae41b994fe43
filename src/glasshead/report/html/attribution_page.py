"""The page of explanations of single texts."""

from collections.abc import Sequence

from glasshead.report.html.environment import environment
from glasshead.report.html.text_heatmap import text_heatmap
from glasshead.report.html.token_table import token_table, weight_key
from glasshead.report.text_spans import shared_scale
from glasshead.report.weight_intervals import extremes
from glasshead.results import Attribution


def attribution_page(attributions: Sequence[Attribution]) -> str:
    """Explanations of single texts, coloured, with every token's numbers in a table."""
    scale, limits = shared_scale(attributions), extremes(attributions)
    rows = [
        {
            "attribution": attribution,
            "html": text_heatmap(attribution, scale),
            "numbers": token_table(attribution, limits),
        }
        for attribution in attributions
    ]
    return environment().get_template("attributions.html.j2").render(rows=rows, key=weight_key(attributions))

"""The page of explanations of single texts."""

from collections.abc import Sequence

from glasshead.nouns import TEXTS
from glasshead.report.documents.attributions import tokens_table
from glasshead.report.html.environment import environment
from glasshead.report.html.text_heatmap import text_heatmap
from glasshead.report.html.weight_key import weight_key
from glasshead.report.text_spans import diverging, scale_words, shared_scale, undrawn
from glasshead.report.weight_intervals import extremes, summary_of_ranges
from glasshead.results import Attribution, Attributions


def attribution_page(attributions: Attribution | Sequence[Attribution]) -> str:
    """Explanations of single texts, coloured, with every token's numbers in a table, and what is to be said
    of them."""
    if isinstance(attributions, Attribution):
        attributions = [attributions]
    remarks = attributions.remarks if isinstance(attributions, Attributions) else []
    scale, limits = shared_scale(attributions), extremes(attributions)
    rows = [
        {
            "attribution": attribution,
            "html": text_heatmap(attribution, scale),
            "numbers": tokens_table(attribution, scale, limits),
            "counted": None if attribution.intervals is None else summary_of_ranges(attribution),
            "undrawn": undrawn(attribution),
        }
        for attribution in attributions
    ]
    nouns = attributions[0].nouns if attributions else TEXTS
    template = environment(nouns).get_template("attributions.html.j2")
    sides = any(map(diverging, attributions))
    full = "; ".join(dict.fromkeys(scale_words(attribution, scale) for attribution in attributions))
    return template.render(full=full, rows=rows, key=weight_key(attributions), sides=sides, remarks=remarks)

"""The page of explanations of single texts."""

from collections.abc import Sequence

from glasshead.nouns import common_nouns
from glasshead.report.documents.attributions import tokens_table
from glasshead.report.html.environment import environment
from glasshead.report.html.text_heatmap import text_heatmap
from glasshead.report.html.weight_key import weight_key
from glasshead.report.text_spans import diverging, scale_words, scales_of, sink_in_words, undrawn
from glasshead.report.weight_intervals import extremes, summary_of_ranges
from glasshead.results import Attribution, Attributions


def attribution_page(attributions: Attribution | Sequence[Attribution]) -> str:
    """Explanations of single texts, coloured, with every token's numbers in a table, and remarks on them."""
    if isinstance(attributions, Attribution):
        attributions = [attributions]
    remarks = attributions.remarks if isinstance(attributions, Attributions) else []
    scales, limits = scales_of(attributions), extremes(attributions)
    rows = [
        {
            "attribution": attribution,
            "html": text_heatmap(attribution, scale),
            "numbers": tokens_table(attribution, scale, limits),
            "counted": None if attribution.intervals is None else summary_of_ranges(attribution),
            "undrawn": undrawn(attribution),
            "sinks": sink_in_words(attribution),
        }
        for attribution, scale in zip(attributions, scales, strict=True)
    ]
    nouns = common_nouns(one.nouns for one in attributions)
    template = environment(nouns).get_template("attributions.html.j2")
    sides = any(map(diverging, attributions))
    methods = len({one.method for one in attributions})
    full = "; ".join(
        dict.fromkeys(
            f"{one.method}: {scale_words(one, scale)}" if methods > 1 else scale_words(one, scale)
            for one, scale in zip(attributions, scales, strict=True)
        )
    )
    return template.render(
        full=full, rows=rows, key=weight_key(attributions), sides=sides, remarks=remarks, methods=methods
    )

"""Tokens in their texts and alone, where an encoder reads the words around them."""

from glasshead.errors import InputError
from glasshead.papers.report.plots.token_scatter import AXES_NAMES, limits_of, points_of, usable_by_group
from glasshead.papers.report.term_labels import SUN_AND_LU
from glasshead.papers.results import History
from glasshead.report import (
    Figure,
    LegendEntry,
    PlotOptions,
    group_colours,
    number,
    plot,
    scatter_panel,
    sort_groups,
)
from glasshead.spelling import spell

WHERE = {"local": "in their texts", "global": "alone"}


@plot("contexts", History, "contexts", order=1, tokens="optional", drawn_by="plot dynamics --what contexts")
def contexts(history: History, options: PlotOptions) -> Figure:
    """Polarity against attention score of every token: the mean over its places in the texts, and alone.

    Raises:
        InputError: if they were not worked out.
    """
    table = history.contexts
    if not table:
        raise InputError(
            "scores in texts and alone differ only if the encoder reads the words around a token "
            f"({spell('encoder', 'lstm')}): choose another {spell('what')}"
        )
    colours = group_colours(history.groups)
    chosen = [token for token in options.tokens if token in set(table["token"].tolist())]
    token, x, y = table["token"], table["local polarity"], table["local score"]
    groups = usable_by_group(table["group"], x, y, token, chosen)
    points = {
        where: points_of(table[f"{where} polarity"], table[f"{where} score"], token, groups, colours, chosen)
        for where in WHERE
    }
    limits = limits_of([group for groups in points.values() for group in groups])
    panels = []
    for where, words in WHERE.items():
        means = ", ".join(
            f"{group} {number(table[f'{where} score'][table['group'] == group].mean())}"
            for group in sort_groups(groups)
        )
        description = f"Polarity and attention score of tokens {words}; mean scores: {means}."
        panels.append(scatter_panel(words, points[where], AXES_NAMES, limits, description))
    drawn, known = sum(map(len, groups.values())), len(token)
    caption = (
        "A point is a token of a group: its mean over all places in the texts of train, and as a separate "
        "text, on the same scale."
    )
    if chosen:
        caption += " The chosen ones have a ring."
    if drawn < known:
        caption += f" {drawn:,} of {known:,} are drawn, by chance."
    legend = [LegendEntry(colours[group], group, "dot") for group in sort_groups(groups)]
    return Figure("Tokens in their texts and alone", panels, caption, legend, f"after {SUN_AND_LU}, Fig. 13")

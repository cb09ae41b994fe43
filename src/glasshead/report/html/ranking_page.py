"""The page that holds explanations of a model against each other."""

from markupsafe import Markup

from glasshead.nouns import nouns_of
from glasshead.report.documents.rankings import (
    agreement_table,
    numbers_table,
    pairs_table,
    standings_table,
)
from glasshead.report.html.environment import environment
from glasshead.report.html.figure_page import render
from glasshead.report.html.text_heatmap import text_heatmap
from glasshead.report.plots.method_ranking import method_ranking
from glasshead.report.ranking_rows import (
    FAITHFULNESS,
    intro_sentence,
    used_glyphs,
)
from glasshead.report.run_facts import fact_rows, notes, origin
from glasshead.report.text_spans import shared_scale
from glasshead.results import MethodRanking, RankedText


def ranking_page(ranking: MethodRanking) -> str:
    """The conclusion, a few texts, the table, and every number behind it."""
    shown = [ranking.statistic, *(name for name in FAITHFULNESS if name != ranking.statistic)]
    return (
        environment(nouns_of(ranking.facts))
        .get_template("ranking.html.j2")
        .render(
            ranking=ranking,
            intro=intro_sentence(ranking),
            tables=[
                {
                    "statistic": statistic,
                    "standings": standings_table(ranking, statistic),
                    "numbers": numbers_table(ranking, statistic),
                    "pairs": pairs_table(ranking, statistic),
                }
                for statistic in shown
            ],
            key=used_glyphs(ranking, ranking.statistic),
            texts=[method_texts(text, ranking) for text in ranking.texts],
            gains=render(method_ranking(ranking), "ranking"),
            agreement=agreement_table(ranking),
            facts=fact_rows([ranking]),
            notes=notes([ranking]),
            origin=origin(ranking),
        )
    )


def method_texts(text: RankedText, ranking: MethodRanking) -> tuple[RankedText, list[tuple[str, Markup]]]:
    """One text as every method colours it, each on its own scale."""
    readings = []
    for place, attribution in enumerate(text.attributions):
        readings.append((ranking.names[place], text_heatmap(attribution, shared_scale([attribution]))))
    return text, readings

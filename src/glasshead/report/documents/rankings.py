"""Explanations held against each other: which lead, by every criterion, and what they cost."""

from glasshead.report.document import (
    Cell,
    Document,
    Heading,
    Row,
    Sentence,
    Table,
    Tone,
    cell,
    columns,
    table,
)
from glasshead.report.number_format import DASH, interval, number
from glasshead.report.ranking_rows import (
    OWN_EDIT,
    RANDOM,
    RankingCell,
    criterion_columns,
    intro_sentence,
    key_in_words,
    random_cells,
    ranking_rows,
    time_title,
)
from glasshead.results import MethodRanking, Standing

TONES: dict[Standing, Tone] = {Standing.LEADS: "strong", Standing.BEHIND: "plain"}
"""Of other standings: quiet."""


def ranking_document(ranking: MethodRanking) -> Document:
    """The conclusion, a row for each criterion with a column for each method, and how they agree."""
    return [
        Heading(" ".join(ranking.conclusion)),
        Sentence(intro_sentence(ranking), "quiet"),
        standings_table(ranking),
        Sentence(key_in_words(ranking), "quiet"),
        *([agreement_table(ranking)] if ranking.agreement else []),
    ]


def standings_table(ranking: MethodRanking) -> Table:
    """A row for each criterion, and what each method costs."""
    methods = ranking_rows(ranking, ranking.statistic)
    criteria, chance = criterion_columns(ranking, ranking.statistic), random_cells(ranking, ranking.statistic)
    rows: list[Row] = [
        (
            criterion.title,
            *(standing_cell(method.cells[place]) for method in methods),
            cell(chance[place], tone="quiet"),
        )
        for place, criterion in enumerate(criteria)
    ]
    rows.append((time_title(ranking), *(method.time for method in methods), ""))
    rows.append(("in predictions", *(method.predictions for method in methods), ""))
    names = [method.method.name for method in methods]
    return table(columns((ranking.statistic,), (*names, RANDOM)), rows)


def standing_cell(one: RankingCell | None) -> str | Cell:
    """The number of a method by a criterion, with its standing."""
    if one is None:
        return DASH
    words = f"{one.estimate} {one.glyph}{OWN_EDIT if one.own_edit else ''}"
    return cell(words, tone=TONES.get(one.standing, "quiet"))


def agreement_table(ranking: MethodRanking) -> Table:
    """Kendall τ-b of each pair of methods."""
    rows = [
        (
            ranking.names[pair.one],
            ranking.names[pair.other],
            number(pair.finding.estimate),
            interval(pair.finding.interval),
        )
        for pair in ranking.agreement
    ]
    return table(columns(("agreement of", "with"), ("Kendall τ", "interval")), rows)


def ranking_in_notebook(ranking: MethodRanking) -> Document:
    """The same, with remarks and where to find the rest."""
    rest = 'Every number: to_pandas(), save("ranking.html")'
    return [*ranking_document(ranking), *(Sentence(words, "quiet") for words in (*ranking.remarks, rest))]

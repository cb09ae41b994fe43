"""The page that holds explanations of a model against each other."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from glasshead.nouns import nouns_of
from glasshead.report.difference_rows import DifferenceRow, difference_limits, difference_row
from glasshead.report.html.environment import environment
from glasshead.report.html.figure_page import render
from glasshead.report.html.text_heatmap import text_heatmap
from glasshead.report.number_format import interval, number
from glasshead.report.plots.method_ranking import method_ranking
from glasshead.report.ranking_rows import (
    FAITHFULNESS,
    OWN_EDIT,
    RANDOM,
    CriterionColumn,
    RankingRow,
    criterion_columns,
    gain_over_random,
    intro_sentence,
    random_cells,
    ranking_rows,
    statistic_title,
    used_glyphs,
)
from glasshead.report.run_facts import fact_rows, notes, origin
from glasshead.report.text_spans import shared_scale
from glasshead.results import RANK, Difference, Finding, MethodRanking, RankedText


@dataclass(frozen=True)
class RankingTable:
    """One statistic: a row for each method, a column for each meaning of deleting."""

    statistic: str
    title: str
    columns: Sequence[CriterionColumn]
    rows: Sequence[RankingRow]
    chance: Sequence[str]
    details: Sequence["CriterionDetail"]


@dataclass(frozen=True)
class CriterionDetail:
    """Every number by one criterion: those of the methods, and the differences between them."""

    title: str
    findings: Sequence[tuple[str, Finding, str]]
    limits: tuple[float, float]
    differences: Sequence[tuple[str, DifferenceRow]]
    difference_limits: tuple[float, float] | None


def ranking_page(ranking: MethodRanking) -> str:
    """The conclusion, a few texts, the table, and every number behind it."""
    shown = [ranking.statistic, *(name for name in FAITHFULNESS if name != ranking.statistic)]
    agreement = [
        (f"{ranking.names[pair.one]} and {ranking.names[pair.other]}", pair.finding)
        for pair in ranking.agreement
    ]
    return (
        environment(nouns_of(ranking.facts))
        .get_template("ranking.html.j2")
        .render(
            ranking=ranking,
            intro=intro_sentence(ranking),
            tables=[ranking_table(ranking, statistic) for statistic in shown],
            key=used_glyphs(ranking, ranking.statistic),
            own_edit=OWN_EDIT,
            random=RANDOM,
            texts=[method_texts(text, ranking) for text in ranking.texts],
            gains=render(method_ranking(ranking), "ranking"),
            agreement=agreement,
            agreement_limits=finding_limits([finding for _, finding in agreement]),
            facts=fact_rows([ranking]),
            notes=notes([ranking]),
            origin=origin(ranking),
        )
    )


def ranking_table(ranking: MethodRanking, statistic: str) -> RankingTable:
    """The table of one statistic, and the numbers behind it."""
    rows, columns = ranking_rows(ranking, statistic), criterion_columns(ranking, statistic)
    return RankingTable(
        statistic,
        statistic_title(ranking, statistic),
        columns,
        rows,
        random_cells(ranking, statistic),
        [criterion_detail(ranking, rows, column) for column in columns],
    )


def criterion_detail(
    ranking: MethodRanking, rows: Sequence[RankingRow], column: CriterionColumn
) -> CriterionDetail:
    """Every number by one criterion."""
    findings = [
        (row.method.name, finding, gain_in_words(finding))
        for row in rows
        if (finding := row.method.finding(column.statistic, column.against)) is not None
    ]
    start = ".".join(part for part in (RANK, column.statistic, column.against) if part) + "."
    differences = [each for each in ranking.differences if each.name.startswith(start)]
    return CriterionDetail(
        column.title,
        findings,
        finding_limits([finding for _, finding, _ in findings]),
        [(pair_name(each, ranking.names), difference_row(each)) for each in differences],
        difference_limits(differences),
    )


def pair_name(difference: Difference, names: Sequence[str]) -> str:
    """Who minus whom."""
    return f"{names[difference.one]} minus {names[difference.other]}"


def gain_in_words(finding: Finding) -> str:
    """By how much it is better than a random order."""
    gain = gain_over_random(finding)
    return "" if gain is None else f"{number(gain[0], plus=True)} {interval(gain[1], plus=True)}"


def finding_limits(findings: Sequence[Finding]) -> tuple[float, float]:
    """A range that holds all estimates, intervals and nulls, and zero."""
    ends = [0.0]
    for finding in findings:
        ends += [
            end
            for end in (finding.estimate, *(finding.interval or ()), *finding.null.values())
            if end is not None
        ]
    return min(ends), max(ends)


def method_texts(text: RankedText, ranking: MethodRanking) -> tuple[RankedText, list[tuple[str, Markup]]]:
    """One text as every method colours it, each on a scale of its own."""
    readings = []
    for place, attribution in enumerate(text.attributions):
        readings.append((ranking.names[place], text_heatmap(attribution, shared_scale([attribution]))))
    return text, readings

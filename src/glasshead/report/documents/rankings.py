"""Explanations compared with each other: which lead, by every criterion, and what they cost."""

from collections.abc import Sequence
from dataclasses import replace

from glasshead.report.difference_rows import difference_limits
from glasshead.report.document import (
    Cell,
    Column,
    Document,
    Mark,
    Row,
    Rows,
    Sentence,
    Table,
    Tone,
    cell,
    columns,
    conclusion_blocks,
    table,
)
from glasshead.report.interval_marks import difference_mark, finding_mark
from glasshead.report.number_format import DASH, count, interval, number
from glasshead.report.ranking_rows import (
    OWN_EDIT,
    RANDOM,
    RankingCell,
    criterion_columns,
    gain_over_random,
    intro_sentence,
    key_in_words,
    random_cells,
    ranking_rows,
    statistic_title,
    time_title,
)
from glasshead.results import RANK, Finding, MethodRanking, Standing
from glasshead.wording import sentence

TONES: dict[Standing, Tone] = {Standing.LEADS: "strong", Standing.BEHIND: "plain"}
"""Of other standings: quiet."""


def ranking_document(ranking: MethodRanking) -> Document:
    """The conclusion, a row for each method with a column for each criterion, and how they agree."""
    return [
        *conclusion_blocks(ranking.conclusion),
        Sentence(intro_sentence(ranking), "quiet"),
        replace(standings_table(ranking, ranking.statistic), title=""),
        Sentence(key_in_words(ranking), "quiet"),
        *([agreement_table(ranking)] if ranking.agreement else []),
    ]


def standings_table(ranking: MethodRanking, statistic: str) -> Table:
    """A row for each method, a column for each criterion, and what it costs."""
    rows: list[Row] = [
        (method.method.name, *map(standing_cell, method.cells), method.time, method.predictions)
        for method in ranking_rows(ranking, statistic)
    ]
    chance = (cell(value, tone="quiet") for value in random_cells(ranking, statistic))
    rows.append((cell(RANDOM, tone="quiet"), *chance, "", ""))
    titles = [column.title for column in criterion_columns(ranking, statistic)]
    numbers = (*titles, time_title(ranking), "in predictions")
    head = [Column(statistic, "name"), *columns((), numbers)]
    return table(head, rows, statistic_title(ranking, statistic))


def standing_cell(one: RankingCell | None) -> str | Cell:
    """The number of a method by a criterion, with its standing."""
    if one is None:
        return DASH
    words = f"{one.estimate} {one.glyph}{OWN_EDIT if one.own_edit else ''}"
    return cell(words, tone=TONES.get(one.standing, "quiet"), hint=one.finding.verdict)


def numbers_table(ranking: MethodRanking, statistic: str) -> Table:
    """Every number behind the standings."""
    groups, methods = [], [row.method for row in ranking_rows(ranking, statistic)]
    for column in criterion_columns(ranking, statistic):
        named = [(one.name, f) for one in methods if (f := one.finding(column.statistic, column.against))]
        limits = finding_limits([finding for _, finding in named])
        rows = [
            (
                name,
                cell(number(one.estimate), tone="strong"),
                cell(interval(one.interval), drawing=Mark(finding_mark(one), limits)),
                number(one.null.get("random")),
                gain_in_words(one),
                sentence(one.verdict),
                str(one.n),
            )
            for name, one in named
        ]
        groups.append(Rows(rows, column.title))
    head = [Column("method"), Column("estimate", "numbers"), Column("interval", "marked")]
    head += [
        *columns((), (RANDOM, "better than random by")),
        Column("verdict", "below"),
        Column("n", "numbers"),
    ]
    return Table(head, groups, f"Every number: {statistic_title(ranking, statistic)}")


def pairs_table(ranking: MethodRanking, statistic: str) -> Table:
    """Who is better than whom."""
    groups = []
    for column in criterion_columns(ranking, statistic):
        start = ".".join(part for part in (RANK, column.statistic, column.against) if part) + "."
        pairs = [one for one in ranking.differences if one.name.startswith(start)]
        if (limits := difference_limits(pairs)) is None:
            continue
        rows = [
            (
                f"{ranking.names[one.one]} minus {ranking.names[one.other]}",
                cell(number(one.estimate, plus=True), tone="strong"),
                cell(interval(one.interval), drawing=Mark(difference_mark(one), limits)),
                sentence(one.verdict),
                count(one.n),
            )
            for one in pairs
        ]
        groups.append(Rows(rows, column.title))
    head = [Column("pair"), Column("difference", "numbers"), Column("interval, paired", "marked")]
    head += [Column("the first is", "below"), Column("n", "numbers")]
    return Table(head, groups, f"Differences between methods: {statistic_title(ranking, statistic)}")


def agreement_table(ranking: MethodRanking) -> Table:
    """Kendall τ-b of each pair of methods."""
    limits = finding_limits([pair.finding for pair in ranking.agreement])
    rows = [
        (
            f"{ranking.names[pair.one]} and {ranking.names[pair.other]}",
            cell(number(pair.finding.estimate), tone="strong"),
            cell(interval(pair.finding.interval), drawing=Mark(finding_mark(pair.finding), limits)),
            sentence(pair.finding.verdict),
            count(pair.finding.n),
        )
        for pair in ranking.agreement
    ]
    head = [Column("agreement of"), Column("Kendall τ-b", "numbers"), Column("interval", "marked")]
    head += [Column("verdict"), Column("n", "numbers")]
    return table(head, rows)


def finding_limits(findings: Sequence[Finding]) -> tuple[float, float]:
    """A range that holds all estimates, intervals and nulls, and zero."""
    ends = [0.0]
    for finding in findings:
        values = (finding.estimate, *(finding.interval or ()), *finding.null.values())
        ends += [value for value in values if value is not None]
    return min(ends), max(ends)


def gain_in_words(finding: Finding) -> str:
    """By how much it is better than a random order."""
    gain = gain_over_random(finding)
    return "" if gain is None else f"{number(gain[0], plus=True)} {interval(gain[1], plus=True)}"


def ranking_in_notebook(ranking: MethodRanking) -> Document:
    """The same, with remarks and where to find the rest."""
    rest = 'Every number: to_pandas(), save("ranking.html")'
    return [*ranking_document(ranking), *(Sentence(words, "quiet") for words in (*ranking.remarks, rest))]

"""A ranking of methods as rows in figures and words, for the page, the terminal, notebooks and figures."""

from collections.abc import Sequence
from dataclasses import dataclass

from glasshead.escaping import visible
from glasshead.nouns import nouns_of
from glasshead.report.labels import display_name
from glasshead.report.number_format import DASH, count, number
from glasshead.results import AUPRC, Finding, MethodRanking, RankedMethod, Standing

FAITHFULNESS = ("comprehensiveness", "sufficiency", "deletion", "insertion")
SMALL_IS_FAITHFUL = ("sufficiency", "deletion")
RANDOM = "random order"
GLYPHS = {
    Standing.LEADS: "●",
    Standing.BEHIND: "○",
    Standing.NOT_SHOWN: "~",
    Standing.WORSE: "▽",
    Standing.UNDECIDED: "?",
}
MEANINGS = {
    Standing.LEADS: "leads: no other method is shown to be better",
    Standing.BEHIND: "better than a random order, but another method is better",
    Standing.NOT_SHOWN: "not distinguishable from a random order",
    Standing.WORSE: "worse than a random order",
    Standing.UNDECIDED: "undecided",
}
OWN_EDIT = "*"


@dataclass(frozen=True)
class CriterionColumn:
    """One statistic under one type of deletion, and what it is called."""

    statistic: str
    against: str
    title: str


@dataclass(frozen=True)
class RankingCell:
    """One method by one criterion, ready to print."""

    estimate: str
    standing: Standing
    glyph: str
    own_edit: bool
    finding: Finding


@dataclass(frozen=True)
class RankingRow:
    """One method by every criterion, and its cost."""

    method: RankedMethod
    place: int
    cells: Sequence[RankingCell | None]
    time: str
    predictions: str


def criterion_columns(ranking: MethodRanking, statistic: str) -> list[CriterionColumn]:
    """The types of deletion; with the statistic of the conclusion, human marks too."""
    columns = [CriterionColumn(statistic, removal, removal) for removal in ranking.removals]
    if ranking.has_plausibility and statistic == ranking.statistic:
        columns.append(CriterionColumn(AUPRC, "", "human marks (AUPRC)"))
    return columns


def ranking_rows(ranking: MethodRanking, statistic: str) -> list[RankingRow]:
    """The methods, those first that lead by most criteria, then those that are better than random by most."""
    columns = criterion_columns(ranking, statistic)
    rows = [
        RankingRow(
            method,
            place,
            [ranking_cell(method, column) for column in columns],
            seconds_in_words(method.seconds),
            f"{number(method.predictions, 1 if method.predictions < 10 else 0)}\u00a0×",
        )
        for place, method in enumerate(ranking.methods)
    ]
    return sorted(rows, key=lambda row: standing_counts(row), reverse=True)


def standing_counts(row: RankingRow) -> tuple[int, int, float]:
    """By how many criteria a method leads, by how many it is better than random less those by which it is
    worse, and by how much, all together."""
    standings = [cell.standing for cell in row.cells if cell is not None]
    leads, behind, worse = (
        standings.count(standing) for standing in (Standing.LEADS, Standing.BEHIND, Standing.WORSE)
    )
    gains = [gain_over_random(cell.finding) for cell in row.cells if cell is not None]
    return leads, leads + behind - worse, sum(gain[0] for gain in gains if gain is not None)


def ranking_cell(method: RankedMethod, column: CriterionColumn) -> RankingCell | None:
    """One method by one criterion; None where it has no number."""
    finding = method.finding(column.statistic, column.against)
    if finding is None:
        return None
    standing = method.standings[finding.name]
    return RankingCell(
        number(finding.estimate),
        standing,
        GLYPHS[standing],
        bool(column.against) and method.own_removal == column.against,
        finding,
    )


def random_cells(ranking: MethodRanking, statistic: str) -> list[str]:
    """What a random order of the tokens has by each criterion; of marks the mean over the methods."""
    cells = []
    for column in criterion_columns(ranking, statistic):
        findings = [method.finding(column.statistic, column.against) for method in ranking.methods]
        values = [value for one in findings if one and (value := one.null.get("random")) is not None]
        cells.append(number(sum(values) / len(values)) if values else DASH)
    return cells


def used_glyphs(ranking: MethodRanking, statistic: str) -> list[tuple[str, str]]:
    """The marks that stand in the table, and what they mean."""
    cells = [cell for row in ranking_rows(ranking, statistic) for cell in row.cells if cell is not None]
    shown = [standing for standing in Standing if any(cell.standing == standing for cell in cells)]
    entries = [(GLYPHS[standing], MEANINGS[standing]) for standing in shown]
    if any(cell.own_edit for cell in cells):
        entries.append((OWN_EDIT, f"scores {nouns_of(ranking.facts).tokens} by this same edit"))
    return entries


def key_in_words(ranking: MethodRanking) -> str:
    """The marks of the first table in one line."""
    return " · ".join(f"{glyph} {words}" for glyph, words in used_glyphs(ranking, ranking.statistic))


def statistic_title(ranking: MethodRanking, statistic: str) -> str:
    """What a statistic is called, and in which direction it is faithful."""
    better = "smaller is more faithful" if statistic in SMALL_IS_FAITHFUL else "larger is more faithful"
    return f"{display_name(statistic, ranking.words)} ({better})"


def time_title(ranking: MethodRanking) -> str:
    """What the cost of a method is called."""
    return f"time for {nouns_of(ranking.facts).a_text}"


def intro_sentence(ranking: MethodRanking) -> str:
    """On what the conclusion rests."""
    facts, nouns = ranking.facts, nouns_of(ranking.facts)
    return (
        f"{display_name(ranking.statistic, ranking.words).capitalize()}, over "
        f"{nouns.count(facts['examples'])} of "
        f"{visible(str(facts.get('data', 'data'))).rstrip('/').rsplit('/', 1)[-1]}. Paired intervals and "
        f"exchange tests, which must agree, corrected for {count(facts['comparisons'])} "
        f"comparison{'s' if facts['comparisons'] != 1 else ''}."
    )


def seconds_in_words(seconds: float) -> str:
    """0.13 ms, 14 ms, 1.04 s."""
    if seconds >= 1:
        return f"{seconds:.2f}\u00a0s"
    thousandths = 1000 * seconds
    return f"{thousandths:.{0 if thousandths >= 10 else 1 if thousandths >= 1 else 2}f}\u00a0ms"


def gain_over_random(finding: Finding) -> tuple[float, tuple[float, float] | None] | None:
    """By how much a method is better than a random order, and its interval; more is always better."""
    over = finding.over_null.get("random")
    if over is None or over.estimate is None:
        return None
    if finding.statistic not in SMALL_IS_FAITHFUL:
        return over.estimate, over.interval
    ends = None if over.interval is None else (-over.interval[1], -over.interval[0])
    return -over.estimate, ends

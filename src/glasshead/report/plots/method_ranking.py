"""How much better than a random order each explanation of a model is, by every criterion."""

from glasshead.escaping import visible
from glasshead.report.colours import class_colour
from glasshead.report.figure import Figure, LegendEntry
from glasshead.report.marks.intervals import (
    IntervalPoint,
    IntervalRow,
    interval_panel,
    limits_of,
)
from glasshead.report.plot_registry import plot
from glasshead.report.ranking_rows import (
    CriterionColumn,
    RankingRow,
    criterion_columns,
    gain_over_random,
    intro_sentence,
    ranking_rows,
)
from glasshead.results import MethodRanking, Standing

WIDTH = 3.6


@plot("method-ranking", MethodRanking, drawn_by="rank")
def method_ranking(ranking: MethodRanking) -> Figure:
    """The gain of each explanation over a random order by every criterion, with its interval."""
    rows = ranking_rows(ranking, ranking.statistic)
    columns = criterion_columns(ranking, ranking.statistic)
    tables = [[gain_row(row, column) for row in rows] for column in columns]
    faithful = limits_of(
        [row for table, column in zip(tables, columns, strict=True) if column.against for row in table]
    )
    panels = [
        interval_panel(
            table,
            column.title,
            "gain over a random order",
            faithful if column.against else limits_of(table),
            width=WIDTH,
        )
        for table, column in zip(tables, columns, strict=True)
    ]
    level = 100 * ranking.facts["interval_level"]
    return Figure(
        f"Which explanation to trust: {visible(str(ranking.facts['name']))}",
        panels,
        f"{' '.join(map(visible, ranking.conclusion))} {intro_sentence(ranking)}",
        [
            LegendEntry("--muted", f"leads, with its {level:.4g} % interval", "dot"),
            LegendEntry("--muted", "does not lead", "ring"),
        ],
        across=min(len(panels), 2),
    )


def gain_row(row: RankingRow, column: CriterionColumn) -> IntervalRow:
    """One method by one criterion."""
    label = visible(row.method.name.rpartition(":")[2])  # without the package: room is scarce
    finding = row.method.finding(column.statistic, column.against)
    gain = None if finding is None else gain_over_random(finding)
    if gain is None:
        return IntervalRow(label, "", [])
    leads = row.method.standing(column.statistic, column.against) == Standing.LEADS
    return IntervalRow(label, "", [IntervalPoint(*gain, class_colour(row.place), leads)])

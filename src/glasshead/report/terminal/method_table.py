"""Which explanation to trust, for the terminal."""

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from glasshead.escaping import visible
from glasshead.report.number_format import DASH, interval, number
from glasshead.report.ranking_rows import (
    OWN_EDIT,
    RANDOM,
    criterion_columns,
    intro_sentence,
    key_in_words,
    random_cells,
    ranking_rows,
    time_title,
)
from glasshead.report.terminal.wrapping_table import WrappingTable
from glasshead.results import MethodRanking, Standing

STYLES = {
    Standing.LEADS: "bold",
    Standing.BEHIND: "",
    Standing.NOT_SHOWN: "dim",
    Standing.WORSE: "dim",
    Standing.UNDECIDED: "dim",
}


def method_table(ranking: MethodRanking) -> RenderableType:
    """The conclusion, and a row for each criterion with a column for each method."""
    rows = ranking_rows(ranking, ranking.statistic)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column(ranking.statistic)
    for row in rows:
        table.add_column(visible(row.method.name), justify="right")
    table.add_column(RANDOM, justify="right", style="dim")
    columns, chance = (
        criterion_columns(ranking, ranking.statistic),
        random_cells(ranking, ranking.statistic),
    )
    for at, column in enumerate(columns):
        cells = []
        for row in rows:
            cell = row.cells[at]
            words = (
                DASH if cell is None else f"{cell.estimate} {cell.glyph}{OWN_EDIT if cell.own_edit else ''}"
            )
            cells.append(Text(words, style="" if cell is None else STYLES[cell.standing]))
        table.add_row(Text(column.title), *cells, Text(chance[at]))
    table.add_row(Text(time_title(ranking)), *(Text(row.time) for row in rows), "")
    table.add_row(Text("in predictions"), *(Text(row.predictions) for row in rows), "")
    return Group(
        Text(" ".join(map(visible, ranking.conclusion)), style="bold"),
        Text(intro_sentence(ranking), style="dim"),
        WrappingTable(table),
        Text(key_in_words(ranking), style="dim"),
        *([WrappingTable(agreement_table(ranking))] if ranking.agreement else []),
    )


def agreement_table(ranking: MethodRanking) -> Table:
    """Kendall τ-b of each pair of methods."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("agreement of")
    table.add_column("with")
    table.add_column("Kendall τ", justify="right", no_wrap=True)
    table.add_column("interval", justify="right", no_wrap=True)
    for pair in ranking.agreement:
        finding = pair.finding
        names = (visible(ranking.names[place]) for place in (pair.one, pair.other))
        table.add_row(*map(Text, (*names, number(finding.estimate), interval(finding.interval))))
    return table

"""The key findings slice by slice, in the terminal: those that differ in full, the others in a line."""

from collections.abc import Iterator

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from glasshead.errors import pluralise
from glasshead.escaping import one_line
from glasshead.report.findings_in_words import bounds, estimate
from glasshead.report.number_format import count
from glasshead.report.slice_tables import SliceTable, slice_tables
from glasshead.report.terminal.wrapping_table import WrappingTable
from glasshead.results import AuditCard


def slice_lines(card: AuditCard, name: str = "") -> RenderableType:
    """What differs between the slices of an audit, of this name among several; nothing where no slices were
    asked for."""
    return Group(*(line for table in slice_tables(card) for line in lines_of(table, name)))


def lines_of(table: SliceTable, name: str) -> Iterator[RenderableType]:
    """One cut of the texts."""
    yield Text(one_line(", ".join(filter(None, (f"By {table.by}", name)))), style="bold")
    yield Text(f"{table.summary} Intervals of slices at {table.percent}.", style="dim")
    grid = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="dim")
    grid.add_column("")
    for heading in ("estimate", "interval", "n"):
        grid.add_column(heading, justify="right", no_wrap=True)
    for row in table.differing_rows:
        grid.add_row(Text(one_line(f"{row.question.asks} {row.answer}"), style="bold"), "", "", "")
        for finding in row.findings:
            label = Text(f"  {one_line(row.name(finding))}")
            grid.add_row(label, estimate(finding), bounds(finding), count(finding.n))
    if grid.row_count:
        yield WrappingTable(grid)
    if table.other_rows:
        yield Text(
            f"{pluralise(len(table.other_rows), 'key finding')} not shown to differ, or not tested: see the "
            "report.",
            style="dim",
        )
    yield Text()

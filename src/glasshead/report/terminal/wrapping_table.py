"""Tables in a terminal, of which no number is ever cut."""

import re
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Column, Table
from rich.text import Text

NAME = 10
"""The least that a column of words is folded to."""
NUMBER = re.compile(r"(?<!\S)[^\w\s]*\d[\d.,·e%×⁰¹²³⁴-⁹⁻−+\-–)\]]*(?!\S)")


@dataclass(frozen=True)
class WrappingTable:
    """A table that fits any width: columns that may wrap are wrapped first, then all columns come closer,
    then the others are wrapped at blanks. If there is no room for the numbers side by side, they are
    printed one per line. With ``ornament`` the last column is left out before a number is wrapped.
    """

    table: Table
    ornament: bool = False

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        tables = [self.table, tight(self.table)]
        tables += [tight(without_last(self.table))] if self.ornament else []
        for folds in (False, True):
            for table in tables:
                fitted_table = fit_table(table, console, options, folds)
                if fitted_table is not None:
                    yield fitted_table
                    return
        yield Group(*stacked_rows(tables[-1], options.max_width))


def fit_table(table: Table, console: Console, options: ConsoleOptions, folds: bool) -> Table | None:
    """The table with the widths of its columns chosen; None where numbers would have to be cut, or folded at
    their blanks unless it ``folds``."""
    narrow = with_columns(table, [replace(column, width=1, ratio=None) for column in table.columns])
    narrow.expand = False
    frame = console.measure(narrow, options=options.update(width=10**4)).maximum - len(table.columns)
    natural_widths = [natural_width(column) for column in table.columns]
    widths = [least_width(column, folds) for column in table.columns]
    spare = options.max_width - frame - sum(widths)
    if spare < 0:
        return None
    if sum(natural_widths) + frame <= options.max_width:
        return table
    while spare and (short := [i for i, width in enumerate(widths) if width < natural_widths[i]]):
        widths[min(short, key=lambda i: widths[i] / (table.columns[i].ratio or 1))] += 1
        spare -= 1
    return with_columns(
        table,
        [
            replace(column, width=width, no_wrap=False, min_width=None, ratio=None, overflow="fold")
            for column, width in zip(table.columns, widths, strict=True)
        ],
    )


def with_columns(table: Table, columns: Sequence[Column]) -> Table:
    """The table with other columns."""
    other = copy(table)
    other.columns = list(columns)
    return other


def tight(table: Table) -> Table:
    """The table with as little room between its columns as there may be."""
    other = copy(table)
    other.padding = (0, 1, 0, 0)
    return other


def without_last(table: Table) -> Table:
    """The table without its last column."""
    return with_columns(table, table.columns[:-1])


def longest_width(pieces: Iterable[str]) -> int:
    """The width of the longest of some texts; 0 of none."""
    return max(map(cell_len, pieces), default=0)


def natural_width(column: Column) -> int:
    """The width of the longest line of a column."""
    texts = map(plain_text, (column.header, *column.cells))
    return max(
        column.min_width or 0,
        column.width or 0,
        longest_width(line for text in texts for line in text.split("\n")),
    )


def least_width(column: Column, folds: bool) -> int:
    """What a column needs for its numbers, and for words that can be read."""
    cells = [plain_text(cell) for cell in column.cells]
    if not column.no_wrap:
        return max(
            min(NAME, natural_width(column)),
            longest_width(word for cell in cells for word in NUMBER.findall(cell)),
        )
    pieces = [piece for cell in cells for piece in (cell.split() if folds else cell.split("\n"))]
    return max(column.width or 0, longest_width(plain_text(column.header).split()), longest_width(pieces))


def plain_text(cell: RenderableType) -> str:
    """The letters of a cell."""
    return cell.plain if isinstance(cell, Text) else Text.from_markup(str(cell)).plain


def stacked_rows(table: Table, room: int) -> Iterator[RenderableType]:
    """Every row as a list: its first cell, then a line for each other that says something."""
    if table.title:
        yield Text(plain_text(table.title).strip(), style="bold")
    names = [plain_text(column.header).replace("-\n", "").replace("\n", " ") for column in table.columns]
    if names[0]:
        yield Text(names[0], style="dim")
    for row in zip(*(column.cells for column in table.columns), strict=True):
        cells = [cell if isinstance(cell, Text) else Text.from_markup(str(cell)) for cell in row]
        if all(cell.plain in ("", name) for cell, name in zip(cells, names, strict=True)):
            continue
        if cells[0].plain:
            yield cells[0]
        grid = Table.grid(padding=(0, 1))
        grid.add_column(width=min(longest_width(names[1:]), room // 3) + 2, overflow="fold", style="dim")
        grid.add_column(overflow="fold")
        for name, cell in zip(names[1:], cells[1:], strict=True):
            if cell.plain:
                grid.add_row(Text(f"  {name}"), cell)
        yield grid
    if table.caption:
        yield Text(plain_text(table.caption), style="dim italic")

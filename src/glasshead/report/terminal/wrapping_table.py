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
    """A table that fits whatever the width: columns that may wrap are folded first, then the others at their
    blanks. Where there is no room for the numbers side by side they stand below each other, a line for each.
    With ``ornament`` the last column is left out before a number is folded.
    """

    table: Table
    ornament: bool = False

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        tables = [self.table, *([without_last(self.table)] if self.ornament else [])]
        for folds in (False, True):
            for each in tables:
                drawn = fitted(each, console, options, folds)
                if drawn is not None:
                    yield drawn
                    return
        yield Group(*lines(tables[-1], options.max_width))


def fitted(table: Table, console: Console, options: ConsoleOptions, folds: bool) -> Table | None:
    """The table with the widths of its columns chosen; None where numbers would have to be cut, or folded at
    their blanks unless it ``folds``."""
    narrow = changed(table, [replace(each, width=1, ratio=None) for each in table.columns])
    narrow.expand = False
    frame = console.measure(narrow, options=options.update(width=10**4)).maximum - len(table.columns)
    wanted = [natural(each) for each in table.columns]
    widths = [least(each, folds) for each in table.columns]
    spare = options.max_width - frame - sum(widths)
    if spare < 0:
        return None
    if sum(wanted) + frame <= options.max_width:
        return table
    while spare and (short := [i for i, width in enumerate(widths) if width < wanted[i]]):
        widths[min(short, key=lambda i: widths[i] / (table.columns[i].ratio or 1))] += 1
        spare -= 1
    return changed(
        table,
        [
            replace(each, width=width, no_wrap=False, min_width=None, ratio=None, overflow="fold")
            for each, width in zip(table.columns, widths, strict=True)
        ],
    )


def changed(table: Table, columns: Sequence[Column]) -> Table:
    """The table with other columns."""
    other = copy(table)
    other.columns = list(columns)
    return other


def without_last(table: Table) -> Table:
    """The table without its last column."""
    return changed(table, table.columns[:-1])


def longest(pieces: Iterable[str]) -> int:
    """The width of the longest of some texts; 0 of none."""
    return max(map(cell_len, pieces), default=0)


def natural(column: Column) -> int:
    """The width of the longest line of a column."""
    texts = map(plain, (column.header, *column.cells))
    return max(
        column.min_width or 0, column.width or 0, longest(line for each in texts for line in each.split("\n"))
    )


def least(column: Column, folds: bool) -> int:
    """What a column needs for its numbers, and for words that can be read."""
    cells = [plain(each) for each in column.cells]
    if not column.no_wrap:
        return max(
            min(NAME, natural(column)), longest(word for each in cells for word in NUMBER.findall(each))
        )
    pieces = [piece for each in cells for piece in (each.split() if folds else each.split("\n"))]
    return max(column.width or 0, longest(plain(column.header).split()), longest(pieces))


def plain(cell: RenderableType) -> str:
    """The letters of a cell."""
    return cell.plain if isinstance(cell, Text) else Text.from_markup(str(cell)).plain


def lines(table: Table, room: int) -> Iterator[RenderableType]:
    """Every row as a list: its first cell, then a line for each other that says something."""
    if table.title:
        yield Text(plain(table.title).strip(), style="bold")
    names = [plain(each.header).replace("-\n", "").replace("\n", " ") for each in table.columns]
    if names[0]:
        yield Text(names[0], style="dim")
    for row in zip(*(each.cells for each in table.columns), strict=True):
        cells = [each if isinstance(each, Text) else Text.from_markup(str(each)) for each in row]
        if all(cell.plain in ("", name) for cell, name in zip(cells, names, strict=True)):
            continue
        if cells[0].plain:
            yield cells[0]
        grid = Table.grid(padding=(0, 1))
        grid.add_column(width=min(longest(names[1:]), room // 3) + 2, overflow="fold", style="dim")
        grid.add_column(overflow="fold")
        for name, cell in zip(names[1:], cells[1:], strict=True):
            if cell.plain:
                grid.add_row(Text(f"  {name}"), cell)
        yield grid
    if table.caption:
        yield Text(plain(table.caption), style="dim italic")

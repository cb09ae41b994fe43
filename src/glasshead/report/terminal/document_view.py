"""A document in the terminal, as rich renderables.

What comes from outside is always a `rich.text.Text`: square brackets in it are never read as markup.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from glasshead.escaping import one_line, visible
from glasshead.report.colours import TERMINAL
from glasshead.report.document import (
    Bar,
    Block,
    Cell,
    ColouredInput,
    Column,
    Document,
    Drawing,
    Facts,
    Heading,
    Listing,
    Passage,
    Piece,
    RangeBar,
    Rows,
    Sentence,
    Table,
    Tone,
    Words,
    cell_of,
    columns_in_words,
    pieces_of,
)
from glasshead.report.terminal.bars import CELLS, RANGE, bar, range_bar
from glasshead.report.terminal.text_heatmap import text_heatmap
from glasshead.report.terminal.wrapping_table import WrappingTable, fit_table

STYLES: dict[Tone, str] = {
    "plain": "", "strong": "bold", "quiet": "dim", "code": "dim", "maybe": "",
    "for": TERMINAL["for"][0], "against": TERMINAL["against"][0],
    "caution": "yellow", "good": "bold green", "bad": "bold red",
}  # fmt: skip
LEFT = (0, 0, 0, 2)


def terminal_view(document: Document) -> RenderableType:
    """All blocks, one below the other."""
    return Group(*chain.from_iterable(map(block_view, document)))


def block_view(block: Block) -> Iterator[RenderableType]:
    """One block; a figure has no place in a terminal."""
    match block:
        case Heading(words, level):
            yield Text(f"{chr(10) * (level > 1)}{one_line(words)}", style="bold")
        case Sentence(words, tone, indent):
            start = [Piece("! ", tone)] if tone == "caution" else []
            text = line_view([*start, *pieces_of(words, tone)])
            yield Padding(text, LEFT, expand=False) if indent else text
        case Passage(words):
            yield line_view(words, visible)
        case Facts(facts):
            yield from (Text(one_line(fact), style="dim") for fact in facts)
        case Listing(items):
            for says, reason in items:
                yield Padding(Group(Text(one_line(says)), line_view(pieces_of(reason, "quiet"))), LEFT)
        case ColouredInput(attribution, scale):
            yield text_heatmap(attribution, scale)
        case Table():
            yield from table_view(block)
        case Drawing():
            return


def line_view(words: Words, harmless: Callable[[str], str] = one_line) -> Text:
    """Words in their tones."""
    return Text.assemble(*((harmless(piece.words), STYLES[piece.tone]) for piece in pieces_of(words)))


def cell_view(cell: Cell) -> Text:
    """The lines of a cell, or what is drawn in it."""
    match cell.drawing:
        case Bar(share, signed):
            return bar(share, signed)
        case RangeBar(attribution, token, limits):
            return range_bar(attribution, token, limits)
    return Text("\n").join(map(line_view, cell.lines))


def table_view(table: Table) -> Iterator[RenderableType]:
    """The table; with sentences below each row where it has some."""
    if any(column.kind == "below" for column in table.columns):
        yield from rows_with_sentences(table)
    elif any(group.heading for group in table.groups):
        yield GroupedRows(table)
    else:
        yield wrapping_view(table)


@dataclass(frozen=True)
class GroupedRows:
    """A table whose rows have headings; where these have no room in it, a table for each heading."""

    table: Table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        whole = wrapping_view(self.table)
        if fit_table(whole.table, console, options, folds=False) is whole.table:
            yield whole
            return
        yield from optional_line(self.table.title, "bold")
        for group in self.table.groups:
            alone = Rows(group.rows)
            yield wrapping_view(replace(self.table, groups=[alone], title=group.heading, caption=""))
        yield from optional_line(self.table.caption, "dim")


def wrapping_view(table: Table) -> WrappingTable:
    """The table as it fits."""
    grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    if table.title:
        grid.title, grid.title_justify = Text(one_line(table.title), style="bold"), "left"
        grid.title_style = ""
    if table.caption:
        grid.caption, grid.caption_justify = Text(one_line(table.caption)), "left"
    readable = columns_in_words(table)
    places = [at for at, one in enumerate(table.columns) if at in readable or one.kind == "drawing"]
    for place in places:
        add_column(grid, table.columns[place], table)
    for group in table.groups:
        if group.heading:
            grid.add_row(Text(one_line(group.heading), style="bold"))
        for row in group.rows:
            grid.add_row(*(cell_view(cell_of(row[place])) for place in places))
            if table.spaced:
                grid.add_row()
    return WrappingTable(grid, ornament=table.columns[-1].kind == "drawing")


def add_column(grid: Grid, column: Column, table: Table) -> None:
    """A column with its title."""
    title = Text(one_line(column.title))
    if column.kind == "drawing":
        grid.add_column(title, no_wrap=True, width=drawing_width(table))
    else:
        grid.add_column(
            title,
            justify="right" if column.is_numeric else "left",
            no_wrap=column.kind != "words" and column.share is None,
            overflow="fold",
            ratio=column.share,
        )


def drawing_width(table: Table) -> int:
    """The letters that the drawings of a table take."""
    ranges = any(isinstance(cell_of(row[-1]).drawing, RangeBar) for rows in table.groups for row in rows.rows)
    return RANGE + 1 if ranges else 2 * CELLS + 1


def rows_with_sentences(table: Table) -> Iterator[RenderableType]:
    """A line of numbers for each row, and its sentences below it at full width."""
    readable = columns_in_words(table)
    beside = [place for place in readable if table.columns[place].kind != "below"]
    below = [place for place in readable if table.columns[place].kind == "below"]
    head = [Text(one_line(column.title), style="dim") for column in table.columns]
    groups = [
        (group.heading, [[cell_view(cell_of(content)) for content in row] for row in group.rows])
        for group in table.groups
    ]
    every = [head, *(row for _, rows in groups for row in rows)]
    widths = [max(line[place].cell_len for line in every) for place in beside[1:]]
    yield Text()
    yield from optional_line(table.title, "bold")
    yield number_line(table, head, beside, widths)
    for heading, rows in groups:
        yield from optional_line(heading, "bold")
        for row in rows:
            yield number_line(table, row, beside, widths)
            yield Padding(Group(*(row[place] for place in below if row[place])), (0, 0, 1, 2))
    yield from optional_line(table.caption, "dim")


def optional_line(words: str, style: str) -> list[Text]:
    """A line of its own; nothing for no words."""
    return [Text(one_line(words), style=style)] if words else []


def number_line(
    table: Table, row: Sequence[Text], beside: Sequence[int], widths: Sequence[int]
) -> WrappingTable:
    """The numbers of a row, in columns as wide as those of all rows."""
    grid = Grid.grid(expand=True, padding=(0, 1))
    grid.add_column(ratio=1)
    for place, width in zip(beside[1:], widths, strict=True):
        title = one_line(table.columns[place].title)
        grid.add_column(title, justify="right", no_wrap=True, min_width=width)
    grid.add_row(*(row[place] for place in beside))
    return WrappingTable(grid)

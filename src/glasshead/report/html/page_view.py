"""The tables of a document on a page, in the classes of its style sheet."""

from collections.abc import Iterator, Sequence

from markupsafe import Markup

from glasshead.escaping import visible
from glasshead.report.document import Bar, Cell, Mark, Piece, RangeBar, Row, Rows, Table, Tone, cell_of
from glasshead.report.html.captions import caption
from glasshead.report.html.interval_drawings import axis, draw
from glasshead.report.interval_marks import range_mark

KINDS = {
    "numbers": "num",
    "marked": "range",
    "drawing": "range",
    "below": "in-words",
    "name": "name",
    "words": "",
}
"""The class of the cells of a column."""
MAYBE = Markup(' <i class="hatch" role="img" aria-label="may be zero"></i>')
PLAIN, BOLD = Markup("{}"), Markup("<b>{}</b>")
TONES: dict[Tone, Markup] = {
    "strong": BOLD,
    "good": BOLD,
    "bad": BOLD,
    "caution": BOLD,
    "code": Markup("<code>{}</code>"),
    "quiet": Markup('<span class="pale">{}</span>'),
    "for": Markup('<span class="up">{}</span>'),
    "against": Markup('<span class="down">{}</span>'),
}


def page_table(table: Table, classes: str = "findings wide", title: str = "") -> Markup:
    """The table with what it draws; its title is heard, not seen. On a phone each number has its column
    beside it."""
    places = [place for place in range(len(table.columns)) if is_shown(table, place)]
    shown = [table.columns[place] for place in places]
    head = Markup("").join(
        Markup('<th scope="col" class="{}">{}{}</th>').format(
            KINDS[one.kind], caption(one.title), scale(one.limits)
        )
        for one in shown
    )
    bodies = Markup("").join(
        Markup("<tbody>{}</tbody>").format(Markup("").join(rows_of(table, group, places)))
        for group in table.groups
    )
    return Markup(
        '<div class="scroll" tabindex="0" role="region" aria-label="{}"><table class="{}">'
        '<caption class="heard">{}</caption><thead><tr>{}</tr></thead>{}</table></div>'
    ).format(visible(title or table.title), classes, visible(title or table.title), head, bodies)


def is_shown(table: Table, place: int) -> bool:
    """Whether a column has a place on a page, where colours stand for bars."""
    if table.columns[place].kind != "drawing":
        return True
    cells = (cell_of(row[place]) for group in table.groups for row in group.rows)
    return any(not isinstance(cell.drawing, Bar) for cell in cells)


def scale(limits: tuple[float, float] | None) -> Markup:
    """The axis above marks, where they share one."""
    return Markup("") if limits is None else axis(limits)


def rows_of(table: Table, group: Rows, places: Sequence[int]) -> Iterator[Markup]:
    """The rows of a group below its heading."""
    if group.heading:
        cells = (
            Markup('<td class="range">{}</td>').format(scale(group.limits))
            if table.columns[place].kind == "marked"
            else Markup("<td></td>")
            for place in places[1:]
        )
        heading = Markup('<tr class="heading"><th scope="rowgroup">{}</th>{}</tr>')
        yield heading.format(caption(group.heading), Markup("").join(cells))
    for row in group.rows:
        yield Markup("<tr>{}</tr>").format(Markup("").join(cells_of(table, row, places)))


def cells_of(table: Table, row: Row, places: Sequence[int]) -> Iterator[Markup]:
    """The cells of a row, the first of which is its name."""
    for place in places:
        column, cell = table.columns[place], cell_of(row[place])
        hint = Markup(' title="{}"').format(visible(cell.hint)) if cell.hint else Markup("")
        if place == 0:
            yield Markup('<th scope="row"{}>{}</th>').format(hint, cell_view(cell))
        else:
            yield Markup('<td class="{}" data-of="{}"{}>{}</td>').format(
                KINDS[column.kind], visible(column.title), hint, cell_view(cell)
            )


def cell_view(cell: Cell) -> Markup:
    """What is drawn, then the lines."""
    lines = Markup("<br>").join(Markup("").join(map(piece_view, line)) for line in cell.lines)
    match cell.drawing:
        case Mark(mark, limits):
            return Markup('{}<span class="bounds">{}</span>').format(draw(mark, limits), lines)
        case RangeBar(attribution, token, limits):
            return draw(range_mark(attribution, token), limits) + lines
    return lines


def piece_view(piece: Piece) -> Markup:
    """Some words in their tone."""
    if piece.tone == "maybe":
        return MAYBE
    words = caption(piece.words)
    if piece.link:
        words = Markup('<a href="#{}">{}</a>').format(piece.link, words)
    return TONES.get(piece.tone, PLAIN).format(words)

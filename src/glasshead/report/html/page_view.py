"""The tables of a document on a page, in the classes of its style sheet."""

from collections.abc import Iterator, Sequence
from itertools import groupby

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
    """The table with what it draws; its title is heard, not seen. On a phone each number has its column next
    to it."""
    places = [place for place in range(len(table.columns)) if is_shown(table, place)]
    whole = [row for group in table.groups for row in group.rows]
    grouped = any(group.heading for group in table.groups)
    head = Markup('<th scope="col" class="{}">{}{}</th>')
    titles = Markup("").join(
        head.format(
            class_of(table, place),
            Markup("<br>").join(map(caption, table.columns[place].title.split("\n"))),
            Markup("") if grouped else axis_over(whole, place),
        )
        for place in places
    )
    bodies = (Markup("").join(rows_of(table, group, places)) for group in table.groups)
    return Markup(
        '<div class="scroll" tabindex="0" role="region" aria-label="{}"><table class="{}">'
        '<caption class="heard">{}</caption><thead>{}<tr>{}</tr></thead>{}</table></div>{}'
    ).format(
        visible(title or table.title),
        classes,
        visible(title or table.title),
        names_over(table, places),
        titles,
        Markup("").join(map(Markup("<tbody>{}</tbody>").format, bodies)),
        Markup('<p class="sources">{}</p>').format(caption(table.caption)) if table.caption else "",
    )


def names_over(table: Table, places: Sequence[int]) -> Markup:
    """A row of the names that stand above several columns each."""
    runs = groupby(places, lambda place: table.columns[place].over)
    spans = [(name, len(list(members))) for name, members in runs]
    if not any(name for name, _ in spans):
        return Markup("")
    over = Markup('<th colspan="{1}" scope="colgroup" class="card first">{0}</th>')
    cells = (over.format(visible(name), n) if name else Markup("<td></td>") * n for name, n in spans)
    return Markup("<tr>{}</tr>").format(Markup("").join(cells))


def begins_group(table: Table, place: int) -> bool:
    """Whether a column is the first below a name."""
    over = table.columns[place].over
    return bool(over) and table.columns[place - 1].over != over


def class_of(table: Table, place: int) -> str:
    """The class of a column."""
    return f"{KINDS[table.columns[place].kind]}{' first' if begins_group(table, place) else ''}"


def is_shown(table: Table, place: int) -> bool:
    """Whether a column has a place on a page, where colours stand for bars."""
    if table.columns[place].kind != "drawing":
        return True
    cells = (cell_of(row[place]) for group in table.groups for row in group.rows)
    return any(not isinstance(cell.drawing, Bar) for cell in cells)


def axis_over(rows: Sequence[Row], place: int) -> Markup:
    """The axis of the marks of a column, where all have the same."""
    drawings = (cell_of(row[place]).drawing for row in rows)
    limits = {one.limits for one in drawings if isinstance(one, Mark | RangeBar)}
    return axis(limits.pop()) if len(limits) == 1 else Markup("")


def rows_of(table: Table, group: Rows, places: Sequence[int]) -> Iterator[Markup]:
    """The rows of a group below its heading."""
    if group.heading:
        cell = Markup('<td class="{}">{}</td>')
        cells = (cell.format(class_of(table, place), axis_over(group.rows, place)) for place in places[1:])
        heading = Markup('<tr class="heading"><th scope="rowgroup">{}</th>{}</tr>')
        yield heading.format(caption(group.heading), Markup("").join(cells))
    for row in group.rows:
        kind = Markup(' class="trivial"') if cell_of(row[0]).faint else Markup("")
        yield Markup("<tr{}>{}</tr>").format(kind, Markup("").join(cells_of(table, row, places)))


def cells_of(table: Table, row: Row, places: Sequence[int]) -> Iterator[Markup]:
    """The cells of a row, the first of which is its name."""
    for place in places:
        column, cell = table.columns[place], cell_of(row[place])
        hint = Markup(' title="{}"').format(visible(cell.hint)) if cell.hint else Markup("")
        if place == 0:
            yield Markup('<th scope="row"{}>{}</th>').format(hint, cell_view(cell))
            continue
        name = column.over if begins_group(table, place) else column.title.replace("\n", " ")
        element = Markup('<td class="{}" data-of="{}"{}>{}</td>')
        yield element.format(class_of(table, place), visible(name), hint, cell_view(cell))


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
        words = Markup('<a href="{}">{}</a>').format(piece.link, words)
    return TONES.get(piece.tone, PLAIN).format(words)

"""A document in a notebook: HTML whose styles stand on each element, so that nothing leaks.

Colours are laid over whatever paper the notebook has and letters keep their own: light and dark need no
switch, and no script runs.
"""

from collections.abc import Sequence

from markupsafe import Markup, escape

from glasshead.escaping import visible
from glasshead.report.colours import GROUNDS
from glasshead.report.document import (
    Block,
    Cell,
    ColouredInput,
    Document,
    Drawing,
    Facts,
    Heading,
    Listing,
    Passage,
    Piece,
    Sentence,
    Table,
    Tone,
    Words,
    cell,
    cell_of,
    columns_in_words,
    pieces_of,
)
from glasshead.report.html.captions import caption
from glasshead.report.html.figure_page import figure_fragment
from glasshead.report.html.text_heatmap import notebook_heatmap

BOX = "font-family:system-ui,sans-serif;font-size:14px;line-height:1.5;max-width:900px;margin:.4em 0 .9em"
TEXT = "white-space:pre-wrap;max-width:644px;line-height:1.9"
CAUTION = "border-left:3px solid rgba(200,130,0,.9);padding-left:.7em;margin:.3em 0"
QUIET = "opacity:.72;font-size:12px;line-height:1.5"
CELL = "padding:.25em .9em .25em 0;vertical-align:top;border-top:1px solid rgba(127,127,127,.35)"
WORDS, NUMBERS = "text-align:left;min-width:9em", "text-align:right;white-space:nowrap"
BOLD = Markup("<b>{}</b>")
ELEMENTS: dict[Tone, Markup] = {
    "strong": BOLD,
    "good": BOLD,
    "bad": BOLD,
    "quiet": Markup('<span style="opacity:.72">{}</span>'),
    "code": Markup("<code>{}</code>"),
    "for": Markup(f'<span style="color:rgb{GROUNDS["for"]}">{{}}</span>'),
    "against": Markup(f'<span style="color:rgb{GROUNDS["against"]}">{{}}</span>'),
}


def notebook_view(document: Document) -> str:
    """All blocks, one below the other."""
    parts = Markup("").join(map(block_view, document))
    return str(Markup('<div style="{};overflow-x:auto">{}</div>').format(BOX, parts))


def block_view(block: Block) -> Markup:
    """One block."""
    match block:
        case Heading(words):
            return Markup("<div><b>{}</b></div>").format(visible(words))
        case Sentence(words, tone):
            style = QUIET if tone == "quiet" else CAUTION if tone == "caution" else ""
            return Markup('<div style="{}">{}</div>').format(style, line_view(words, tone))
        case Passage(words):
            return Markup('<div dir="auto" style="{}">{}</div>').format(TEXT, line_view(words))
        case Facts(facts):
            return Markup('<div style="{};max-width:644px">{}</div>').format(
                QUIET, caption(" · ".join(facts))
            )
        case Listing(items):
            item = Markup('<div>{}<div style="{}">{}</div></div>')
            lines = (item.format(visible(says), QUIET, line_view(why, "quiet")) for says, why in items)
            return Markup("").join(lines)
        case ColouredInput(attribution, scale):
            return Markup('<div dir="auto" style="{}">{}</div>').format(
                TEXT, notebook_heatmap(attribution, scale)
            )
        case Drawing(figure):
            return Markup(figure_fragment(figure))
        case Table():
            return table_view(block)


def line_view(words: Words, tone: Tone = "plain") -> Markup:
    """Words in their tones; in a quiet line, quiet ones are like the others."""
    pieces = pieces_of(words, tone)
    return Markup("").join(
        escape(visible(p.words)) if tone == p.tone == "quiet" else piece_view(p) for p in pieces
    )


def piece_view(piece: Piece) -> Markup:
    """Some words in their tone."""
    element = ELEMENTS.get(piece.tone, Markup("{}"))
    return element.format(visible(piece.words))


def table_view(table: Table) -> Markup:
    """The table; bars and marks are left to terminals and pages."""
    places = columns_in_words(table)
    title = Markup("<b>{}</b>").format(visible(table.title)) if table.title else Markup("")
    note = Markup('<div style="{}">{}</div>').format(QUIET, visible(table.caption)) if table.caption else ""
    rows = [row_view(table, places, [cell(column.title) for column in table.columns])]
    for group in table.groups:
        if group.heading:
            across = Markup('<tr><td colspan="{}" style="{}"><b>{}</b></td></tr>')
            rows.append(across.format(len(places), CELL, visible(group.heading)))
        rows += [row_view(table, places, [cell_of(content) for content in row]) for row in group.rows]
    style = "border-collapse:collapse;font-size:13px;line-height:1.45"
    return Markup('{}<table style="{}">{}</table>{}').format(title, style, Markup("").join(rows), note)


def row_view(table: Table, places: Sequence[int], cells: Sequence[Cell]) -> Markup:
    """One row of a table."""
    parts = []
    for place in places:
        lines = Markup("<br>").join(line_view(line) for line in cells[place].lines)
        kind = NUMBERS if table.columns[place].is_numeric else WORDS
        hint = Markup(' title="{}"').format(visible(cells[place].hint)) if cells[place].hint else ""
        parts.append(Markup('<td style="{};{}"{}>{}</td>').format(CELL, kind, hint, lines))
    return Markup("<tr>{}</tr>").format(Markup("").join(parts))

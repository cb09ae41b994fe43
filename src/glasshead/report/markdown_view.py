"""A document in Markdown, for a model card, an issue or a README."""

from collections.abc import Iterator

from glasshead.escaping import one_line
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
    Words,
    cell_of,
    columns_in_words,
    pieces_of,
)
from glasshead.report.text_spans import strongest_tokens

MARKS = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_[]<>|#~$"})


def markdown_view(document: Document) -> str:
    """All blocks with an empty line between them; figures are left out."""
    parts = ("\n".join(block_view(block)) for block in document)
    return "\n\n".join(part for part in parts if part) + "\n"


def block_view(block: Block) -> Iterator[str]:
    """The lines of one block."""
    match block:
        case Heading(words, level):
            yield f"{'#' * (level + 1)} {escape(words)}"
        case Sentence(words, tone):
            yield f"{'> ' * (tone == 'caution')}{line_view(words)}"
        case Passage(words):
            yield f"> {line_view(words)}"
        case Facts(facts):
            yield escape(" · ".join(facts))
        case Listing(items):
            yield from (f"- **{escape(says)}** {line_view(reason)}" for says, reason in items)
        case ColouredInput(attribution):
            yield f"> {escape(attribution.text)}"
            if strongest := strongest_tokens(attribution):
                yield f">\n> strongest: {escape(strongest)}"
        case Table():
            yield from table_view(block)
        case Drawing():
            return


def line_view(words: Words) -> str:
    """Words in their tones."""
    return "".join(map(piece_view, pieces_of(words)))


def piece_view(piece: Piece) -> str:
    """Some words in their tone."""
    match piece.tone:
        case "code":
            return f"`{one_line(piece.words)}`"
        case "strong" | "good" | "bad":
            return f"**{escape(piece.words)}**"
    return escape(piece.words)


def table_view(table: Table) -> Iterator[str]:
    """The table, without its bars and marks."""
    places = columns_in_words(table)
    if table.title:
        yield f"**{escape(table.title)}**\n"
    yield row_view([escape(table.columns[place].title) for place in places])
    yield row_view(
        ["---:" if table.columns[place].kind in ("numbers", "marked") else "---" for place in places]
    )
    for group in table.groups:
        if group.heading:
            yield row_view([f"**{escape(group.heading)}**", *[""] * (len(places) - 1)])
        yield from (row_view([cell_view(cell_of(row[place])) for place in places]) for row in group.rows)
    if table.caption:
        yield f"\n{escape(table.caption)}"


def row_view(cells: list[str]) -> str:
    """One line of a table."""
    return f"| {' | '.join(cells)} |"


def cell_view(cell: Cell) -> str:
    """The lines of a cell on one."""
    return "<br>".join(line_view(line) for line in cell.lines)


def escape(text: str) -> str:
    """Text in which no character is taken for Markdown."""
    return one_line(text).translate(MARKS)

"""A document in Markdown, for a model card, an issue or a README."""

import re
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

MARKS = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_[]<>|#~$&"})


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
            yield f"{'> ' * (tone == 'caution')}{as_line(line_view(words))}"
        case Passage(words):
            text = "".join(piece.words for piece in pieces_of(words))
            yield from quote(text)
        case Facts(facts):
            yield as_line(escape(" · ".join(facts)))
        case Listing(items):
            yield from (f"- **{escape(says)}** {line_view(reason)}" for says, reason in items)
        case ColouredInput(attribution):
            yield from quote(attribution.text)
        case Table():
            yield from table_view(block)
        case Drawing():
            return


def line_view(words: Words) -> str:
    """Words in their tones."""
    return "".join(map(piece_view, pieces_of(words)))


def piece_view(piece: Piece) -> str:
    """Some words in their tone; blanks at their ends stay outside of its marks."""
    words = piece.words.strip()
    if not words or piece.tone not in ("strong", "good", "bad", "code"):
        return escape(piece.words)
    before, after = piece.words.split(words, 1)
    return f"{escape(before)}{code(words) if piece.tone == 'code' else f'**{escape(words)}**'}{escape(after)}"


def code(words: str) -> str:
    """Words between more backticks than they have; a bar would end the cell of a table."""
    inside = one_line(words).replace("|", "\\|")
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", inside)), default=0))
    return f"{fence} {inside} {fence}" if "`" in inside else f"{fence}{inside}{fence}"


def quote(text: str) -> Iterator[str]:
    """A text with its own lines."""
    yield from (f"> {as_line(escape(line))}  " for line in text.split("\n"))


def table_view(table: Table) -> Iterator[str]:
    """The table, without its bars and marks."""
    places = columns_in_words(table)
    if table.title:
        yield f"**{escape(table.title)}**\n"
    yield row_view([escape(table.columns[place].title) for place in places])
    yield row_view(["---:" if table.columns[place].is_numeric else "---" for place in places])
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


def as_line(words: str) -> str:
    """Escaped words as a line that begins no list, rule or block of code."""
    line = re.sub(r"^(\d+)([.)])", r"\1\\\2", words.lstrip())
    return re.sub(r"^([-+=])", r"\\\1", line)

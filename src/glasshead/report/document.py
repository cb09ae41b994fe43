"""What is said of a value, once: a document is a sequence of blocks, which terminals, notebooks and Markdown
print, each in its own way. Pages print its tables between sentences of their own.

Words are plain text. What comes from outside is made harmless where it is printed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:  # figures import matplotlib
    from glasshead.report.figure import Figure
    from glasshead.report.interval_marks import IntervalMark
    from glasshead.results import Attribution

Tone = Literal["plain", "strong", "quiet", "caution", "good", "bad", "code", "maybe", "for", "against"]


@dataclass(frozen=True)
class Piece:
    """Some words of one tone; on a page they may lead somewhere (``#part``, ``folder/page.html``)."""

    words: str
    tone: Tone = "plain"
    link: str = ""


Words = str | Piece | Sequence[str | Piece]


def pieces_of(words: Words, tone: Tone = "plain") -> list[Piece]:
    """The pieces of some words; those without a tone have this one."""
    parts = [words] if isinstance(words, str | Piece) else words
    return [Piece(part, tone) if isinstance(part, str) else part for part in parts]


@dataclass(frozen=True)
class Heading:
    """A title; ``level`` 1 is that of the document, 2 of a part."""

    words: str
    level: int = 1


@dataclass(frozen=True)
class Sentence:
    """A paragraph. Cautions are marked. ``indent`` places it under the line it belongs to."""

    words: Words
    tone: Tone = "plain"
    indent: bool = False


@dataclass(frozen=True)
class Passage:
    """A text as it was written, with its own lines."""

    words: Words


@dataclass(frozen=True)
class Facts:
    """Short facts, side by side or one below the other."""

    facts: Sequence[str]


@dataclass(frozen=True)
class Listing:
    """Sentences with a reason each."""

    items: Sequence[tuple[str, Words]]


@dataclass(frozen=True)
class ColouredInput:
    """An input whose tokens or patches are coloured; ``scale`` is the number at full strength."""

    attribution: Attribution
    scale: float


@dataclass(frozen=True)
class Drawing:
    """A figure. Where nothing can be drawn it is left out: its numbers stand elsewhere."""

    figure: Figure


@dataclass(frozen=True)
class Bar:
    """A bar in a table, ``share`` of its longest in [−1, 1]."""

    share: float
    signed: bool


@dataclass(frozen=True)
class RangeBar:
    """The weight of a token with its range, between ``limits``."""

    attribution: Attribution
    token: int
    limits: tuple[float, float]


@dataclass(frozen=True)
class Mark:
    """A number with its interval, on an axis between ``limits``."""

    mark: IntervalMark | None
    limits: tuple[float, float]


@dataclass(frozen=True)
class Cell:
    """The lines of a cell, and what is drawn next to them; ``hint`` is shown on hover. A row with a
    ``faint`` name is not evidence about the model."""

    lines: Sequence[Sequence[Piece]]
    drawing: Bar | RangeBar | Mark | None = None
    hint: str = ""
    faint: bool = False


Row = Sequence[str | Cell]


def cell(
    *lines: Words,
    tone: Tone = "plain",
    drawing: Bar | RangeBar | Mark | None = None,
    hint: str = "",
    faint: bool = False,
) -> Cell:
    """A cell with these lines, without empty ones."""
    kept = [pieces for line in lines if (pieces := [p for p in pieces_of(line, tone) if p.words])]
    return Cell(kept, drawing, hint, faint)


def cell_of(content: str | Cell) -> Cell:
    """What stands in a row, as a cell."""
    return content if isinstance(content, Cell) else cell(content)


@dataclass(frozen=True)
class Column:
    """A column of ``words``; of ``numbers`` or names (``name``), which are wrapped last; of numbers that a
    page also draws (``marked``); of bars (``drawing``), which are left out first; or of sentences, which a
    terminal prints ``below`` the row. ``share`` is its share of the width, ``over`` the name above several
    columns."""

    title: str
    kind: Literal["words", "name", "numbers", "marked", "drawing", "below"] = "words"
    share: int | None = None
    over: str = ""

    @property
    def is_numeric(self) -> bool:
        """Whether its cells are aligned to the right."""
        return self.kind in ("numbers", "marked")


def columns(words: Sequence[str], numbers: Sequence[str]) -> list[Column]:
    """Columns of words, followed by columns of numbers."""
    return [*map(Column, words), *(Column(title, "numbers") for title in numbers)]


@dataclass(frozen=True)
class Rows:
    """Rows under a heading that spans them; empty: none."""

    rows: Sequence[Row]
    heading: str = ""


@dataclass(frozen=True)
class Table:
    """A table; ``spaced`` rows have room between them, for cells of several lines."""

    columns: Sequence[Column]
    groups: Sequence[Rows]
    title: str = ""
    caption: str = ""
    spaced: bool = False


def columns_in_words(table: Table) -> list[int]:
    """The columns in which something can be read: a mark alone is for pages."""
    rows = [row for group in table.groups for row in group.rows]
    return [
        place
        for place in range(len(table.columns))
        if not rows or any(cell_of(row[place]).lines for row in rows)
    ]


def table(columns: Sequence[Column], rows: Sequence[Row], title: str = "", caption: str = "") -> Table:
    """A table without headings between its rows."""
    return Table(columns, [Rows(rows)], title, caption)


Block = Heading | Sentence | Passage | Facts | Listing | ColouredInput | Drawing | Table
Document = Sequence[Block]


def conclusion_blocks(sentences: Sequence[str]) -> list[Block]:
    """The first sentence as the title, the others below it."""
    first, *others = sentences
    return [Heading(first), *([Sentence(" ".join(others))] if others else [])]

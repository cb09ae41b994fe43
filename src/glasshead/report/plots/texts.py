"""Explained texts, each word on the colour of its number."""

import re
import textwrap
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, Normalize, to_hex
from matplotlib.patches import Rectangle
from matplotlib.transforms import ScaledTranslation, Transform

from glasshead.escaping import visible
from glasshead.report.colours import GROUNDS, PAPER, STRONGEST, Colour, Meaning, meaning
from glasshead.report.figure import ColourBar, Figure, Ink, LegendEntry, Panel
from glasshead.report.figure_file import SMALL_LETTER, SMALL_LINE
from glasshead.report.fonts import drawable, is_right_to_left, sides_of, visual_order, width_in_points
from glasshead.report.plot_registry import plot
from glasshead.report.text_spans import (
    ColouredSpan,
    coloured_spans,
    diverging,
    prediction,
    scales_of,
    score_name,
    undrawn,
)
from glasshead.results import Attribution, Attributions

TEXTS, LINES = 10, 40
"""Texts of a picture, and lines of each."""
WIDTH, LINE, SIZE = 6.8, 0.25, 10.5
"""Inches of a line and from line to line, and points of its letters."""
HEADING, SMALL = 0.24, 8.5
"""The same of what stands above each text."""
EMPTY = "(empty text)"
HATCH = (0.2, 0.2, 0.2, 0.3)


JOINER = "\u200d"
"""Lets a letter have the form that it has next to the next one."""
RIGHT_TO_LEFT = "\u200f"


@dataclass(frozen=True)
class Piece:
    """Letters that are drawn at once, how wide they are, in inches, and what shapes them without being
    seen."""

    width: float
    letters: str
    span: ColouredSpan
    before: str = ""
    after: str = ""


@dataclass(frozen=True)
class Word:
    """Letters that stand in one place: the line, where they begin and how wide they are, in inches; and what
    shapes them without being seen."""

    line: int
    left: float
    width: float
    letters: str
    span: ColouredSpan
    before: str = ""
    after: str = ""


@plot("texts", Attributions, drawn_by="explain")
def texts(attributions: Attributions) -> Figure:
    """Each text with its words on the colour of what they speak for."""
    shown = attributions.attributions[:TEXTS]
    scales = scales_of(shown)
    scale = scales[0] if len(set(scales)) == 1 else 1.0
    headings = [heading(attribution) for attribution in shown]
    alike = len(set(headings)) == 1
    layouts = [list(words_in_lines(*one)) for one in zip(shown, scales, strict=True)]
    panels = [
        text_panel(attribution, layout, "" if alike else title)
        for attribution, layout, title in zip(shown, layouts, headings, strict=True)
    ]
    signed = any(diverging(attribution) for attribution in shown)
    ends: list[Meaning | None] = ["against", None, "for"] if signed else [None, "size"]
    shades = LinearSegmentedColormap.from_list("heat", [on_paper(end) for end in ends])
    norm = Normalize(-scale if signed else 0.0, scale)
    compared = "" if len(set(scales)) == 1 else ", relative to the largest by its method"
    bar = ColourBar(key_words(shown) + compared, range(len(panels)), norm, shades, 0.16)
    doubts = {word.span.doubt for layout in layouts for word in layout}
    legend = [entry for doubt, entry in DOUBTS.items() if doubt in doubts]
    caption = " ".join(
        f"{remark[:1].upper()}{remark[1:]}." for remark in omission_remarks(attributions, layouts)
    )
    title = headings[0] if alike else "What each word supports"
    return Figure(title, panels, caption, legend, across=1, colour_bars=[bar])


DOUBTS = {
    "maybe": LegendEntry("--muted", "may weigh nothing", "hatched"),
    "unknown": LegendEntry("--muted", "range not known", "dotted"),
}


def heading(attribution: Attribution) -> str:
    """The class that is explained, and how."""
    side = f"a higher {attribution.target}" if attribution.rates else attribution.target
    words = f"Words for and against {side}" if diverging(attribution) else "How much each word matters"
    return f"{words}, method {attribution.method}"


def key_words(shown: tuple[Attribution, ...]) -> str:
    """What the colours mean."""
    names = {
        score_name(each) if each.contributions is None or each.intervals is not None else "contribution"
        for each in shown
    }
    name = names.pop() if len(names) == 1 else "number"
    sides = {f"a higher {each.target}" if each.rates else each.target for each in shown}
    side = sides.pop() if len(sides) == 1 else "the class in the heading"
    if any(map(diverging, shown)):
        return f"{name}: blue speaks against {side}, red for it"
    return f"{name}: the darker, the more it matters"


def omission_remarks(attributions: Attributions, layouts: list[list[Word]]) -> list[str]:
    """What is not in the picture, and the remarks."""
    hidden = dict.fromkeys(filter(None, map(undrawn, attributions.attributions[:TEXTS])))
    remarks = [*attributions.remarks, *hidden]
    if len(attributions) > TEXTS:
        remarks.insert(0, f"{len(attributions) - TEXTS} more texts are left out here; a page (.html) has all")
    cut = [rank + 1 for rank, layout in enumerate(layouts) if layout and layout[-1].line >= LINES]
    if cut:
        numbers = ", ".join(map(str, cut))
        remarks.insert(0, f"only the first {LINES} lines of text {numbers} are drawn; a page (.html) has all")
    return [remark.rstrip(".") for remark in remarks]


def text_panel(attribution: Attribution, layout: list[Word], title: str) -> Panel:
    """One text below what was predicted; ``title`` says what is explained where that is not one thing."""
    words = [word for word in layout if word.line < LINES]
    lines = 1 + max((word.line for word in words), default=0)

    def draw(axes: Axes, ink: Ink) -> None:
        axes.set_axis_off()
        # Inches to the right of, and below, the upper left corner.
        on_axes: Any = axes
        inches = on_axes.figure.dpi_scale_trans
        place = inches + ScaledTranslation(0.0, 1.0, on_axes.transAxes)
        for number, said in enumerate(above):
            text = axes.text(
                0.0, -0.15 - SMALL_LINE * number, ink.text(said), transform=place, fontsize=SMALL,
                color=ink("--muted"),
            )  # fmt: skip
            text.set_in_layout(False)
        place = (
            inches + ScaledTranslation(0.0, -more, inches) + ScaledTranslation(0.0, 1.0, on_axes.transAxes)
        )
        for word in words:
            draw_word(axes, ink, word, place, diverging(attribution))
        if not words:
            axes.text(
                0.0, -HEADING - 0.66 * LINE, EMPTY, transform=place, fontsize=SIZE, color=ink("--muted")
            )

    said = f"{title}: {prediction(attribution)}" if title else prediction(attribution)
    above = textwrap.wrap(said, int(WIDTH / SMALL_LETTER))
    more = SMALL_LINE * (len(above) - 1)
    size = WIDTH + 0.3, HEADING + more + LINE * lines + 0.16
    return Panel("", ("", ""), draw, f"{said}: {attribution.text}", x="own", grid=False, size=size)


def draw_word(axes: Axes, ink: Ink, word: Word, place: Transform, signed: bool) -> None:
    """Letters on their colour."""
    top = -HEADING - LINE * word.line
    if word.span.token is not None:
        strength = STRONGEST * abs(word.span.share)
        box = Rectangle(
            (word.left, top - 0.86 * LINE), word.width, 0.8 * LINE, transform=place, linewidth=0,
            facecolor=(*rgb(GROUNDS[meaning(word.span.share, signed)]), strength), clip_on=False,
            edgecolor=HATCH, hatch="////" if word.span.doubt == "maybe" else None,
        )  # fmt: skip
        box.set_in_layout(False)
        axes.add_patch(box)
        if word.span.doubt == "unknown":
            ends = [word.left, word.left + word.width]
            height = top - 0.86 * LINE
            (line,) = axes.plot(
                ends,
                [height, height],
                ":",
                color=ink("--muted"),
                linewidth=1.2,
                transform=place,
                clip_on=False,
            )
            line.set_in_layout(False)
    letters = f"{word.before}{ink.text(word.letters)}{word.after}"
    text = axes.text(
        word.left, top - 0.66 * LINE, letters, transform=place, fontsize=SIZE, color=ink("--ink"),
    )  # fmt: skip
    text.set_in_layout(False)


def words_in_lines(attribution: Attribution, scale: float) -> Iterator[Word]:
    """The text in lines that are not wider than the picture; one line more than there is room for, at most. A
    text that runs to the left stands at the right."""
    text = visible(attribution.text)
    leftwards = bool(is_right_to_left(text))
    for line, pieces in enumerate(lines_of(attribution, text, scale)):
        while pieces and pieces[-1].letters.isspace():
            pieces.pop()
        left = max(WIDTH - sum(piece.width for piece in pieces), 0.0) if leftwards else 0.0
        sides = sides_of([piece.letters for piece in pieces], leftwards)
        for at in visual_order(sides, leftwards):
            piece = pieces[at]
            # Brackets among letters that run to the left are mirrored.
            before = piece.before or RIGHT_TO_LEFT * (sides[at] and is_right_to_left(piece.letters) is None)
            yield Word(line, left, piece.width, piece.letters, piece.span, before, piece.after)
            left += piece.width


def lines_of(attribution: Attribution, text: str, scale: float) -> Iterator[list[Piece]]:
    """The pieces of each line in the order of reading."""
    pieces, used, count = list[Piece](), 0.0, 0
    for piece in pieces_of(attribution, text, scale):
        if piece.letters == "\n" or (pieces and used + piece.width > WIDTH):
            yield pieces
            pieces, used, count = [], 0.0, count + 1
            if count > LINES:
                return
        if piece.letters == "\n" or (piece.letters.isspace() and not pieces):
            continue
        for part in parts_of(piece):  # a word that is wider than a line
            if pieces and used + part.width > WIDTH:
                yield pieces
                pieces, used, count = [], 0.0, count + 1
                if count > LINES:
                    return
            pieces.append(part)
            used += part.width
    yield pieces


def pieces_of(attribution: Attribution, text: str, scale: float) -> Iterator[Piece]:
    """Line feeds, blanks, and the words of each token; a word that goes on in the next is joined to it."""
    for span in coloured_spans(attribution, scale):
        for found in re.finditer(r"\n|[^\S\n]+|\S+", text[span.start : span.end]):
            start, end = span.start + found.start(), span.start + found.end()
            joined = bool(is_right_to_left(found[0]))
            before, after = (
                JOINER if joined and is_right_to_left(text[at : at + 1]) else ""
                for at in (start - 1 if start else len(text), end)
            )
            yield Piece(width_of(found[0], before, after), found[0], span, before, after)


def parts_of(piece: Piece) -> Iterator[Piece]:
    """A piece, cut into parts that fit into a line."""
    if piece.width <= WIDTH:
        yield piece
        return
    letters = piece.letters
    while len(letters) > 1 and width_of(letters) > WIDTH:
        lengths = range(1, len(letters))
        fits = max(bisect_right(lengths, WIDTH, key=lambda length: width_of(letters[:length])), 1)
        yield Piece(width_of(letters[:fits]), letters[:fits], piece.span, piece.before)
        letters = letters[fits:]
    yield Piece(width_of(letters), letters, piece.span, "", piece.after)


def width_of(letters: str, before: str = "", after: str = "") -> float:
    """Inches, between what shapes the letters."""
    return width_in_points(f"{before}{drawable(letters)}{after}", SIZE) / 72


def rgb(colour: Colour) -> tuple[float, float, float]:
    """The same between 0 and 1."""
    red, green, blue = colour
    return red / 255, green / 255, blue / 255


def on_paper(end: Meaning | None) -> str:
    """The strongest colour of a meaning as it looks on white; white itself for none."""
    if end is None:
        return PAPER
    red, green, blue = (1 - STRONGEST * (1 - part) for part in rgb(GROUNDS[end]))
    return to_hex((red, green, blue))

"""A text as HTML, each token coloured by its number: for a page with a style sheet, and for a notebook."""

from collections.abc import Callable

from markupsafe import Markup, escape

from glasshead.escaping import visible
from glasshead.report.colours import GROUNDS, MARKS, STRONGEST, meaning
from glasshead.report.html.picture_heatmap import picture_heatmap
from glasshead.report.text_spans import (
    ColouredSpan,
    coloured_spans,
    diverging,
    strongest_tokens,
    token_description,
)
from glasshead.report.weight_intervals import summary_of_ranges
from glasshead.results import Attribution

Mark = Callable[[ColouredSpan, str, str], Markup]
"""A token's span, what it says when pointed at, and its letters, as an element."""
INLINE = {
    "": "border-radius:3px;padding:.12em 0;color:inherit;background-color:rgba({colour},{opacity:.2f})",
    "maybe": ";background-image:repeating-linear-gradient(45deg,transparent 0 4px,"
    "rgba(127,127,127,.35) 4px 5px)",
    "unknown": ";border-bottom:2px dotted rgba(127,127,127,.8)",
}
"""The styles of a token where no style sheet is, and what each doubt adds."""


def text_heatmap(attribution: Attribution, scale: float) -> Markup:
    """The whole text for a page, each token coloured by its number, as `colours` says.

    Where weights have ranges, a token that may be zero is hatched, and each carries next to the strength of
    its weight (``--a``) that of the least it can have (``--least``), for the page's switch. For an image the
    patches are coloured.
    """
    if attribution.boxes is not None and not attribution.has_words:
        return picture_heatmap(attribution, scale)
    marks = highlight_tokens(attribution, scale, page_mark(attribution))
    if not marks:
        return Markup('<p class="text void">(empty text)</p>')
    spoken = [f"Strongest tokens: {top}."] if (top := strongest_tokens(attribution)) else []
    if attribution.intervals is not None:
        spoken.append(f"{summary_of_ranges(attribution)}.")
    aloud = Markup('<span class="heard"> {}</span>').format(" ".join(spoken)) if spoken else Markup("")
    words = Markup('<p class="text" dir="auto">{}{}</p>').format(marks, aloud)
    return words if attribution.boxes is None else picture_heatmap(attribution, scale) + words


def notebook_heatmap(attribution: Attribution, scale: float) -> Markup:
    """The same with its styles on each token, for a notebook, on whatever paper it has."""
    if attribution.boxes is not None and not attribution.has_words:
        return picture_heatmap(attribution, scale)
    words = highlight_tokens(attribution, scale, inline_mark(attribution)) or Markup("(empty text)")
    if attribution.boxes is None:
        return words
    return Markup("{}<div>{}</div>").format(picture_heatmap(attribution, scale), words)


def highlight_tokens(attribution: Attribution, scale: float, mark: Mark) -> Markup:
    """The whole text, escaped, its tokens marked."""
    text = visible(attribution.text)
    return Markup("").join(
        escape(text[span.start : span.end])
        if not span.tokens
        else mark(span, token_description(attribution, *span.tokens), text[span.start : span.end])
        for span in coloured_spans(attribution, scale)
    )


def page_mark(attribution: Attribution) -> Mark:
    """Elements in the classes of the page; the first one can be reached by the keyboard."""
    focus, signed = iter("0"), diverging(attribution)

    def mark(span: ColouredSpan, tip: str, letters: str) -> Markup:
        kind = MARKS[meaning(span.share, signed)] if span.share else "z"
        style = f"--a:{abs(span.share):.2f}"
        if attribution.intervals is not None:
            style += f";--least:{abs(span.least):.2f}"
        element = Markup('<mark class="{}" style="{}" tabindex="{}" data-tip="{}">{}</mark>')
        return element.format(f"{kind} {span.doubt}".rstrip(), style, next(focus, "-1"), tip, letters)

    return mark


def inline_mark(attribution: Attribution) -> Mark:
    """Elements with their own style; numbers stand in their titles."""
    signed = diverging(attribution)

    def mark(span: ColouredSpan, tip: str, letters: str) -> Markup:
        colour = ",".join(map(str, GROUNDS[meaning(span.share, signed)]))
        style = INLINE[""].format(colour=colour, opacity=STRONGEST * abs(span.share))
        style += INLINE[span.doubt] if span.doubt else ""
        return Markup('<span style="{}" title="{}">{}</span>').format(style, tip, letters)

    return mark

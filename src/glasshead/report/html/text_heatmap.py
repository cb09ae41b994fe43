"""A text as HTML, each token coloured by its number."""

from markupsafe import Markup, escape

from glasshead.escaping import visible
from glasshead.report.text_spans import normalised_score, strongest_tokens, text_spans, token_description
from glasshead.report.weight_intervals import summary_of_ranges
from glasshead.results import Attribution


def text_heatmap(attribution: Attribution, scale: float) -> Markup:
    """The whole text, each token coloured by its number; red is positive, blue is negative.

    Where weights have ranges, a token that may be zero is hatched, and each carries beside the strength of
    its weight (``--a``) that of the least it can have (``--least``), for the page's switch.
    """
    visible_text = visible(attribution.text)
    pieces, focus = [], "0"
    for span in text_spans(attribution):
        piece = visible_text[span.start : span.end]
        if span.token is None:
            pieces.append(escape(piece))
            continue
        share = normalised_score(attribution.colours[span.token], scale)
        kind = "p" if share > 0 else "n" if share < 0 else "z"
        style = f"--a:{abs(share):.2f}"
        if attribution.intervals is not None:
            style += f";--least:{abs(normalised_score(attribution.least(span.token), scale)):.2f}"
            kind += f" {uncertainty_class(attribution, span.token)}".rstrip()
        mark = Markup('<mark class="{}" style="{}" tabindex="{}" data-tip="{}">{}</mark>')
        tip = token_description(attribution, span.token)
        pieces.append(mark.format(kind, style, focus, tip, piece))
        focus = "-1"
    if not pieces:
        return Markup('<p class="text void">(empty text)</p>')
    spoken = [f"Strongest tokens: {top}."] if (top := strongest_tokens(attribution)) else []
    if attribution.intervals is not None:
        spoken.append(f"{summary_of_ranges(attribution)}.")
    aloud = Markup('<span class="heard"> {}</span>').format(" ".join(spoken)) if spoken else Markup("")
    return Markup('<p class="text" dir="auto">{}{}</p>').format(Markup("").join(pieces), aloud)


def uncertainty_class(attribution: Attribution, token: int) -> str:
    """The class of a token whose weight may be zero or whose range is not known; empty for any other."""
    if attribution.interval(token) is None:
        return "unknown"
    return "maybe" if attribution.may_be_zero(token) else ""

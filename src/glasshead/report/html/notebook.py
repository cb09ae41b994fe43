"""Coloured texts for a notebook: HTML whose styles stand on each element, so that nothing leaks.

Colours are laid over whatever paper the notebook has and letters keep their own: light and dark need no
switch, and no script runs.
"""

from collections.abc import Sequence

from markupsafe import Markup, escape

from glasshead.escaping import visible
from glasshead.report.html.notebook_table import BOX, QUIET
from glasshead.report.text_spans import (
    normalised_score,
    prediction,
    shared_scale,
    strongest_tokens,
    text_spans,
    token_description,
)
from glasshead.results import Attribution, Attributions

POSITIVE, NEGATIVE = "214,69,65", "43,108,196"
STRONGEST = 0.62
"""How opaque the strongest colour is: letters stay readable on it, in light and dark."""
SHOWN = 25
"""Texts that a notebook shows; the others are named."""
MARK = "border-radius:3px;padding:.12em 0;color:inherit;background-color:rgba({colour},{opacity:.2f})"
HATCH = ";background-image:repeating-linear-gradient(45deg,transparent 0 4px,rgba(127,127,127,.35) 4px 5px)"


def attributions_fragment(attributions: Attributions) -> str:
    """All texts on one scale; what holds for all of them stands once, below."""
    shown = attributions[:SHOWN]
    scale = shared_scale(shown)
    about = [about_method(attribution) for attribution in shown]
    alike = len(set(about)) == 1
    parts = [text_fragment(a, scale, "" if alike else words) for a, words in zip(shown, about, strict=True)]
    notes = [about[0]] if alike else []
    notes += [f"text {number + 1} is left out: {reason}" for number, reason in attributions.skipped]
    notes += attributions.notes
    if len(attributions) > SHOWN:
        notes.append(f"{len(attributions) - SHOWN} more texts are not shown: save('texts.html') has them all")
    parts += [note_fragment(note) for note in notes]
    return str(Markup("").join(parts))


def attribution_fragment(attribution: Attribution) -> str:
    """One text on a scale of its own."""
    return str(text_fragment(attribution, shared_scale([attribution]), about_method(attribution)))


def text_fragment(attribution: Attribution, scale: float, about: str) -> Markup:
    """The coloured text, and below it what was predicted, which tokens matter most, and ``about`` it."""
    strongest = strongest_tokens(attribution)
    words = [prediction(attribution), f"strongest: {strongest}" if strongest else "", about]
    return Markup(
        '<div style="{}"><div dir="auto" style="white-space:pre-wrap">{}</div><div style="{}">{}</div></div>'
    ).format(BOX, marked_text(attribution, scale), QUIET, visible(" · ".join(filter(None, words))))


def marked_text(attribution: Attribution, scale: float) -> Markup:
    """The text with a colour under each token; numbers stand in its title."""
    text = visible(attribution.text)
    pieces = []
    for span in text_spans(attribution):
        piece = escape(text[span.start : span.end])
        if span.token is None:
            pieces.append(piece)
            continue
        share = normalised_score(attribution.colours[span.token], scale)
        style = MARK.format(colour=POSITIVE if share >= 0 else NEGATIVE, opacity=STRONGEST * abs(share))
        if attribution.intervals is not None and attribution.may_be_zero(span.token):
            style += HATCH
        tip = token_description(attribution, span.token)
        pieces.append(Markup('<span style="{}" title="{}">{}</span>').format(style, tip, piece))
    return Markup("").join(pieces) if pieces else Markup("(empty text)")


def about_method(attribution: Attribution) -> str:
    """The method, what it read, and what the colours mean, in words."""
    about = [f"method {attribution.method}"]
    if attribution.reading is not None:
        about.append(f"read: {attribution.reading}")
    if attribution.intervals is not None:
        about.append("colour: the weight; hatched: may weigh nothing")
    elif attribution.signed or attribution.contributions is not None:
        side = "a higher rating" if attribution.rates else attribution.target
        about.append(f"red speaks for {side}, blue against")
    else:
        about.append("the darker, the more it matters")
    return " · ".join(about)


def note_fragment(note: str) -> Markup:
    """A sentence below the texts."""
    return Markup('<div style="{}">{}</div>').format(f"{BOX};{QUIET}", visible(note))


def attributions_page(attributions: Sequence[Attribution]) -> str:
    """The page of one or several explained texts."""
    from glasshead.report.html.attribution_page import attribution_page

    return attribution_page(list(attributions))


def single_page(attribution: Attribution) -> str:
    """The page of one explained text."""
    return attributions_page([attribution])

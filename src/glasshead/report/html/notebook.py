"""Coloured texts for a notebook: HTML whose styles stand on each element, so that nothing leaks.

Colours are laid over whatever paper the notebook has and letters keep their own: light and dark need no
switch, and no script runs.
"""

from markupsafe import Markup

from glasshead.escaping import visible
from glasshead.report.html.environment import caption
from glasshead.report.html.notebook_table import BOX, QUIET
from glasshead.report.html.text_heatmap import notebook_heatmap
from glasshead.report.text_spans import (
    computation,
    prediction,
    scale_words,
    shared_scale,
    sink_in_words,
    strongest_tokens,
)
from glasshead.results import Attribution, Attributions

SHOWN = 25
"""Texts that a notebook shows; the others are named."""


def attributions_fragment(attributions: Attributions) -> str:
    """All texts on one scale; what holds for all of them stands once, below."""
    shown = attributions[:SHOWN]
    scale = shared_scale(shown)
    about = [about_method(attribution) for attribution in shown]
    alike = len(set(about)) == 1
    parts = [text_fragment(a, scale, "" if alike else words) for a, words in zip(shown, about, strict=True)]
    notes = [about[0]] if alike else []
    notes += attributions.remarks
    if len(attributions) > SHOWN:
        inputs = attributions[0].nouns.texts
        notes.append(
            f"{len(attributions) - SHOWN} more {inputs} are not shown: save('{inputs}.html') has them all"
        )
    parts += [note_fragment(note) for note in notes]
    return str(Markup("").join(parts))


def attribution_fragment(attribution: Attribution) -> str:
    """One text on a scale of its own."""
    return str(text_fragment(attribution, shared_scale([attribution]), about_method(attribution)))


def text_fragment(attribution: Attribution, scale: float, about: str) -> Markup:
    """The coloured text, and below it what was predicted, which tokens matter most, and ``about`` it."""
    strongest = strongest_tokens(attribution)
    words = [
        prediction(attribution),
        f"strongest: {strongest}" if strongest else "",
        scale_words(attribution, scale),
        about,
    ]
    return Markup(
        '<div style="{}"><div dir="auto" style="white-space:pre-wrap">{}</div><div style="{}">{}</div></div>'
    ).format(BOX, notebook_heatmap(attribution, scale), QUIET, caption(" · ".join(filter(None, words))))


def about_method(attribution: Attribution) -> str:
    """The method, what it read, and what the colours mean, in words."""
    about = [f"method {attribution.method}"]
    if attribution.reading is not None:
        about.append(f"attention read at {attribution.reading}")
    if attribution.intervals is not None:
        unknown = any(ends is None for ends in attribution.intervals)
        about.append("colour: the weight; hatched: may weigh nothing" + "; dotted: range not known" * unknown)
    elif attribution.signed or attribution.contributions is not None:
        side = "a higher rating" if attribution.rates else attribution.target
        about.append(f"red speaks for {side}, blue against")
    else:
        about.append("the darker, the more it matters")
    if computed := computation(attribution):
        about.append(f"computed with {computed}")
    if sink := sink_in_words(attribution):
        about.append(sink)
    return " · ".join(about)


def note_fragment(note: str) -> Markup:
    """A sentence below the texts."""
    return Markup('<div style="{}">{}</div>').format(f"{BOX};{QUIET}", visible(note))

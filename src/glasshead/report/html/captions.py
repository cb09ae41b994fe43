"""Sentences on a page, made harmless."""

import re

from markupsafe import Markup, escape

from glasshead.escaping import FROM_RIGHT_TO_LEFT, visible


def caption(text: str) -> Markup:
    """A sentence in which words from right to left are isolated, so that they turn round no number."""
    safe = str(escape(visible(str(text))))
    return Markup(FROM_RIGHT_TO_LEFT.sub(r"<bdi>\g<0></bdi>", safe))


def format_options(text: str) -> Markup:
    """A sentence with options that do not break behind their hyphens, and indices of letters such as h_e."""
    safe = str(escape(visible(text)))
    unbroken = re.sub(r"--[a-z][a-z-]*", r'<span class="unbroken">\g<0></span>', safe)
    return Markup(re.sub(r"(?<=[hU])_([a-z])(?![a-z])", r"<sub>\1</sub>", unbroken))

"""The templates of the pages, which escape whatever comes from outside."""

import re
from functools import cache, partial

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from glasshead.escaping import FROM_RIGHT_TO_LEFT, visible
from glasshead.nouns import TEXTS, Nouns
from glasshead.report.colours import DARK, LIGHT, PRINT, css
from glasshead.report.findings_in_words import bounds, estimate, nulls, over_nulls
from glasshead.report.html.interval_marks import (
    axis,
    difference_mark,
    finding_mark,
    null_mark,
    seeds_mark,
)
from glasshead.report.labels import sentence
from glasshead.report.number_format import interval, number


@cache
def environment(nouns: Nouns = TEXTS) -> Environment:
    """Templates of this package, which name inputs by ``nouns`` and escape whatever comes from outside."""
    jinja = Environment(
        loader=PackageLoader("glasshead.report.html"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    jinja.globals |= {
        "nouns": nouns,
        "colours": {"light": Markup(css(LIGHT)), "dark": Markup(css(DARK)), "print": Markup(css(PRINT))},
    }
    jinja.filters |= {
        "sentence": sentence,
        "number": number,
        "interval": interval,
        "nulls": nulls,
        "estimate": estimate,
        "bounds": bounds,
        "over_nulls": partial(over_nulls, nouns=nouns),
        "visible": visible,
        "caption": caption,
        "format_options": format_options,
        "finding_mark": finding_mark,
        "difference_mark": difference_mark,
        "seeds_mark": seeds_mark,
        "null_mark": null_mark,
        "axis": axis,
    }
    return jinja


def page_part(name: str) -> str:
    """The style of all pages (style.css) or their keys (keys.js), for a page that is made elsewhere."""
    return environment().get_template(name).render()


def caption(text: str) -> Markup:
    """A sentence in which words from right to left are isolated, so that they turn round no number."""
    safe = str(escape(visible(str(text))))
    return Markup(FROM_RIGHT_TO_LEFT.sub(r"<bdi>\g<0></bdi>", safe))


def format_options(text: str) -> Markup:
    """A sentence with options that do not break behind their hyphens, and indices of letters such as h_e."""
    safe = str(escape(visible(text)))
    unbroken = re.sub(r"--[a-z][a-z-]*", r'<span class="unbroken">\g<0></span>', safe)
    return Markup(re.sub(r"(?<=[hU])_([a-z])(?![a-z])", r"<sub>\1</sub>", unbroken))

"""The templates of the pages, which escape whatever comes from outside."""

import re
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from glasshead.escaping import visible
from glasshead.report.findings_in_words import nulls, over_nulls
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
def environment() -> Environment:
    """Templates of this package, escaping whatever comes from outside."""
    jinja = Environment(
        loader=PackageLoader("glasshead.report.html"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    jinja.filters |= {
        "sentence": sentence,
        "number": number,
        "interval": interval,
        "nulls": nulls,
        "over_nulls": over_nulls,
        "visible": visible,
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


def format_options(text: str) -> Markup:
    """A sentence with options that do not break behind their hyphens, and indices of letters such as h_e."""
    safe = str(escape(visible(text)))
    unbroken = re.sub(r"--[a-z][a-z-]*", r'<span class="unbroken">\g<0></span>', safe)
    return Markup(re.sub(r"(?<=[hU])_([a-z])(?![a-z])", r"<sub>\1</sub>", unbroken))

"""The templates of the pages, which escape whatever comes from outside."""

import re
from functools import cache
from typing import cast

from jinja2 import Environment, PackageLoader, StrictUndefined
from jinja2.ext import Extension
from markupsafe import Markup, escape

from glasshead.escaping import FROM_RIGHT_TO_LEFT, visible
from glasshead.nouns import TEXTS, Nouns
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

SCRIPT = "{% block script %}"
NOT_SAID = re.compile(rf"({SCRIPT}.*?{{% endblock %}}|\{{#.*?#\}}|\{{\{{.*?\}}\}}|\{{%.*?%\}})", re.DOTALL)
STRING = re.compile(r'"[^"]*"')
SPOKEN = re.compile(r'(?<=aria-label=")[^"]*|(?<=title=")[^"]*|(?<=data-hint=")[^"]*')


class Reworded(Extension):
    """What templates say of texts is said of what was read: their own words, and nothing that is put in."""

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
        nouns = cast(Nouns, self.environment.globals["nouns"])
        return reword_template(source, nouns) if (name or "").endswith(".html.j2") else source


def reword_template(source: str, nouns: Nouns) -> str:
    """A template with the words of its own between tags, in spoken attributes and in sentences of its
    expressions about other inputs than texts."""
    if nouns == TEXTS:
        return source

    def reword_string(match: re.Match[str]) -> str:
        return nouns.reword(match[0]) if " " in match[0] else match[0]  # others are names

    parts, in_tag = [], False
    for place, part in enumerate(NOT_SAID.split(source)):
        if place % 2:
            parts.append(part if part.startswith(SCRIPT) else STRING.sub(reword_string, part))
            continue
        for piece in re.split(r"(?=<)|(?<=>)", part):
            in_tag = in_tag or piece.startswith("<")
            reword = (
                SPOKEN.sub(lambda match: nouns.reword(match[0]), piece) if in_tag else nouns.reword(piece)
            )
            parts.append(reword)
            in_tag = in_tag and not piece.endswith(">")
    return "".join(parts)


@cache
def environment(nouns: Nouns = TEXTS) -> Environment:
    """Templates of this package in words about such inputs, escaping whatever comes from outside."""
    jinja = Environment(
        loader=PackageLoader("glasshead.report.html"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    jinja.globals["nouns"] = nouns
    jinja.add_extension(Reworded)
    jinja.filters |= {
        "sentence": sentence,
        "number": number,
        "interval": interval,
        "nulls": nulls,
        "estimate": estimate,
        "bounds": bounds,
        "over_nulls": lambda finding: nouns.reword(over_nulls(finding)),
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

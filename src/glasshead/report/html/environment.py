"""The templates of the pages, which escape whatever comes from outside."""

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from glasshead.escaping import visible
from glasshead.nouns import TEXTS, Nouns
from glasshead.report.colours import DARK, LIGHT, PRINT, css
from glasshead.report.documents.audits import slices_table
from glasshead.report.html.captions import caption, format_options
from glasshead.report.html.page_view import page_table
from glasshead.report.number_format import number
from glasshead.report.run_facts import facts_table
from glasshead.wording import sentence


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
        "visible": visible,
        "caption": caption,
        "table": page_table,
        "slices": slices_table,
        "facts_table": facts_table,
        "format_options": format_options,
    }
    return jinja


def page_part(name: str) -> str:
    """The style of all pages (style.css) or their keyboard shortcuts (keys.js), for a page made elsewhere."""
    return environment().get_template(name).render()

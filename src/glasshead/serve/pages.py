"""Pages that extensions add to the served one: a link, a section, its script, and the addresses it asks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from starlette.responses import HTMLResponse, Response

from glasshead.registry import Registry
from glasshead.serve.catalogue import Catalogue
from glasshead.serve.refusals import policy_of

PAGE = Path(__file__).parent / "page"


@dataclass(frozen=True)
class Host:
    """The resources of a page: the ``app`` to which it adds addresses, the served models and audits, and
    ``answer``.

    ``answer`` runs work in a thread, one at a time, and ends it when the client leaves or it takes longer
    than ``seconds``.
    """

    app: FastAPI
    catalogue: Catalogue
    answer: Callable[[Request, Callable[[], Any]], Awaitable[Any]]
    seconds: float


@dataclass(frozen=True)
class Page:
    """A page, registered by the name in its address.

    ``title`` is the text of its link. ``folder`` holds ``section.html``, which is one
    ``<section data-view=NAME data-script=/page/NAME/page.js hidden>``; ``page.js``, whose default export
    draws the section; and ``page.css``. ``add_routes`` adds the addresses that the script requests.
    """

    title: str
    folder: Path
    add_routes: Callable[[Host], None]


PAGES: Registry[Page] = Registry("page", "pages")


@cache
def index_page() -> str:
    """The served page with the pages of extensions."""
    html = (PAGE / "index.html").read_text(encoding="utf-8")
    style = '<link rel="stylesheet" href="/page/{name}/page.css">\n'
    link = '<a href="#{name}" data-view="{name}">{title}</a>\n'
    parts = {
        "styles of": "".join(style.format(name=name) for name in PAGES),
        "links to": "".join(link.format(name=name, title=escape(page.title)) for name, page in PAGES.items()),
        "sections of": "\n".join(
            (page.folder / "section.html").read_text("utf-8") for page in PAGES.values()
        ),
    }
    for part, content in parts.items():
        html = html.replace(f"<!-- {part} extensions -->\n", content)
    return html


def as_page(page: str) -> Response:
    """A page of the report, with the permissions that it has as a file and no others."""
    return HTMLResponse(page, headers={"Content-Security-Policy": policy_of(page)})

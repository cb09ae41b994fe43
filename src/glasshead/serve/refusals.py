"""What is answered instead: one sentence, in JSON to a program, on a small page where a person looks."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping

from markupsafe import Markup
from starlette.responses import HTMLResponse, JSONResponse, Response

from glasshead.errors import shorten
from glasshead.escaping import sendable, visible
from glasshead.report import page_part


def refusal(
    path: str, accepts: str, status: int, sentence: str, headers: Mapping[str, str] | None = None
) -> Response:
    """Why something is not answered; ``accepts`` is the header by which browsers ask for a page."""
    if path.startswith("/view/") or "text/html" in accepts:
        page = refusal_page(sentence)
        return HTMLResponse(page, status, {"Content-Security-Policy": policy_of(page)} | dict(headers or {}))
    return problem(status, sentence, headers)


def problem(status: int, sentence: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """The refusal for programs."""
    return JSONResponse({"error": sendable(shorten(sentence))}, status, headers)


def refusal_page(sentence: str) -> str:
    """A sentence as a page."""
    body = Markup('<main><p class="caution" role="alert">{}</p></main>').format(visible(shorten(sentence)))
    head = Markup("<title>Glasshead</title><style>{}</style>").format(Markup(page_part("style.css")))
    viewport = '<meta name="viewport" content="width=device-width, initial-scale=1">'
    return f'<!doctype html><html lang="en"><meta charset="utf-8">{viewport}{head}<body>{body}</body></html>'


def policy_of(page: str) -> str:
    """The policy of a page of `glasshead.report`, which has its style and script in itself. The script with
    which it ends, and which begins as that of every page does, may run; no others, and nothing is fetched."""
    script = page.rpartition("<script>")[2].partition("</script>")[0]
    scripts = "'none'"
    if script.startswith("\n" + page_part("keys.js")):
        scripts = f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
    return (
        f"default-src 'none'; script-src {scripts}; style-src 'unsafe-inline'; img-src data:; "
        "frame-ancestors 'self'; base-uri 'none'; form-action 'none'"
    )

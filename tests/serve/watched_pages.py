"""A page of the server in a browser, and everything that it should not do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SIZES = [("light", 1280), ("dark", 390)]
"""A desktop and a phone: colours do not depend on the width, nor the layout on the colours."""


@contextmanager
def watched(
    browser: Browser, address: str, path: str = "/", scheme: str = "light", width: int = 1280
) -> Iterator[Page]:
    """A page that fails its test on an error, a dialog, or a request to elsewhere; other addresses do not
    answer."""
    context = browser.new_context(
        color_scheme=scheme, viewport={"width": width, "height": 900}, accept_downloads=True,
        permissions=["clipboard-read", "clipboard-write"],
    )  # fmt: skip
    wrong: list[str] = []

    def look(page: Page) -> None:
        page.on("console", lambda one: wrong.append(one.text) if one.type == "error" else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("dialog", lambda dialog: (wrong.append(dialog.message), dialog.dismiss()))

    context.on("page", look)
    own = (address, f"blob:{address}", "data:", "about:")

    def route(handler) -> None:
        url = handler.request.url
        if url.startswith(own):
            handler.continue_()
        else:
            wrong.append(f"asked {url}")
            handler.abort()

    context.route("**/*", route)
    page = context.new_page()
    page.set_default_timeout(60_000)
    page.goto(address + path)
    try:
        yield page
        assert wrong == []
    finally:
        context.close()


def link(view: str, **values: object) -> str:
    """An address that restores a view."""
    return f"/#{view}?" + urlencode(values, quote_via=quote)

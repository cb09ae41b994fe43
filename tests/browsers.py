"""A real browser, and what is measured in its pages."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = Path("/usr/bin/chromium")
# The lowest contrast between the letters and the ground of any of the elements, over the page's colour.
CONTRAST = """selector => {
  const parse = c => c.match(/[\\d.]+/g).map(Number).concat(1).slice(0, 4);
  const linear = v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4;
  const light = c => [.2126, .7152, .0722].reduce((sum, part, i) => sum + part * linear(c[i] / 255), 0);
  const paper = parse(getComputedStyle(document.body).backgroundColor);
  let lowest = 99;
  for (const e of document.querySelectorAll(selector)) {
    const style = getComputedStyle(e), ground = parse(style.backgroundColor), ink = parse(style.color);
    const mixed = [0, 1, 2].map(i => ground[i] * ground[3] + paper[i] * (1 - ground[3]));
    const [a, b] = [light(mixed), light(ink.slice(0, 3))];
    lowest = Math.min(lowest, (Math.max(a, b) + .05) / (Math.min(a, b) + .05));
  }
  return lowest;
}"""
# The smallest letters as they are drawn, also within drawings that shrink or grow with the page.
SMALLEST = """() => {
  let least = 99;
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const e = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || !e.checkVisibility()) continue;
    if (e.closest("script, style, title, .heard")) continue;
    const svg = e.closest("svg"), size = parseFloat(getComputedStyle(e).fontSize);
    const scale = svg ? svg.getBoundingClientRect().width / svg.viewBox.baseVal.width : 1;
    least = Math.min(least, size * scale);
  }
  return least;
}"""
OPEN_ALL = "document.querySelectorAll('details').forEach(part => part.open = true)"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Debian's Chromium."""
    from playwright.sync_api import sync_playwright

    if not CHROMIUM.is_file() and not os.environ.get("CI"):
        pytest.skip(f"no browser at {CHROMIUM}: install Debian's chromium to run the tests of the page")
    with sync_playwright() as playwright:
        program = str(CHROMIUM)
        opened = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"], timeout=120_000)
        yield opened
        opened.close()


def opened(browser: Browser, address: str, scheme: str, width: int) -> tuple[Page, list[str]]:
    """A page, and what it will have said or asked of a network: nothing, if all is well."""
    page = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": 800})  # type: ignore[arg-type]
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: said.append(dialog.message))
    page.on("request", lambda request: said.append(request.url) if request.url.startswith("http") else None)
    page.goto(address)
    return page, said

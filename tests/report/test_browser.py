"""The page in a real browser: silent, readable in light and dark, at home on a phone, usable by keyboard."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from glasshead.report import render
from glasshead.results import AuditCard

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


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory, softmax: AuditCard, tanhmax: AuditCard) -> str:
    file = tmp_path_factory.mktemp("report") / "report.html"
    file.write_text(render([softmax, tanhmax]), encoding="utf-8")
    return file.as_uri()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if not CHROMIUM.is_file() and not os.environ.get("CI"):
        pytest.skip(f"no browser at {CHROMIUM}: install Debian's chromium to run the tests of the page")
    with sync_playwright() as playwright:
        program = str(CHROMIUM)
        opened = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"], timeout=120_000)
        yield opened
        opened.close()


def opened(browser: Browser, address: str, scheme: str, width: int) -> tuple[Page, list[str]]:
    page = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": 800})  # type: ignore[arg-type]
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: said.append(dialog.message))
    page.on("request", lambda request: said.append(request.url) if request.url.startswith("http") else None)
    page.goto(address)
    return page, said


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 390)])
def test_silent_readable_and_no_wider_than_the_window(
    browser: Browser, address: str, scheme: str, width: int
) -> None:
    page, said = opened(browser, address, scheme, width)
    for selector in ("mark.p", "mark.n", "p, td, th, h1, h2, h3, h4, a, summary, dd, dt, span, em, b"):
        assert page.evaluate(CONTRAST, selector) >= 4.5, selector
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(21, 23, 27)"
    assert dark == (scheme == "dark")
    assert said == []
    page.close()


def test_arrow_keys_walk_through_a_text(browser: Browser, address: str) -> None:
    page, said = opened(browser, address, "light", 1280)
    first = page.locator("p.text mark[tabindex='0']").first
    first.focus()
    page.keyboard.press("ArrowRight")
    focused = "document.activeElement"
    assert page.evaluate(f"{focused}.textContent") == "fine"
    assert "contribution" in page.evaluate(f"getComputedStyle({focused}, '::after').content")
    assert page.evaluate(f"{focused}.tabIndex") == 0
    page.keyboard.press("Escape")
    assert page.evaluate(f"{focused}.tagName") == "BODY"
    assert said == []
    page.close()

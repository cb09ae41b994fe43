"""Every view on a light desktop and a dark phone: readable, no wider than the window, nothing in the way."""

from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect
from processes import serving
from served_models import HEBREW, TEXT
from watched_pages import SIZES, link, watched

from browsers import CONTRAST, SMALLEST

pytestmark = pytest.mark.slow

LETTERS = (
    "p, td, th, h1, h2, h3, a, summary, span, b, label, legend, mark, button:enabled, select:enabled, li"
)
VIEWS = {
    "explain": (link("explain", model="planted", text=TEXT, intervals="true"), ".shown > .text mark"),
    "explain-tokens": (
        link("explain", model="pieces", text="unaffordable " * 30, unit="token"),
        ".shown mark",
    ),
    "explain-hebrew": (link("explain", model="pieces", text=HEBREW), ".shown > .text mark"),
    "explain-empty": ("/#explain", "#explain-text"),
    "compare": (link("compare", text=TEXT, **{"1-model": "planted", "2-model": "pieces"}), ".aligned .pair"),
    "heads": (link("heads", model="pieces", text=TEXT), "iframe"),
    "write": (link("write", model="writer", prompt="the film was", tokens=4), "iframe"),
    "audits": (link("audits", audit="tanhmax"), ".audited > li"),
    "trainings": (link("trainings", run="watched"), ".ledger-table td"),
}
IN_FRAME = {"heads": "button[data-head]", "write": "mark.written", "trainings": "h1"}
PICTURED = "a slow start , yet the acting is a wonder and the ending is dreadful"


@pytest.fixture(scope="module")
def address(models: Path, audits: Path):
    """Where everything is served."""
    names = ("planted", "pieces", "writer", "watched", "damaged")
    with serving(*(models / name for name in names), "--audits", audits) as server:
        server.wait_until_open()
        yield server.address


def opened(page: Page, view: str) -> None:
    """Until the view shows what it was asked, with every part of it open."""
    section = page.locator(f"section[data-view={view.partition('-')[0]}]")
    expect(section.locator(VIEWS[view][1]).first).to_be_visible()
    if view in IN_FRAME:
        expect(section.frame_locator("iframe").locator(IN_FRAME[view]).first).to_be_visible()
    if view == "explain":
        expect(section.get_by_label("only what is certain")).to_be_visible()
        section.locator(".shown > .text mark").first.click()
        expect(section.locator(".erased .predicted")).to_contain_text("With all words")
    if view == "audits":
        section.locator(".report > summary").click()
        expect(section.frame_locator("iframe").locator("h1").first).to_be_visible()
    for part in section.locator("details:not([open]):not([hidden]) > summary").all():
        if part.is_visible():
            part.click()


@pytest.mark.parametrize(("scheme", "width"), SIZES)
@pytest.mark.parametrize("view", VIEWS)
def test_a_view(browser: Browser, address: str, view: str, scheme: str, width: int) -> None:
    with watched(browser, address, VIEWS[view][0], scheme, width) as page:
        opened(page, view)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(SMALLEST) >= 12
        visible = ", ".join(f"section:not([hidden]) :is({LETTERS})" for _ in [0])
        assert page.evaluate(CONTRAST, f"nav a, footer p, {visible}") >= 4.5
        for frame in page.frames[1:]:
            assert frame.evaluate("document.documentElement.scrollWidth") <= frame.evaluate("innerWidth")


@pytest.mark.parametrize(("scheme", "width"), SIZES)
@pytest.mark.parametrize("view", [*VIEWS, "api"])
def test_nothing_stands_in_the_way(
    browser: Browser, address: str, view: str, scheme: str, width: int
) -> None:
    """No rule of axe-core of serious or critical impact is broken, frames included."""
    with watched(browser, address, "/api" if view == "api" else VIEWS[view][0], scheme, width) as page:
        if view == "api":
            expect(page.locator("h2").first).to_be_visible()
        else:
            opened(page, view)
        found = Axe().run(page).response["violations"]
        serious = [
            (one["id"], one["nodes"][0]["html"][:200], one["nodes"][0]["failureSummary"][:300])
            for one in found
            if one["impact"] in ("serious", "critical")
        ]
        assert serious == []


def test_the_keyboard_reaches_everything(browser: Browser, address: str) -> None:
    with watched(browser, address, link("explain", model="planted", text=TEXT)) as page:
        expect(page.locator(".shown > .text mark").first).to_be_visible()
        page.locator("body").focus()
        reached = []
        for _ in range(60):
            page.keyboard.press("Tab")
            reached.append(
                page.evaluate(
                    "(e => e.name || e.id || e.dataset.copy || e.dataset.save || e.dataset.view || e.tagName)"
                    "(document.activeElement)"
                )
            )
            if "json" in reached:
                break
        wanted = {"explain", "compare", "heads", "write", "audits", "trainings", "text", "model", "method"}
        wanted |= {"intervals", "MARK", "link", "python", "html", "svg", "png", "json"}
        assert wanted <= set(reached)
        assert reached.count("MARK") == 1  # one stop, and arrow keys within
        assert reached[0] == "A"  # to skip what stands above


def test_without_script_it_says_what_to_do(browser: Browser, address: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address)
    assert "glasshead explain MODEL" in page.locator("noscript").inner_text()
    context.close()

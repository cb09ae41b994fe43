"""The page in a real browser: silent, readable in light and dark, at home on a phone, usable by keyboard."""

from pathlib import Path

import fake_rankings
import pytest
from playwright.sync_api import Browser

import fake_cards
from browsers import CONTRAST, opened
from glasshead.report import attribution_page, audit_page
from glasshead.report.html.ranking_page import ranking_page
from glasshead.results import AuditCard

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory, softmax: AuditCard, tanhmax: AuditCard) -> str:
    file = tmp_path_factory.mktemp("report") / "report.html"
    file.write_text(audit_page([softmax, tanhmax]), encoding="utf-8")
    return file.as_uri()


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


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 390)])
def test_a_ranking_is_silent_readable_and_no_wider_than_the_window(
    browser: Browser, tmp_path: Path, scheme: str, width: int
) -> None:
    file = tmp_path / "ranking.html"
    file.write_text(ranking_page(fake_rankings.make()), encoding="utf-8")
    page, said = opened(browser, file.as_uri(), scheme, width)
    assert page.evaluate(CONTRAST, "mark, p, td, th, h1, h2, h3, h4, summary, dd, dt, span, b, li") >= 4.5
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert said == []
    page.close()


@pytest.fixture(scope="module")
def ranges(
    tmp_path_factory: pytest.TempPathFactory, tanhmax: AuditCard, softmax: AuditCard
) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("ranges")
    asked = fake_cards.with_ranges(tanhmax)
    pages = {
        "texts": attribution_page([highlight.attribution for highlight in asked.highlights]),
        "report": audit_page([fake_cards.texts_alone(softmax), asked]),
    }
    for name, html in pages.items():
        (folder / f"{name}.html").write_text(html, encoding="utf-8")
    return {name: (folder / f"{name}.html").as_uri() for name in pages}


# The drawn strength of every token: the opacity of its ground, or "hatched".
STRENGTHS = """() => [...document.querySelectorAll("mark[data-tip]")].map(mark => {
  const style = getComputedStyle(mark), parts = style.backgroundColor.match(/[\\d.]+/g).map(Number);
  return style.backgroundImage === "none" ? (parts.length < 4 ? 1 : parts[3]) : "hatched";
})"""


@pytest.mark.parametrize("name", ["texts", "report"])
def test_the_switch_leaves_what_is_certain(browser: Browser, ranges: dict[str, str], name: str) -> None:
    page, said = opened(browser, ranges[name], "light", 1280)
    marks = page.locator("mark[data-tip]")
    kinds = marks.evaluate_all("all => all.map(mark => mark.className)")
    least, shown = (
        marks.evaluate_all(f"all => all.map(mark => mark.style.getPropertyValue('{key}'))")
        for key in ("--least", "--a")
    )
    before = page.evaluate(STRENGTHS)
    assert {b for b, kind in zip(before, kinds, strict=True) if "maybe" in kind} == {"hatched"}
    assert "hatched" not in {b for b, kind in zip(before, kinds, strict=True) if "maybe" not in kind}

    switch = page.get_by_label("Show only what is certain")
    switch.focus()
    page.keyboard.press("Space")
    assert switch.is_checked()
    after = page.evaluate(STRENGTHS)
    expected = [
        0.0 if "maybe" in kind or "unknown" in kind else float(low or full)
        for kind, low, full in zip(kinds, least, shown, strict=True)
    ]
    assert after == pytest.approx(expected, abs=0.005)
    # One card of the report was not asked for ranges: its texts stay as they are.
    assert any(not low and a == b != 0 for low, a, b in zip(least, after, before, strict=True)) == (
        name == "report"
    )

    page.keyboard.press("Space")
    assert page.evaluate(STRENGTHS) == before
    assert said == []
    page.close()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 390)])
@pytest.mark.parametrize("checked", [False, True])
def test_ranges_are_readable(
    browser: Browser, ranges: dict[str, str], scheme: str, width: int, checked: bool
) -> None:
    page, said = opened(browser, ranges["texts"], scheme, width)
    if checked:
        page.get_by_label("Show only what is certain").check()
    for selector in ("mark", "p, td, th, h1, summary, span, b, label"):
        assert page.evaluate(CONTRAST, selector) >= 4.5, selector
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert said == []
    page.close()


def test_paper_shows_the_switch_only_where_it_is_on(browser: Browser, ranges: dict[str, str]) -> None:
    page, _ = opened(browser, ranges["texts"], "light", 1280)
    page.emulate_media(media="print")
    switch = page.locator("label.switch")
    assert not switch.is_visible()
    page.emulate_media(media="screen")
    switch.click()
    page.emulate_media(media="print")
    assert switch.is_visible()
    page.close()

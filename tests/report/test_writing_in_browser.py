"""The page of written texts in a real browser: tokens chosen by mouse and keyboard, explanations changed."""

from pathlib import Path

import pytest
from fake_writing import NASTY, writing, writing_of_image
from playwright.sync_api import Browser
from test_browser import opened

from browsers import CONTRAST, OPEN_ALL, SMALLEST
from glasshead.report import written_page

pytestmark = pytest.mark.slow
COLOURS = """() => [...document.querySelectorAll("[data-text='0'] .text mark")].map(({ classList, style }) =>
  [["p", "n", "s"].find(kind => classList.contains(kind)) ?? "", +style.getPropertyValue("--a")])"""
STRONGEST = 0.85


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    file: Path = tmp_path_factory.mktemp("writing") / "written.html"
    file.write_text(written_page([writing(), writing(beams=True), writing_of_image()]), encoding="utf-8")
    return file.as_uri()


@pytest.mark.parametrize(
    ("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 390), ("dark", 390)]
)
def test_it_is_silent_readable_and_no_wider_than_the_window(
    browser: Browser, address: str, scheme: str, width: int
) -> None:
    page, said = opened(browser, address, scheme, width)
    page.evaluate(OPEN_ALL)
    for number in range(3):
        page.locator(f"[data-text='{number}'] [name=method]").select_option("erasure, log-probability")
        page.locator(f"[data-text='{number}'] mark.written").first.click()
    letters = "p, td, th, h1, h2, summary, span, b, label, select, mark, caption"
    assert page.evaluate(CONTRAST, letters) >= 4.5
    assert page.evaluate(SMALLEST) >= 12
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert said == []
    page.close()


def test_a_token_is_chosen_by_mouse_and_by_keyboard(browser: Browser, address: str) -> None:
    page, said = opened(browser, address, "light", 1280)
    first = page.locator("[data-text='0']")
    chosen = first.locator(".chosen")
    assert chosen.inner_text() == "“ 🙂”"
    first.locator("mark.written").first.click()
    assert chosen.inner_text() == "“ good”"
    assert first.locator(".alternatives tbody tr").count() == 3
    assert "left-out" in (first.locator(".alternatives tbody tr").nth(2).get_attribute("class") or "")
    assert NASTY in first.locator(".alternatives").inner_text()
    page.keyboard.press("ArrowRight")
    assert chosen.inner_text() == "“ 🙂”"
    assert "left nothing else to choose" in first.locator(".how").inner_text()
    page.keyboard.press("Home")
    assert first.locator("mark.own").inner_text().strip() == "good"
    assert first.locator("mark[aria-pressed=true]").count() == 1
    assert said == []
    page.close()


def test_colours_are_those_of_the_explanation_that_is_chosen(browser: Browser, address: str) -> None:
    page, said = opened(browser, address, "light", 1280)
    first = page.locator("[data-text='0']")
    first.locator("mark.written").first.click()
    shown = page.evaluate(COLOURS)
    expected = [0.5, 0.25, 0.25]
    for (kind, strength), score in zip(shown, expected, strict=False):
        assert kind == "s"  # weights have a size
        assert strength == pytest.approx(STRONGEST * score / 0.5, abs=1e-3)
    first.locator("[name=head]").select_option("1")
    first.locator("[name=layer]").select_option("0")
    assert "layer 0, head 1" in first.locator(".about-map").inner_text()
    first.locator("[name=method]").select_option("erasure, log-probability")
    assert not first.locator("[name=layer]").is_visible()
    assert [kind for kind, _ in page.evaluate(COLOURS)][:3] == ["", "n", "p"]
    assert "here −0.500" in first.locator(".about-map").inner_text()
    assert said == []
    page.close()


def test_a_part_of_an_image_is_chosen_by_mouse_and_by_keyboard(browser: Browser, address: str) -> None:
    page, said = opened(browser, address, "light", 1280)
    text = page.locator("[data-text='2']")
    parts, words = text.locator("rect"), text.locator("mark.written")
    words.nth(1).click()
    strengths = parts.evaluate_all("all => all.map(one => +one.style.getPropertyValue('--a'))")
    # 0.05 and 0.1 of 0.05, 0.1, 0.15 and 0.2: the image has a scale of its own.
    assert strengths == pytest.approx([STRONGEST / 2, STRONGEST])
    assert "on the image 0.150 of 0.500" in text.locator(".about-map").inner_text()
    text.locator("[name=method]").select_option("erasure, log-probability")
    parts.nth(0).click()
    assert text.locator(".chosen").inner_text() == "row 1, column 1"
    assert not text.locator(".alternatives").is_visible()
    assert "Used by" in text.locator(".sources-of").inner_text()
    assert text.locator(".sources-of tbody tr").first.inner_text().split() == ["🙂", "0.500"]
    page.keyboard.press("ArrowRight")
    assert text.locator(".chosen").inner_text() == "row 1, column 2"
    assert text.locator(".sources-of tbody tr").first.inner_text().split() == ["good", "−2.000"]
    assert "n" in (words.first.get_attribute("class") or "").split()
    assert parts.nth(1).get_attribute("aria-pressed") == "true"
    text.locator(".photo input").uncheck()
    shown = "one => getComputedStyle(one).opacity"
    assert text.locator("image").evaluate(shown) == "1"
    words.first.click()
    assert text.locator(".alternatives").is_visible()
    assert said == []
    page.close()

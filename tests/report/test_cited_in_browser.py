"""The page of sources in a real browser: sentences chosen by mouse and keyboard, passages in their order."""

from pathlib import Path

import pytest
from fake_cited import cited, without_sources
from playwright.sync_api import Browser, Page

from browsers import CONTRAST, OPEN_ALL, SMALLEST, opened
from glasshead.report import cited_page

pytestmark = pytest.mark.slow
PLACES = "list => [...list.children].map(item => Number(item.dataset.passage))"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    file: Path = tmp_path_factory.mktemp("cited") / "cited.html"
    file.write_text(cited_page(cited()), encoding="utf-8")
    return file.as_uri()


def shown(page: Page, selector: str = ".shown") -> list[int]:
    """The passages of a list, from 0."""
    places: list[int] = page.locator(selector).evaluate(PLACES)
    return places


@pytest.mark.parametrize(
    ("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 390), ("dark", 390)]
)
def test_it_is_silent_readable_and_no_wider_than_the_window(
    browser: Browser, address: str, scheme: str, width: int
) -> None:
    page, said = opened(browser, address, scheme, width)
    page.evaluate(OPEN_ALL)
    letters = "p, td, th, h1, h2, h3, summary, span, b, button, mark, a"
    for sentence in range(2):
        page.locator("mark.sentence").nth(sentence).click()
        assert page.evaluate(CONTRAST, letters) >= 4.5
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(SMALLEST) >= 12
    assert said == []
    page.close()


def test_a_sentence_is_chosen_by_mouse_and_by_keyboard(browser: Browser, address: str) -> None:
    page, said = opened(browser, address, "light", 1280)
    assert shown(page) == [0, 1, 3]
    page.locator("mark.sentence").nth(1).click()
    assert shown(page) == [1, 3]
    assert shown(page, ".folded") == [4, 0, 2]
    assert page.locator(".of-sources").inner_text() == "The 2 passages this sentence comes from"
    assert page.locator(".comes-to h3").inner_text() == "This sentence comes from passages 2 (Keepers) and 4"
    assert "Passage 5 matters only" in page.locator(".comes-to").inner_text()
    page.keyboard.press("ArrowLeft")
    assert shown(page) == [0]
    assert page.locator(".others summary").inner_text() == "4 other passages"
    page.keyboard.press("Home")
    assert shown(page) == [0, 1, 3]
    page.keyboard.press("ArrowLeft")  # there is none before
    assert page.locator(".whole button").get_attribute("aria-pressed") == "true"
    page.keyboard.press("End")
    assert shown(page) == [1, 3]
    assert page.locator("[data-statement][aria-pressed=true]").count() == 1
    assert said == []
    page.close()


def test_arrows_work_before_anything_is_chosen(browser: Browser, address: str) -> None:
    page, said = opened(browser, address, "light", 1280)
    page.keyboard.press("ArrowRight")
    assert shown(page) == [0]
    assert page.evaluate("document.activeElement.textContent") == "It was built in 1871."
    assert said == []
    page.close()


def test_words_are_coloured_where_they_stand_also_behind_an_emoji(browser: Browser, address: str) -> None:
    page, said = opened(browser, address, "light", 1280)
    page.locator("mark.sentence").nth(1).click()
    passage = page.locator("[data-passage='1']")
    marks = passage.locator(".text mark")
    assert [marks.nth(place).inner_text() for place in range(1, 4)] == ["keeper", "Ana", "Ruiz,"]
    assert (
        passage.locator(".text").inner_text().endswith("The keeper of Alta was Ana Ruiz, who wrote letters.")
    )
    assert marks.nth(2).get_attribute("data-tip") == "without this word log p falls by 0.40 nats"
    assert passage.locator(".effect b").inner_text() == "+2.40"
    bar, whisker = (passage.locator(f".track .{kind}").bounding_box() for kind in ("bar", "whisker"))
    assert bar is not None
    assert whisker is not None
    assert whisker["x"] < bar["x"] + bar["width"] < whisker["x"] + whisker["width"]
    page.locator("mark.sentence").nth(0).click()
    assert page.locator("[data-passage='1'] .text mark").count() == 0
    assert said == []
    page.close()


def test_without_sources_all_passages_are_folded_and_can_be_opened(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "none.html"
    file.write_text(cited_page(without_sources()), encoding="utf-8")
    page, said = opened(browser, file.as_uri(), "light", 390)
    assert page.locator(".of-sources").inner_text() == "No passage is shown to be a source"
    assert shown(page) == []
    assert not page.locator("[data-passage='0']").is_visible()
    page.locator(".others summary").click()
    assert page.locator("[data-passage='0']").is_visible()
    assert page.locator("[data-passage='0'] .effect").inner_text().split() == ["+0.01", "exact"]
    assert page.locator("[data-statement]").count() == 0
    assert said == []
    page.close()

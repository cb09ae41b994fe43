"""The report of an audit in a real browser: the answer on the first screen, tables and texts that obey."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from browsers import OPEN_ALL, SMALLEST
from glasshead.report import audit_page
from glasshead.results import AuditCard

pytestmark = pytest.mark.slow
DESKTOP, PHONE = (1280, 800), (390, 844)

BEYOND = """() => [...document.querySelectorAll("table, figure, svg, select, p")]
  .filter(e => e.checkVisibility() && e.getBoundingClientRect().right > innerWidth + 1).length"""


@pytest.fixture(scope="module")
def addresses(
    tmp_path_factory: pytest.TempPathFactory, softmax: AuditCard, tanhmax: AuditCard
) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("pages")
    for name, cards in {"one": [tanhmax], "two": [softmax, tanhmax]}.items():
        Path(folder / f"{name}.html").write_text(audit_page(cards), encoding="utf-8")
    return {name: (folder / f"{name}.html").as_uri() for name in ("one", "two")}


def opened(browser: Browser, address: str, size: tuple[int, int] = DESKTOP, **more: bool) -> Page:
    page = browser.new_page(viewport={"width": size[0], "height": size[1]}, **more)  # type: ignore[arg-type]
    page.goto(address)
    return page


@pytest.mark.parametrize("name", ["one", "two"])
@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_the_first_screen_has_the_conclusion_and_a_coloured_text(
    browser: Browser, addresses: dict[str, str], name: str, size: tuple[int, int]
) -> None:
    page = opened(browser, addresses[name], size)
    for selector in ("h1", "p.text:has(mark.p, mark.n)"):
        box = page.locator(selector).first.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= size[1], selector
    height = page.evaluate("document.documentElement.scrollHeight")
    assert height < 6.5 * size[1] * (1 if name == "one" else 2)
    page.close()


@pytest.mark.parametrize("name", ["one", "two"])
def test_on_a_phone_nothing_is_wider_than_the_screen_and_no_letter_too_small(
    browser: Browser, addresses: dict[str, str], name: str
) -> None:
    page = opened(browser, addresses[name], PHONE)
    for _ in range(2):
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
        assert page.evaluate(BEYOND) == 0
        assert page.evaluate(SMALLEST) >= 12
        page.evaluate(OPEN_ALL)
    page.close()


def test_a_heading_sorts_its_column(browser: Browser, addresses: dict[str, str]) -> None:
    page = opened(browser, addresses["one"])
    heading = page.locator("table.short th", has_text="estimate")
    cells = page.locator("table.short td.num[data-of=estimate]")

    def values() -> list[float]:
        return [float(cell.replace("−", "-")) for cell in cells.all_text_contents()]

    before = values()
    heading.get_by_role("button").focus()
    page.keyboard.press("Enter")
    assert heading.get_attribute("aria-sort") == "descending"
    assert values() == sorted(before, reverse=True) != before
    page.keyboard.press("Enter")
    assert heading.get_attribute("aria-sort") == "ascending"
    assert values() == sorted(before)
    page.locator("table.short th", has_text="question").get_by_role("button").click()
    assert heading.get_attribute("aria-sort") is None
    page.close()


def test_rows_are_sorted_within_their_block_and_of_several_cards_by_the_column_that_was_chosen(
    browser: Browser, addresses: dict[str, str]
) -> None:
    page = opened(browser, addresses["two"])
    page.evaluate(OPEN_ALL)
    table = page.locator("#audit-agreement table.findings").first
    table.locator("thead tr").nth(1).locator("th.first").nth(1).get_by_role("button").click()
    for block in range(table.locator("tbody").count()):
        body = table.locator("tbody").nth(block)
        assert body.locator("tr").first.get_attribute("class") == "heading"
        second = body.locator("tr:not(.heading) td.first[data-of=tanhmax] b").all_text_contents()
        values = [float(value.replace("−", "-")) for value in second]
        assert values == sorted(values, reverse=True)
        assert len(values) > 1
    page.close()


def test_texts_are_filtered(browser: Browser, addresses: dict[str, str], tanhmax: AuditCard) -> None:
    page = opened(browser, addresses["one"])
    page.get_by_role("link", name="All 13 chosen texts").click()
    texts = page.locator("#all-texts .texts > li:visible")
    texts.first.wait_for()  # a link opens its part after the click
    assert texts.count() == len(tanhmax.highlights) == 13
    page.get_by_role("combobox", name="Prediction").select_option("wrong")
    wrong = [h for h in tanhmax.highlights if h.label != h.attribution.predicted]
    assert texts.count() == len(wrong) > 0
    assert page.locator(".filters output").text_content() == f"{len(wrong)} of 13 texts"
    page.get_by_role("combobox", name="True class").select_option("negative")
    assert texts.count() == sum(h.label == "negative" for h in wrong)
    page.get_by_role("combobox", name="Prediction").select_option("")
    page.get_by_role("combobox", name="True class").select_option("")
    page.get_by_role("combobox", name="Agreement with weight removal").select_option("less")
    known = [h.faithfulness for h in tanhmax.highlights if h.faithfulness is not None]
    assert texts.count() == sum(tau < 0.4 for tau in known)
    assert page.locator("#texts li:visible").count() == 3  # the first three stay
    page.close()


def test_a_link_opens_the_part_that_it_leads_to(browser: Browser, addresses: dict[str, str]) -> None:
    page = opened(browser, addresses["one"])
    table = page.locator("#audit-perturbation table.findings").first
    assert not table.is_visible()
    page.get_by_role("link", name="Does shuffling the weights change the answer?").click()
    table.wait_for(state="visible")
    page.goto(addresses["one"] + "#reading-findings")
    page.reload()
    assert page.locator("#reading-findings").is_visible()
    page.close()


def test_paper_has_every_part_open(browser: Browser, addresses: dict[str, str]) -> None:
    page = opened(browser, addresses["one"])
    page.emulate_media(media="print")
    parts = page.locator("details.part")
    heights = [box["height"] for part in parts.all() if (box := part.bounding_box()) is not None]
    assert len(heights) == parts.count() == 14
    assert min(heights) > 60
    page.close()


def test_without_script_everything_can_be_read(browser: Browser, addresses: dict[str, str]) -> None:
    page = opened(browser, addresses["one"], java_script_enabled=False)
    assert page.locator("thead button").count() == 0
    page.locator("#all-texts > summary").click()
    assert page.locator("#all-texts .texts > li:visible").count() == 13
    assert not page.locator(".filters").is_visible()
    page.close()

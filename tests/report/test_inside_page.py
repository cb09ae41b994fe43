"""The page of the inside of a model in a browser: keyboard, phone, dark paper."""

import pytest

from browsers import CONTRAST, OPEN_ALL, SMALLEST, opened
from glasshead.inside import look_inside
from glasshead.report import inside_page
from glasshead.requests import InsideViewRequest
from induction import induction_model, repeated_text


@pytest.fixture(scope="module")
def page_file(tmp_path_factory):
    model, tokenizer = induction_model()
    found = look_inside(InsideViewRequest(model, repeated_text()[0], tokenizer=tokenizer))
    file = tmp_path_factory.mktemp("page") / "inside.html"
    file.write_text(inside_page(*found), encoding="utf-8")
    return file


def test_arrow_keys_and_enter_open_a_head(browser, page_file):
    page, said = opened(browser, page_file.as_uri(), "light", 1200)
    assert page.locator("#sources-title").inner_text().startswith("head 1-2 adds +3.42")
    strengths = "marks => marks.map(mark => Number(mark.style.getPropertyValue('--a')))"
    strong = page.locator("#sources mark").evaluate_all(strengths)
    assert strong.index(max(strong)) == repeated_text()[0].split().index(repeated_text()[1]) + 1
    page.locator("#direct button[aria-current]").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert page.locator("#sources-title").inner_text().startswith("head 0-2 adds −0.0")
    page.locator("#lens button[tabindex='0']").focus()
    assert f"“{repeated_text()[1]}” 72.7" in page.locator("#lens .said").inner_text()
    page.keyboard.press("ArrowDown")
    assert page.locator("#lens .said").inner_text().startswith("layer 0, ")
    assert said == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1200])
def test_letters_can_be_read_and_nothing_overflows(browser, page_file, scheme, width):
    page, said = opened(browser, page_file.as_uri(), scheme, width)
    page.evaluate(OPEN_ALL)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(CONTRAST, ".cells mark, .cells th, #sources mark") >= 4.5
    assert page.evaluate(SMALLEST) >= 11.5
    assert said == []

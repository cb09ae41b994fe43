"""The page of exchanges in a browser: keyboard, phone, dark paper."""

import pytest

import glasshead
from browsers import CONTRAST, OPEN_ALL, SMALLEST, opened
from induction import induction_model
from text_pairs import induction_rows


@pytest.fixture(scope="module")
def page_file(tmp_path_factory):
    model, tokenizer = induction_model()
    found = glasshead.patch(model, induction_rows(cue=True), tokenizer=tokenizer, null=False)
    file = tmp_path_factory.mktemp("page") / "patching.html"
    found.save(file)
    return file, found


def test_arrow_keys_and_clicks_show_the_pairs_of_a_site(browser, page_file):
    file, found = page_file
    page, said = opened(browser, file.as_uri(), "light", 1200)
    shown = found.shown[0]
    title = page.locator("h2", has_text="Pairs at").first
    assert shown.name in title.inner_text()
    numbers = "rows => rows.map(row => row.lastElementChild.innerText)"
    before = page.locator("#pairs tbody tr").evaluate_all(numbers)
    expected = [f"{pair[shown.layer][shown.column]:+.3f}".replace("-", "−") for pair in found.changes]
    assert before == expected
    page.locator("button[tabindex='0']").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert shown.name not in title.inner_text()
    assert page.locator("#pairs tbody tr").evaluate_all(numbers) != before
    page.locator(f"button[aria-label^='{shown.name}']").first.click()
    assert page.locator("#pairs tbody tr").evaluate_all(numbers) == before
    assert said == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1200])
def test_letters_can_be_read_and_nothing_overflows(browser, page_file, scheme, width):
    page, said = opened(browser, page_file[0].as_uri(), scheme, width)
    page.evaluate(OPEN_ALL)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(CONTRAST, "td, th, p, h1, h2") >= 4.5
    assert page.evaluate(SMALLEST) >= 11.5
    assert said == []

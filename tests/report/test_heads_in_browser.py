"""The page of all heads in a real browser: heads opened by mouse and keyboard, lines, filters, links."""

import dataclasses
from pathlib import Path

import fake_heads
import numpy as np
import pytest
from playwright.sync_api import Browser, Page
from test_browser import opened

from browsers import CONTRAST, OPEN_ALL, SMALLEST
from glasshead.report.html.heads_page import heads_page

pytestmark = pytest.mark.slow
LINES, MATRIX = ".lines .queries button", "#view-matrix .matrix"
# How much ink is on a drawing.
INK = """selector => {
  const canvas = document.querySelector(selector), copy = document.createElement("canvas");
  [copy.width, copy.height] = [canvas.width, canvas.height];
  const pen = copy.getContext("2d", { willReadFrequently: true });
  pen.drawImage(canvas, 0, 0);
  const data = pen.getImageData(0, 0, canvas.width, canvas.height).data;
  let ink = 0;
  for (let i = 3; i < data.length; i += 4) ink += data[i] > 0;
  return ink;
}"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    long = fake_heads.long_text()
    report = fake_heads.make(fake_heads.pair_text(), long, fake_heads.pair_text(signed=True))
    file = tmp_path_factory.mktemp("heads") / "heads.html"
    file.write_text(heads_page(report), encoding="utf-8")
    return file.as_uri()


def names(page: Page, selector: str) -> list[str]:
    return page.locator(selector).all_inner_texts()


@pytest.mark.parametrize(
    ("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 390), ("dark", 390)]
)
def test_it_is_silent_readable_and_no_wider_than_the_window(
    browser: Browser, address: str, scheme: str, width: int
) -> None:
    page, said = opened(browser, address, scheme, width)
    page.wait_for_selector(LINES)
    page.evaluate(OPEN_ALL)
    page.locator(LINES).nth(3).focus()
    letters = "p, td, th, h1, h2, h3, h4, a, summary, dd, dt, span, b, li, button, label, select, .lit"
    assert page.evaluate(CONTRAST, letters) >= 4.5
    assert page.evaluate(SMALLEST) >= 12
    for view in ("lines", "matrix", "neurons"):
        page.locator(f"#tab-{view}").click()
        assert page.evaluate("document.documentElement.scrollWidth") <= width, view
    assert said == []
    page.close()


def test_a_head_opens_by_mouse_and_by_keyboard_and_the_address_restores_it(
    browser: Browser, address: str
) -> None:
    page, said = opened(browser, address, "light", 1280)
    page.wait_for_selector(LINES)
    assert page.locator("#head-title").inner_text() == "Layer 0, head 1"
    page.locator("button[data-head='0-0']").click()
    page.wait_for_function("document.activeElement.id === 'head-title'")
    assert page.locator("#head-title").inner_text() == "Layer 0, head 0"
    page.locator(".back").click()
    for key in ("ArrowDown", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    page.wait_for_function("document.getElementById('head-title').textContent === 'Layer 1, head 1'")
    assert page.locator("button[aria-current]").get_attribute("data-head") == "1-1"
    page.locator("#tab-lines").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator(MATRIX).is_visible()
    link = page.url
    page.close()
    page, again = opened(browser, link, "light", 1280)
    page.wait_for_selector(MATRIX, state="visible")
    assert page.locator("#head-title").inner_text() == "Layer 1, head 1"
    # A number in a table leads to its head, in the same view.
    page.evaluate(OPEN_ALL)
    page.locator("#numbers a").first.click()
    page.wait_for_function("document.getElementById('head-title').textContent === 'Layer 0, head 0'")
    assert page.locator(MATRIX).is_visible()
    assert said + again == []
    page.close()


def test_a_word_that_is_pointed_at_shows_its_lines_alone_and_says_their_weights(
    browser: Browser, address: str
) -> None:
    page, said = opened(browser, address, "light", 1280)
    page.wait_for_selector(LINES)
    everything = page.evaluate(INK, ".lines canvas")
    page.locator(LINES).nth(5).hover()
    weights = fake_heads.pair_text().weights[0][1][5]
    best = int(np.argmax(weights))
    words = page.locator("#head .said").inner_text()
    assert words.startswith(f"nobody looks at: {names(page, '.lines .keys button')[best]}")
    assert f"{weights[best]:.3f}" in words
    assert 0 < page.evaluate(INK, ".lines canvas") < everything / 2
    strongest = page.locator(".lines .keys button").nth(best)
    assert "lit" in (strongest.get_attribute("class") or "")
    # The same by keyboard, from the other side.
    page.locator(LINES).first.focus()
    for key in ("ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    assert page.locator("#head .said").inner_text().startswith("it is looked at by:")
    page.keyboard.press("Escape")
    assert page.locator(".lit").count() == 0
    assert said == []
    page.close()


def test_filters_leave_one_direction_of_a_pair_and_ordinary_tokens(browser: Browser, address: str) -> None:
    page, said = opened(browser, address, "light", 1280)
    page.wait_for_selector(LINES)
    page.locator("[name=pair]").select_option("0-1")
    page.wait_for_function(f"document.querySelectorAll('{LINES}').length === 5")
    assert len(names(page, ".lines .keys button")) == 3
    page.locator("[name=special]").check()
    page.wait_for_function(f"document.querySelectorAll('{LINES}').length === 3")
    page.locator("[name=level]").select_option("words")
    page.wait_for_function(f"document.querySelectorAll('{LINES}').length === 2")
    assert names(page, LINES) == ["it", "unknown"]
    page.locator(LINES).nth(1).hover()
    weights = fake_heads.pair_text().weights[0][1][2:4, 5].mean()
    assert f"nobody {weights:.3f}" in page.locator("#head .said").inner_text()
    page.locator(".as-table summary").click()
    assert f"nobody {weights:.3f}" in page.locator(".as-table tbody tr").nth(1).inner_text()
    assert said == []
    page.close()


def test_cells_of_a_matrix_say_their_weights_and_where_nobody_may_look(
    browser: Browser, address: str
) -> None:
    page, said = opened(browser, address + "#head=1-0&view=matrix", "light", 1280)
    page.wait_for_selector(MATRIX, state="visible")
    page.wait_for_function("document.querySelector('.matrix canvas').height > 100")
    page.locator(MATRIX).focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    assert page.locator("#head .said").inner_text() == "[CLS] → it: may not look"
    row = fake_heads.pair_text().weights[1][0][4, :5]
    for key in ("ArrowDown",) * 4 + ("ArrowLeft",) * (1 - int(np.argmax(row))):
        page.keyboard.press(key)
    for _ in range(int(np.argmax(row)) - 1):
        page.keyboard.press("ArrowRight")
    assert abs(float(page.locator("#head .said").inner_text().split(": ")[1]) - row.max()) < 1 / 255
    assert said == []
    page.close()


def test_neurons_of_a_pair_multiply(browser: Browser, address: str) -> None:
    page, said = opened(browser, address + "#head=0-2&view=neurons&query=1&key=5", "light", 1280)
    page.wait_for_selector(".product:has-text('q·k')")
    text = fake_heads.pair_text()
    expected = float(text.query_vectors[0][2][1] @ text.key_vectors[0][0][5])
    assert (
        abs(float(page.locator(".product").inner_text().split()[2].rstrip(",").replace("−", "-")) - expected)
        < 0.05
    )
    page.locator("[name=text]").select_option(label="long")
    page.wait_for_selector(".withheld", state="visible")
    assert said == []
    page.close()


def test_a_long_text_scrolls_inside_and_draws_what_is_in_sight(browser: Browser, address: str) -> None:
    page, said = opened(browser, address + "#head=0-0&text=1", "light", 1280)
    page.wait_for_function(f"document.querySelectorAll('{LINES}').length === 512")
    box = page.locator(".lines").bounding_box()
    assert box is not None
    assert box["height"] < 800
    page.locator(LINES).first.focus()
    page.keyboard.press("End")
    assert page.evaluate("document.querySelector('.lines').scrollTop") > 10_000
    assert page.locator("#head .said").inner_text().startswith("word511 looks at")
    assert page.evaluate(INK, ".lines canvas") > 0
    assert page.evaluate("document.querySelector('.lines canvas').height") < 2000
    assert said == []
    page.close()


def test_weights_below_zero_have_the_other_colour(browser: Browser, address: str) -> None:
    page, said = opened(browser, address + "#head=0-0&text=2", "light", 1280)
    page.wait_for_selector(LINES)
    page.locator(LINES).nth(1).focus()
    weights = fake_heads.pair_text(signed=True).weights[0][0][1]
    below = page.locator(".lines .keys button.against")
    strong = np.abs(weights) > 0.05 * np.abs(weights).max()
    assert below.count() >= int(((weights < 0) & strong).sum()) > 0
    assert said == []
    page.close()


def test_without_texts_there_is_the_grid_and_every_number(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "heads.html"
    file.write_text(heads_page(dataclasses.replace(fake_heads.make(), texts=())), encoding="utf-8")
    page, said = opened(browser, file.as_uri(), "light", 1280)
    page.locator("button[data-head='0-1']").click()
    assert not page.locator("#head").is_visible()
    assert not page.locator(".too-old").is_visible()
    page.evaluate(OPEN_ALL)
    assert page.locator("#numbers tbody tr").count() == 6
    assert said == []
    page.close()


def test_every_two_heads_are_a_matrix_that_is_read_by_keys(browser: Browser, address: str) -> None:
    page, said = opened(browser, address, "light", 1280)
    page.wait_for_selector(LINES)
    page.locator("#alike summary").click()
    page.wait_for_function(f"({INK})('#alike canvas') > 1000")
    page.locator("#alike .matrix").focus()
    page.keyboard.press("ArrowDown")
    assert page.locator("#alike .said").inner_text() == "0-0: the same head"
    page.keyboard.press("ArrowRight")
    words = "0-0 and 0-1: 0.25 bits apart [0.15, 0.35], unrelated maps 0.50: more alike than these"
    assert page.locator("#alike .said").inner_text() == words
    assert said == []
    page.close()


def test_the_matrix_of_144_heads_scrolls_inside(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "many.html"
    report = fake_heads.make(fake_heads.pair_text(12, 12), layers=12, heads=12)
    file.write_text(heads_page(report), encoding="utf-8")
    page, said = opened(browser, file.as_uri(), "light", 1280)
    page.wait_for_selector(LINES)
    page.locator("#alike summary").click()
    page.wait_for_function("document.querySelector('#alike canvas').height > 300")
    box = page.locator("#alike .matrix")
    box.scroll_into_view_if_needed()
    box.hover()
    before = page.evaluate("scrollY")
    page.mouse.wheel(400, 900)
    page.wait_for_function("document.querySelector('#alike .matrix').scrollTop >= 900")
    assert page.evaluate("document.querySelector('#alike .matrix').scrollLeft") > 0
    assert page.evaluate("scrollY") == before
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    assert said == []
    page.close()


def test_twelve_by_twelve_heads_before_512_tokens_stay_usable(browser: Browser, tmp_path: Path) -> None:
    text = fake_heads.long_text(12, 12)
    file = tmp_path / "heads.html"
    file.write_text(heads_page(fake_heads.make(text, layers=12, heads=12)), encoding="utf-8")
    page, said = opened(browser, file.as_uri(), "light", 1280)
    page.wait_for_function(f"document.querySelectorAll('{LINES}').length === 512")
    assert page.locator("button[data-head]").count() == 144
    page.locator("button[data-head='7-5']").click()
    page.wait_for_function("document.getElementById('head-title').textContent === 'Layer 7, head 5'")
    page.locator("#alike summary").click()
    page.wait_for_function("document.querySelector('#alike canvas').height > 100")
    for view, selector in (("lines", ".lines"), ("matrix", MATRIX)):
        page.locator(f"#tab-{view}").click()
        page.wait_for_function(f"document.querySelector('{selector} canvas').height > 100")
        page.locator(selector).scroll_into_view_if_needed()
        page.locator(selector).hover()
        before = page.evaluate("scrollY")
        page.mouse.wheel(0, 200)
        page.wait_for_function(f"document.querySelector('{selector}').scrollTop === 200")
        assert page.evaluate("scrollY") == before, view
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    assert said == []
    page.close()


def test_a_patch_that_is_pointed_at_shows_where_it_looks(browser: Browser, tmp_path: Path) -> None:
    report = fake_heads.make(fake_heads.image_text(), fake_heads.image_text())
    report = dataclasses.replace(report, facts={**report.facts, "inputs": "images"})
    file = tmp_path / "heads.html"
    file.write_text(heads_page(report), encoding="utf-8")
    page, said = opened(browser, file.as_uri(), "light", 1280)
    page.wait_for_function(f"({INK})('.image canvas') > 1000")
    canvas = page.locator(".image canvas")
    box = canvas.bounding_box()
    assert box is not None
    canvas.hover(position={"x": 0.4 * box["width"], "y": 0.75 * box["height"]})  # third column, second row
    weights = fake_heads.image_text().weights[0][1][6]
    words = page.locator("#head .said").inner_text()
    best = fake_heads.image_text().tokens[int(np.argmax(weights))]
    assert words.startswith(f"row 2, column 3 looks at: {best} {weights.max():.3f}")
    assert page.locator("[name=from]").input_value() == "6"
    page.locator("[name=from]").select_option(label="[class]")
    assert page.locator("#head .said").inner_text().startswith("[class] looks at:")
    page.locator("[name=special]").check()
    page.wait_for_function("document.querySelectorAll('[name=from] option').length === 7")
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate(OPEN_ALL)
    assert page.evaluate(SMALLEST) >= 12
    assert said == []
    page.close()

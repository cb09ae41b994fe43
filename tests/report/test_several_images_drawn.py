"""Several images in one text: each is drawn with its own map, on pages, in the terminal and in pictures."""

from base64 import b64encode
from dataclasses import replace
from io import BytesIO

import numpy as np
import pytest
from fake_writing import writing
from PIL import Image
from rich.console import Console

from fake_cards import attribution
from glasshead.report import PLOTS, attribution_page, written_page
from glasshead.report.terminal.text_heatmap import text_heatmap
from glasshead.results import Attributions
from pages import Page

TEXT = "[image 1] and [image 2] alike ?"
NAMES = ("row 1, column 1", "row 1, column 2")


def uri(width, height):
    file = BytesIO()
    Image.new("RGB", (width, height), (200, 30, 30)).save(file, "PNG")
    return f"data:image/png;base64,{b64encode(file.getvalue()).decode()}"


def explained(known=(True, True)):
    """Two tokens of each of two images, and four words."""
    boxes = [((0, 0, 40, 40), (40, 0, 80, 40)), ((0, 0, 10, 40), (10, 0, 20, 40))]
    own = [one if seen else (None, None) for one, seen in zip(boxes, known, strict=True)]
    parts = [[f"image {number}, {name}" for name in NAMES] for number in (1, 2)]
    one = attribution("and alike ?", True, np.random.default_rng(0), ("no", "yes"))
    return replace(
        one,
        text=TEXT,
        tokens=(*parts[0], "and", *parts[1], "alike", "?"),
        ids=tuple(range(7)),
        words=tuple(range(7)),
        offsets=((0, 0), (0, 0), (10, 13), (14, 14), (14, 14), (24, 29), (30, 31)),
        scores=(0.1, -0.2, 0.9, 0.4, 0.0, 0.2, 0.1),
        contributions=None,
        signed=True,
        method="gradient",
        images=(uri(80, 40), uri(20, 40)),
        boxes=(*own[0], None, *own[1], None, None),
        image_numbers=(1, 1, None, 2, 2, None, None),
    )


def test_the_page_has_a_drawing_of_each_image_with_its_own_parts():
    page = Page(attribution_page(Attributions((explained(),))))
    drawings = page.all("svg", "picture")
    assert [drawing.attributes["aria-label"].partition(":")[0] for drawing in drawings] == [
        "image 1",
        "image 2",
    ]
    titles = [element.text for element in page.all("title") if "image" in element.text]
    assert [title.partition(" column")[0] for title in titles] == ["image 1, row 1,"] * 2 + [
        "image 2, row 1,"
    ] * 2
    assert "[image 1] and [image 2] alike ?" in page.all("p", "text")[0].text
    assert [head.text for head in page.all("h1")] == ["One text with its images, token by token"]


def test_the_terminal_draws_the_images_below_each_other():
    console = Console(width=80)
    with console.capture() as capture:
        console.print(text_heatmap(explained()))
    lines = [line.rstrip() for line in capture.get().splitlines()]
    assert lines[0] == TEXT
    assert [line for line in lines if line.startswith("image")] == ["image 1", "image 2"]
    assert [len(line.split()) for line in lines[2:5:2]] == [2, 2]


def test_a_picture_has_a_column_for_each_image():
    figure = PLOTS["patches"].draw(Attributions((explained(),)))
    assert figure.across == 2
    assert [panel.title for panel in figure.panels] == ["image 1", "image 2", "", ""]
    assert "left out" not in figure.caption
    many = PLOTS["patches"].draw(Attributions((explained(),) * 5))
    assert "2 more images are left out here" in many.caption


def test_an_image_without_places_is_drawn_without_a_map(tmp_path):
    one = explained((True, False))
    page = Page(attribution_page(Attributions((one,))))
    assert len(page.all("svg", "picture")) == 2
    one.save(tmp_path / "drawn.svg")


@pytest.mark.parametrize("known", [(True, True), (True, False)])
def test_what_was_written_is_next_to_all_photos(known):
    head, end = writing(), len(writing().prompt)
    own = replace(
        head,
        tokens=("image 1, row 1, column 1", "image 2, row 1, column 1", *head.tokens[2:]),
        words=(0, 1, 2, 3, 4, 4),
        offsets=((0, 0), (0, 0), (0, end), *head.offsets[3:]),
        images=(uri(80, 40), uri(20, 40)),
        boxes=((0, 0, 80, 40), (0, 0, 20, 40) if known[1] else None, None, None, None, None),
        image_numbers=(1, 2, None, None, None, None),
    )
    page = Page(written_page(own))
    assert [part.attributes["data-image"] for part in page.all("rect")] == ["image 1", "image 2"][
        : sum(known)
    ]
    assert [one.text for one in page.all("figcaption")] == ["image 1", "image 2"]
    assert "row 1" not in page.all("p", "text")[0].text
    assert page.all("div", "several")

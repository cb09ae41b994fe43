"""Explained texts as an image: every word on its colour, the class in the heading, and what is left out."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.patches import Rectangle

from fake_cards import NASTY, attribution, ranged
from glasshead.report import PLOTS
from glasshead.report.colours import GROUNDS, STRONGEST
from glasshead.report.figure_file import to_matplotlib
from glasshead.results import Attributions

CLASSES = ("negative", "positive")


def made(text, **more):
    return replace(attribution(text, True, np.random.default_rng(0), CLASSES), **more)


def drawn(*attributions, **more):
    return PLOTS["texts"].draw(Attributions(attributions, **more))


def boxes(axes):
    return [patch for patch in axes.patches if isinstance(patch, Rectangle)]


def test_each_word_stands_on_its_colour():
    one = made("warm dull film", contributions=(0.5, -0.25, 0.0))
    figure = drawn(one)
    axes = to_matplotlib(figure).axes[0]
    assert {text.get_text() for text in axes.texts} >= {"warm", "dull", "film"}
    colours = [tuple(np.round(np.array(box.get_facecolor()) * 255)) for box in boxes(axes)]
    assert [colour[:3] for colour in colours] == [GROUNDS[each] for each in ("for", "against", "for")]
    assert [round(colour[3] / 255, 2) for colour in colours] == [STRONGEST, STRONGEST / 2, 0.0]
    assert figure.title == "Words for and against positive, method attention"
    (bar,) = figure.colour_bars
    assert (bar.norm.vmin, bar.norm.vmax) == (-0.5, 0.5)
    assert "blue speaks against positive" in bar.label


def test_numbers_without_a_sign_have_one_colour():
    figure = drawn(
        made("warm film", contributions=None, scores=(0.5, 0.25), signed=False, method="gradient-l2")
    )
    assert figure.title == "How much each word matters, method gradient-l2"
    colours = [
        tuple(np.round(np.array(box.get_facecolor()) * 255)) for box in boxes(to_matplotlib(figure).axes[0])
    ]
    assert {colour[:3] for colour in colours} == {GROUNDS["size"]}
    assert figure.colour_bars[0].norm.vmin == 0.0


def test_each_text_has_its_class_where_they_differ():
    figure = drawn(made("warm film"), made("dull film", target="negative"))
    assert [panel.description.split(",")[0] for panel in figure.panels] == [
        "Words for and against positive", "Words for and against negative"
    ]  # fmt: skip
    assert "the class in the heading" in figure.colour_bars[0].label


def test_the_heading_of_a_class_with_a_long_name_has_several_lines():
    long = "a very long name of a class " * 8
    figure = to_matplotlib(drawn(made("warm film"), made("dull film", target=long)))
    figure.draw_without_rendering()  # a layout without room would warn
    widths = [axes.get_position().width for axes in figure.axes[:2]]
    assert min(widths) > 0.5
    said = [text for text in figure.axes[1].texts if "long name" in text.get_text()]
    assert len(said) > 2
    edge = figure.bbox.x1
    assert all(text.get_window_extent().x1 <= edge for text in said)


def test_doubtful_weights_are_hatched_and_explained():
    one = ranged(made("a warm and funny film that nobody saw"))
    figure = drawn(one)
    hatched = [box.get_hatch() is not None for box in boxes(to_matplotlib(figure).axes[0])]
    assert hatched == [one.may_be_zero(token) for token in range(len(one.tokens))]
    assert {entry.kind for entry in figure.legend} == {"hatched", "dotted"}


def test_what_is_left_out_is_counted():
    many = drawn(*(made(f"film {number}") for number in range(12)), skipped=((3, "the text is empty"),))
    assert len(many.panels) == 10
    assert "2 more texts are left out here" in many.caption
    assert "Text 4 is left out: the text is empty." in many.caption
    long = drawn(made(" ".join(["word"] * 2000)))
    assert "nly the first 40 lines of text 1" in long.caption
    assert "left out" not in drawn(made("film")).caption


@pytest.mark.parametrize("text", ["", "x" * 400, "two\nlines\tand a \u202e character", " ".join(NASTY)])
def test_any_text_is_drawn_within_the_picture(text, tmp_path):
    one = made(text)
    axes = to_matplotlib(drawn(one)).axes[0]
    assert all(box.get_x() + box.get_width() < 7.0 for box in boxes(axes))
    one.save(tmp_path / "text.png")
    assert (tmp_path / "text.png").read_bytes().startswith(b"\x89PNG")


def test_an_image_has_the_words_of_svg_and_pdf(tmp_path):
    for ending, start in (("svg", b"<?xml"), ("pdf", b"%PDF")):
        path = tmp_path / f"text.{ending}"
        Attributions((made("warm film"),)).save(path)
        assert path.read_bytes().startswith(start)

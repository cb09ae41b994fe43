"""Saved pictures: letters that the usual font lacks, and texts that run to the left."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from matplotlib.font_manager import fontManager

from fake_cards import attribution
from glasshead.report import PLOTS, fonts
from glasshead.report.figure_file import image_file, to_matplotlib
from glasshead.report.plots.texts import WIDTH, words_in_lines
from glasshead.results import Attributions

HAN = "好影"


def clear():
    for cached in (fonts.family_of, fonts.charmap, fonts.other_families, fonts.width_in_points):
        cached.cache_clear()


@pytest.fixture
def font_of_squares(tmp_path, monkeypatch):
    """Install a font that has two Han characters and nothing else."""

    def glyph(size):
        pen = TTGlyphPen(None)
        for number, point in enumerate([(0, 0), (0, size), (size, size), (size, 0)]):
            (pen.lineTo if number else pen.moveTo)(point)
        pen.closePath()
        return pen.glyph()

    names = [".notdef", *(f"uni{ord(each):04X}" for each in HAN)]
    builder = FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder(names)
    builder.setupCharacterMap(dict(zip(map(ord, HAN), names[1:], strict=True)))
    builder.setupGlyf({name: glyph(800) for name in names})
    builder.setupHorizontalMetrics(dict.fromkeys(names, (1000, 0)))
    builder.setupHorizontalHeader(ascent=900, descent=-100)
    builder.setupNameTable({"familyName": "Squares Sans", "styleName": "Regular"})
    builder.setupOS2(usWeightClass=400)
    builder.setupPost()
    path = tmp_path / "squares.ttf"
    builder.save(path)
    monkeypatch.setattr(fonts, "findSystemFonts", lambda: [str(path)])
    monkeypatch.setattr(fontManager, "ttflist", list(fontManager.ttflist))
    clear()
    yield "Squares Sans"
    clear()


def made(text):
    return attribution(text, True, np.random.default_rng(0), ("negative", "positive"))


def drawn(text):
    return PLOTS["texts"].draw(Attributions((made(text),)))


def words(figure):
    return list(to_matplotlib(figure).axes[0].texts)


def test_a_letter_that_the_usual_font_lacks_is_drawn_in_one_that_has_it(font_of_squares):
    one = drawn(f"a {HAN} film")
    (han,) = (text for text in words(one) if HAN in text.get_text())
    assert han.get_fontfamily() == [fonts.FONT, font_of_squares]
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # no glyph is missing
        for kind in ("png", "svg", "pdf"):
            assert image_file(one, kind)
    widths = {word.letters: word.width for word in words_in_lines(made(f"a {HAN} film"), 1.0)}
    assert widths[HAN] == pytest.approx(2 * 10.5 / 72, rel=0.05)


def test_what_no_font_has_is_a_box_and_needs_no_other_font():
    clear()
    unassigned = "\U000e01ff"
    assert fonts.drawable(f"a{unassigned}") == f"a{fonts.LACKING}"
    (text,) = (text for text in words(drawn("warm film")) if text.get_text() == "warm")
    assert text.get_fontfamily() == [fonts.FONT]


def test_what_no_font_has_is_named_with_what_helps(font_of_squares):
    missing = "電影"
    assert not {*missing} & {*HAN} - {"影"}
    with pytest.warns(fonts.MissingFontWarning, match="1 character of the picture.*CJK 電; install a font"):
        image_file(drawn(f"a {missing} film"), "png")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        image_file(drawn(f"a {HAN} film"), "png")


ARABIC = "هذا فيلم جيد"


def places(text):
    return {word.letters: word for word in words_in_lines(made(text), 1.0) if not word.letters.isspace()}


def test_words_of_an_arabic_text_run_from_the_right():
    first, second, third = (places(ARABIC)[word] for word in ARABIC.split())
    assert first.left > second.left > third.left
    assert first.left + first.width == pytest.approx(WIDTH)
    assert third.left >= 0


def test_english_words_among_arabic_ones_keep_their_order():
    found = places("هذا very good film جدا")
    assert found["very"].left < found["good"].left < found["film"].left < found["هذا"].left
    assert found["جدا"].left < found["very"].left


def test_arabic_words_among_english_ones_have_their_own_order():
    found = places("the film هذا فيلم was good")
    assert [word.letters for word in sorted(found.values(), key=lambda word: word.left)] == [
        "the", "film", "فيلم", "هذا", "was", "good"
    ]  # fmt: skip


def test_parts_of_one_arabic_word_are_joined():
    """Two tokens of a word, each on its own colour, have together the width of the word."""
    whole = made("فيلم")
    parts = replace(
        whole, tokens=("في", "لم"), ids=(0, 1), words=(0, 0), offsets=((0, 2), (2, 4)),
        scores=(0.1, 0.2), contributions=(0.1, 0.2),
    )  # fmt: skip
    (one,), two = words_in_lines(whole, 1.0), list(words_in_lines(parts, 1.0))
    assert sum(word.width for word in two) == pytest.approx(one.width, rel=0.02)
    assert [word.letters for word in sorted(two, key=lambda word: -word.left)] == ["في", "لم"]
    apart = sum(fonts.width_in_points(word.letters, 10.5) / 72 for word in two)
    assert apart != pytest.approx(one.width, rel=0.02)


def test_a_sentence_without_a_direction_goes_with_the_text():
    assert fonts.sides_of(["(", "جيد", ")", " ", "12"], True) == [True] * 5
    assert fonts.sides_of(["12", "!"], False) == [False, False]
    assert fonts.sides_of(["جيد", "film", "12", "!", "جيد"], True) == [True, False, False, True, True]
    assert fonts.visual_order([True, True, False, True], True) == [3, 2, 1, 0]
    assert fonts.visual_order([True, False, False, True], True) == [3, 1, 2, 0]

"""The drawing of a text as plain values: its letters in order, colours, doubt, numbers in letters."""

from dataclasses import asdict, replace

import pytest
from numpy.random import default_rng

from fake_cards import SENTENCES, attribution, ranged
from glasshead.escaping import visible
from glasshead.report import attribution_page, draw_text, shared_scale
from hostile import NASTY
from pages import Page

LABELS = ("negative", "<b onclick=alert(3)>positive</b>")


def drawn(text, signed=True, scale=None):
    found = attribution(text, signed, default_rng(0), LABELS)
    return found, draw_text(found, scale)


@pytest.mark.parametrize("text", [*SENTENCES, " ".join(NASTY), "🎬 a\u0301 מצוין"])
@pytest.mark.parametrize("signed", [True, False])
def test_spans_are_the_text_once_and_in_order(text, signed):
    found, drawing = drawn(text, signed)
    shown = visible(found.text)
    assert "".join(span.text for span in drawing.spans) == shown
    ends = [0, *(span.end for span in drawing.spans)]
    assert [span.start for span in drawing.spans] == ends[:-1]
    assert ends[-1] == len(shown)
    for span in drawing.spans:
        if span.token is None:
            assert (span.share, span.least, span.doubt, span.description) == (0, 0, "", "")
        else:
            assert (span.start, span.end) == found.offsets[span.token]


@pytest.mark.parametrize("signed", [True, False])
def test_colours_are_those_of_the_page(signed):
    found, drawing = drawn(SENTENCES[0], signed)
    marks = [mark for mark in Page(attribution_page([found])).all("mark") if "data-tip" in mark.attributes]
    coloured = [span for span in drawing.spans if span.token is not None]
    assert [mark.text for mark in marks] == [span.text for span in coloured]
    for mark, span in zip(marks, coloured, strict=True):
        kind = "p" if span.share > 0 else "n" if span.share < 0 else "z"
        assert kind in mark.classes


def test_the_strongest_number_has_full_colour_and_a_scale_pales_all_alike():
    found, drawing = drawn(SENTENCES[1])
    shares = [span.share for span in drawing.spans]
    assert max(map(abs, shares)) == pytest.approx(1)
    paler = draw_text(found, 2 * shared_scale([found]))
    assert [span.share for span in paler.spans] == pytest.approx([share / 2 for share in shares])


def test_nothing_in_it_steers_or_is_lost():
    for text in (" ".join(NASTY), *SENTENCES):
        found, drawing = drawn(text)
        for value in strings(asdict(drawing)):
            assert visible(value) == value
        assert len(drawing.numbers) == len(found.tokens)
        assert [one.token for one in drawing.numbers] == [visible(token) for token in found.tokens]
        assert visible(LABELS[1]) in drawing.prediction or LABELS[0] in drawing.prediction


def strings(value):
    if isinstance(value, dict):
        return [each for part in value.values() for each in strings(part)]
    if isinstance(value, list | tuple):
        return [each for part in value for each in strings(part)]
    return [value] if isinstance(value, str) else []


def test_weights_with_intervals_say_what_they_could_be():
    found, without = drawn(SENTENCES[0])
    assert not without.ranged
    assert {one.could_be for one in without.numbers} == {None}
    with_them = draw_text(ranged(found))
    assert with_them.ranged
    assert all(one.could_be for one in with_them.numbers)
    for span, number in ((s, with_them.numbers[s.token]) for s in with_them.spans if s.token is not None):
        assert span.doubt == number.doubt
        assert abs(span.least) <= abs(span.share) + 1e-9
        if span.doubt == "maybe":
            assert span.least == 0
    assert {"maybe", ""} <= {span.doubt for span in with_them.spans}


def test_a_method_without_contributions_shows_none():
    found, _ = drawn(SENTENCES[0])
    drawing = draw_text(replace(found, contributions=None))
    assert {one.contribution for one in drawing.numbers} == {None}
    assert any(one.contribution for one in draw_text(found).numbers) == (found.contributions is not None)


@pytest.mark.parametrize(
    ("changes", "classes", "says"),
    [
        ({"target": "a", "predicted": "a", "prediction": 0.75}, 2, "predicted a (p = 0.750)"),
        ({"target": "a", "predicted": "a", "prediction": 0.75}, None, "predicted a (p = 0.750)"),
        ({"target": "a", "predicted": "b", "prediction": 0.25}, 2, "predicted b (p = 0.750)"),
        ({"target": "a", "predicted": "b", "prediction": 0.25}, 3, "predicted b, p(a) = 0.250"),
        ({"target": "a", "predicted": "b", "prediction": 0.25}, None, "predicted b, p(a) = 0.250"),
        ({"rates": True, "target": "rating", "prediction": 3.5}, 1, "predicted rating 3.50"),
    ],
)
def test_the_probability_is_that_of_the_predicted_class_where_it_is_known(changes, classes, says):
    found, _ = drawn(SENTENCES[0])
    assert draw_text(replace(found, **changes), classes=classes).prediction == says


def test_a_legend_says_what_red_is_for_and_what_has_full_colour():
    found, drawing = drawn(SENTENCES[1])
    assert drawing.legend == f"red: for {visible(found.target)}, blue: against it"
    sizes = {token: abs(found.colours[token]) for token in (span.token for span in drawing.spans) if token}
    token = max(sizes, key=sizes.get)
    assert drawing.quantity == "contribution"
    assert drawing.largest.startswith("largest contribution ")
    assert drawing.largest.endswith(f"({drawing.numbers[token].token})")
    assert drawing.numbers[token].contribution in drawing.largest
    weights = draw_text(ranged(found))
    assert weights.quantity == "weight"
    assert weights.largest.startswith("largest weight ")
    plain = draw_text(replace(found, contributions=None, signed=False))
    assert plain.legend == "the stronger the colour, the larger the weight"
    assert (
        draw_text(replace(found, rates=True, target="rating")).legend
        == "red: raises the rating, blue: lowers it"
    )


def test_an_empty_text_is_drawn_as_nothing():
    _, drawing = drawn("")
    assert [span.text for span in drawing.spans if span.text] == []
    assert drawing.prediction

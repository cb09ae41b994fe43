"""Colours of texts: a scale of the words that are drawn, and no sides where there are none."""

from dataclasses import replace

from glasshead.report import PLOTS, attribution_page
from glasshead.report.text_spans import shared_scale, undrawn
from glasshead.results import Attribution, Attributions

SPECIAL = Attribution(
    text="a film",
    tokens=("[CLS]", "a", "film", "[SEP]"),
    ids=(2, 5, 6, 3),
    words=(-1, 0, 1, -1),
    offsets=((0, 0), (0, 1), (2, 6), (0, 0)),
    scores=(0.62, 0.05, 0.1, 0.23),
    signed=False,
    target="positive",
    predicted="negative",
    prediction=0.01,
    method="rollout",
)


def test_what_is_not_drawn_does_not_pale_the_words_and_is_told():
    assert shared_scale([SPECIAL]) == 0.1
    assert undrawn(SPECIAL) == "not drawn: [CLS] 0.620"
    assert "not drawn: [CLS] 0.620" in attribution_page([SPECIAL])
    words_first = replace(SPECIAL, scores=(0.02, 0.05, 0.1, 0.0))
    assert undrawn(words_first) == ""
    assert "not drawn" not in attribution_page([words_first])


def test_a_method_without_sides_gets_a_legend_without_sides():
    page = attribution_page([SPECIAL])
    assert "against the target" not in page
    assert "the number has no sign" in page
    signed = replace(SPECIAL, signed=True, scores=(0.0, -0.2, 0.1, 0.0))
    assert "against the target" in attribution_page([signed])


def test_a_picture_of_a_method_without_sides_names_no_class():
    drawn = PLOTS["texts"].draw(Attributions((SPECIAL,)))
    assert drawn.title == "How much each word matters, method rollout"
    assert "[CLS] 0.620" in drawn.caption
    signed = replace(SPECIAL, signed=True, scores=(0.0, -0.2, 0.1, 0.0))
    assert (
        PLOTS["texts"].draw(Attributions((signed,))).title == "Words for and against positive, method rollout"
    )

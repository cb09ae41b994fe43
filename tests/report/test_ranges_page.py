"""Ranges on the page: every end at its place, hatching where a weight may be zero, safe and heard."""

import re
from dataclasses import replace

import pytest
from test_report_page import OURS

import fake_cards
from glasshead.report import attribution_page, audit_page
from glasshead.report.html.interval_drawings import EDGE, WIDTH, axis, draw
from glasshead.report.interval_marks import IntervalMark
from glasshead.report.weight_intervals import extremes, range_text, spoken_range, summary_of_ranges
from glasshead.results import Attribution, AuditCard
from pages import Element, Page


@pytest.fixture(scope="module")
def told(tanhmax: AuditCard) -> list[Attribution]:
    return [highlight.attribution for highlight in fake_cards.with_ranges(tanhmax).highlights]


@pytest.fixture(scope="module")
def page(told: list[Attribution]) -> Page:
    return Page(attribution_page(told))


def rows(page: Page) -> list[list[Element]]:
    """The cells of the tables of numbers, row by row."""
    cells = [e for e in page.elements if e.tag in ("td", "th") and "tbody" in e.above]
    starts = [i for i, cell in enumerate(cells) if cell.tag == "th"]
    return [cells[a:b] for a, b in zip(starts, [*starts[1:], len(cells)], strict=True)]


def test_every_token_has_its_range_in_the_table(told: list[Attribution], page: Page) -> None:
    cells = [row[2] for row in rows(page)]
    weights = [(each, i) for each in told for i in range(len(each.scores))]
    assert [cell.text.strip() for cell in cells] == [range_text(*weight) for weight in weights]
    unknown = [cell.attributes.get("title") == "range not known" for cell in cells]
    assert unknown == [each.interval(i) is None for each, i in weights]
    spans = [span.text for span in page.all("span") if " weights certain" in span.text]
    for each in told:
        assert summary_of_ranges(each) in spans


def test_every_range_is_drawn_and_said(told: list[Attribution], page: Page) -> None:
    drawings = page.all("svg", "dot")
    tokens = [(each, i) for each in told for i in range(len(each.scores))]
    assert len(drawings) == len(tokens)
    for drawing, (each, i) in zip(drawings, tokens, strict=True):
        label = drawing.attributes["aria-label"] or ""
        assert label.endswith(spoken_range(each, i))
        assert drawing.attributes["role"] == "img"
    kinds = [e.classes for e in page.all("path") if "range" in e.classes]
    assert kinds.count(["range", "maybe"]) == sum(e.may_be_zero(i) for e, i in tokens)
    assert len(kinds) == sum(e.interval(i) is not None for e, i in tokens)


def test_a_whisker_spans_its_range() -> None:
    drawn = Page(draw(IntervalMark("said", 0.2, span=(0.1, 0.5)), (0.0, 0.5)))
    places = {share: f"{EDGE + (WIDTH - 2 * EDGE) * share:.1f}" for share in (0.2, 0.4, 1.0)}
    (band,) = [e for e in drawn.all("path") if e.classes == ["range"]]
    assert band.attributes["d"] == f"M{places[0.2]} 10H{places[1.0]}"
    assert drawn.all("path", "whisker")[0].attributes["d"] == f"M{places[0.2]} 5V15M{places[1.0]} 5V15"
    assert drawn.all("circle", "estimate")[0].attributes["cx"] == places[0.4]


def test_no_bound_is_an_arrow_at_the_edge() -> None:
    unbounded = (float("-inf"), float("inf"))
    drawn = Page(draw(IntervalMark("said", 0.0, span=unbounded, hollow=True), (-1.0, 1.0)))
    (whisker,) = drawn.all("path", "whisker")
    assert (
        whisker.attributes["d"] == f"M11 6L{EDGE} 10L11 14M{WIDTH - 11} 6L{WIDTH - EDGE} 10L{WIDTH - 11} 14"
    )
    (band,) = drawn.all("path", "range")
    assert band.attributes["d"] == f"M{EDGE}.0 10H{WIDTH - EDGE}.0"
    assert drawn.all("circle", "hollow")


def test_hatching_stands_for_what_may_be_zero(told: list[Attribution], page: Page) -> None:
    marks = iter([mark for mark in page.all("mark") if "data-tip" in mark.attributes])
    for each in told:
        order = sorted(range(len(each.tokens)), key=lambda i: each.offsets[i])
        for i in order:
            mark = next(marks)
            assert ("maybe" in mark.classes) == each.may_be_zero(i)
            assert ("unknown" in mark.classes) == (each.interval(i) is None)
            assert spoken_range(each, i) in (mark.attributes["data-tip"] or "")
            assert set(mark.attributes) <= OURS
    assert next(marks, None) is None
    hatches = page.all("i", "hatch")
    assert {e.attributes["aria-label"] for e in hatches} == {"may be zero"}
    assert len(hatches) == sum(each.may_be_zero(i) for each in told for i in range(len(each.tokens)))


def test_colour_and_least_colour() -> None:
    told = Attribution(
        text="warm but dull so",
        tokens=("warm", "but", "dull", "so"),
        ids=(1, 2, 3, 4),
        words=(0, 1, 2, 3),
        offsets=((0, 4), (5, 8), (9, 13), (14, 16)),
        scores=(0.4, 0.1, -0.2, 0.1),
        signed=True,
        target="positive",
        predicted="positive",
        prediction=0.9,
        method="attention",
        contributions=(-0.4, 0.0, 0.9, 0.0),
        intervals=((0.1, 0.5), (-0.1, 0.2), (None, -0.1), None),
    )
    marks = [mark for mark in Page(attribution_page([told])).all("mark") if "data-tip" in mark.attributes]
    assert [(mark.classes, mark.attributes["style"]) for mark in marks] == [
        (["p"], "--a:1.00;--least:0.25"),
        (["p", "maybe"], "--a:0.25;--least:0.00"),
        (["n"], "--a:0.50;--least:0.25"),
        (["p", "unknown"], "--a:0.25;--least:0.00"),
    ]
    assert marks[0].attributes["data-tip"] == (
        "warm: weight +0.400, could be +0.100 to +0.500, contribution −0.400"
    )


def test_what_is_drawn_is_also_heard(told: list[Attribution], page: Page) -> None:
    texts = page.all("p", "text")
    for text, each in zip(texts, told, strict=True):
        if each.tokens:
            assert summary_of_ranges(each) in text.text
            assert "Strongest tokens:" in text.text
    (switch,) = page.all("input")
    assert switch.attributes["type"] == "checkbox"
    described = switch.attributes["aria-describedby"]
    assert [e.text for e in page.elements if e.attributes.get("id") == described] == [
        "when on, each word has the colour of its smallest possible weight"
    ]


def test_the_page_says_that_a_range_is_no_confidence_interval(page: Page) -> None:
    said = page.all("main")[0].text
    assert "A range is not a confidence interval" in said
    assert "hatched: may be zero" in said
    assert "dotted: range not known" in said


def test_the_legend_explains_only_what_is_there(told: list[Attribution]) -> None:
    one = replace(told[0], scores=(0.1,) * 11, intervals=((0.0, 0.2),) * 11, signed=False)
    key = Page(attribution_page([one])).all("div", "weights")[0].text
    assert "not known" not in key
    assert "−" not in key
    plain = attribution_page([replace(each, intervals=None) for each in told])
    assert Page(plain).all("input") == []
    for word in ("could be", "hatched: "):
        assert word not in Page(plain).all("main")[0].text


def test_nothing_from_outside_becomes_markup_and_no_number_is_lost(told: list[Attribution]) -> None:
    odd = replace(told[0], scores=(float("nan"), *told[0].scores[1:]), intervals=(None,) * 11)
    html = attribution_page([*told, odd])
    page = Page(html)
    (script,) = page.all("script")
    assert "alert" not in script.text
    assert not page.all("img") + page.all("iframe")
    assert any("<script>alert(1)</script>" in row[0].text for row in rows(page))
    said = page.all("main")[0].text + " ".join(str(e.attributes) for e in page.elements)
    assert not re.search(r"\b(nan|inf|None)\b", re.sub(r": None[,}]", "", said))
    assert "\x1b" not in html
    assert "\u202e" not in html


def test_the_report_shows_ranges_of_the_card_that_has_them(softmax: AuditCard, tanhmax: AuditCard) -> None:
    asked, plain = fake_cards.with_ranges(tanhmax), fake_cards.texts_alone(softmax)
    page = Page(audit_page([plain, asked]))
    assert len(page.all("table", "numbers")) == len(asked.highlights)
    assert len(page.all("input")) == 1
    texts = [e for e in page.all("table", "numbers")[0].text.split("\n") if e.strip()]
    first = asked.highlights[0].attribution
    assert any(range_text(first, 0) in line for line in texts)
    both = [p.text for p in page.all("p", "key")]
    assert any("for the target" in text for text in both)
    ids = [e.attributes["id"] for e in page.elements if "id" in e.attributes]
    assert ids.count("only-certain") == 1
    assert "Colour is the attention weight where it has a range, else the" in page.all("main")[0].text
    alone = Page(audit_page([asked]))
    assert not any("for the target" in p.text for p in alone.all("p", "key"))
    assert "Colour is the attention weight, and every weight" in alone.all("main")[0].text
    bare = Page(audit_page([plain]))
    assert "Colour is the contribution a·o where" in bare.all("main")[0].text
    assert bare.all("input") == []
    assert bare.all("table", "numbers") == []


def test_one_axis_for_all_texts_of_a_card(told: list[Attribution], page: Page) -> None:
    axes = {svg.text for svg in page.all("svg", "ticks")}
    assert len(axes) == 1
    assert axes == {Page(axis(extremes(told))).all("svg")[0].text}

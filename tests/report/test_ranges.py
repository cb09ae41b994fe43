"""Ranges of weights in words and in the terminal: no end is lost, and none is taken for another thing."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from test_terminal import made, printed

import fake_cards
from glasshead.report import text_heatmap, tokens_document
from glasshead.report.colours import TERMINAL
from glasshead.report.terminal.bars import RANGE, range_bar
from glasshead.report.terminal.text_heatmap import faint_style
from glasshead.report.text_spans import token_description
from glasshead.report.weight_intervals import MEANING, extremes, range_text, spoken_range, summary_of_ranges
from glasshead.results import Attribution, AuditCard

Ends = tuple[float | None, float | None] | None
WORDS = ["[CLS]", "dreary", "the", "plot", "of", "it"]
SCORES = (0.118, 0.31, 0.04, 0.2, 0.1, 0.232)


def asked(scores: tuple[float, ...], intervals: tuple[Ends, ...], **more: object) -> Attribution:
    tokens = [(f"t{i}", 3 * i, 3 * i + 2, score) for i, score in enumerate(scores)]
    text = " ".join(token[0] for token in tokens)
    told = made(text, tokens, intervals=intervals, signed=False, method="attention")
    return replace(told, **more)  # type: ignore[arg-type]


@pytest.fixture
def dreary() -> Attribution:
    tokens = [(word, 0, 0, score) for word, score in zip(WORDS, SCORES, strict=True)]
    return made(
        "dreary the plot of it",
        tokens,
        offsets=((0, 0), (0, 6), (7, 10), (11, 15), (16, 18), (19, 21)),
        words=(-1, 0, 1, 2, 3, 4),
        intervals=((0.0, 0.263), (0.05, 0.44), (1e-9, 0.21), (0.2, 0.2), None, (0.1, None)),
        signed=False,
        method="attention",
    )


def test_ranges_in_words(dreary: Attribution) -> None:
    assert [range_text(dreary, i) for i in range(6)] == [
        "[0.000, 0.263]", "[0.050, 0.440]", "[0.000, 0.210]", "certain", "?", "[0.100, ∞]",
    ]  # fmt: skip
    assert [spoken_range(dreary, i) for i in (0, 1, 3, 4, 5)] == [
        "could be 0.000 to 0.263, so perhaps zero",
        "could be 0.050 to 0.440",
        "certain",
        "range not known",
        "could be 0.100 to ∞",
    ]
    assert token_description(dreary, 1) == "dreary: weight 0.310, could be 0.050 to 0.440"
    assert summary_of_ranges(dreary) == "1 of 6 weights certain, 2 may be zero, 1 not known"
    negative = replace(dreary, scores=(-0.1,) * 6, intervals=((None, -0.05),) * 6, signed=True)
    assert range_text(negative, 0) == "[−∞, −0.050]"


def test_the_terminal_shows_each_range_in_numbers_and_as_a_bar(dreary: Attribution) -> None:
    lines = printed(tokens_document(dreary)).splitlines()
    assert lines[1].split() == ["token", "weight", "could", "be"]
    (firm,) = [line for line in lines if line.startswith(" dreary")]
    # 0.44 is the longest end that is finite; the arrow needs 15 % more of the axis: 16 cells hold 0.506.
    assert firm.split("│")[1].rstrip() == "██▓▓▓▓▓▓▓▓░░░░"
    assert firm.split("│")[0].split() == ["dreary", "0.310", "[0.050,", "0.440]"]
    (the,) = [line for line in lines if line.startswith(" the")]
    assert the.split("│")[0].split() == ["the", "0.040", "[0.000,", "0.210]", "░"]
    assert the.split("│")[1].rstrip() == "▓░░░░░░"
    (it,) = [line for line in lines if line.startswith(" it")]
    assert it.split("│")[1] == "███▓▓▓▓░░░░░░░░→ "
    (of,) = [line for line in lines if line.startswith(" of")]
    assert of.split("│")[0].split() == ["of", "0.100", "?"]


def test_the_terminal_says_in_one_line_what_a_range_is(dreary: Attribution) -> None:
    lines = printed(tokens_document(dreary)).splitlines()
    assert f"could be: {MEANING}" in lines
    assert "not a confidence interval" in MEANING
    assert any(line.startswith("? no solver") for line in lines)
    assert lines[-1] == summary_of_ranges(dreary)
    known = replace(dreary, intervals=((0.0, 1.0),) * 6)
    assert not any(line.startswith("?") for line in printed(tokens_document(known)).splitlines())
    plain = printed(tokens_document(replace(dreary, intervals=None)))
    assert "could be" not in plain
    assert "░" not in plain


def test_the_text_has_no_ground_where_a_weight_may_be_zero(dreary: Attribution) -> None:
    told = replace(dreary, scores=(0.1, 0.3, 0.31, 0.2, 0.001, 0.2))
    styles = {told.text[span.start : span.end]: str(span.style) for span in text_heatmap(told).spans}
    assert styles["dreary"] == TERMINAL["size"][3]
    assert styles["the"] == faint_style(1.0, "size") == f"italic {TERMINAL['size'][0]}"
    assert faint_style(-1.0, "against") == f"italic {TERMINAL['against'][0]}"
    assert text_heatmap(told).plain == told.text


def test_with_ranges_colours_are_weights(dreary: Attribution) -> None:
    told = replace(dreary, contributions=(0.0, -0.5, 0.0, 0.0, 0.0, 0.0))
    styles = {told.text[span.start : span.end]: str(span.style) for span in text_heatmap(told).spans}
    assert styles["dreary"] == TERMINAL["size"][3]
    bare = replace(told, intervals=None)
    styles = {told.text[span.start : span.end]: str(span.style) for span in text_heatmap(bare).spans}
    assert styles["dreary"] == TERMINAL["against"][3]


@pytest.mark.parametrize("signed", [False, True])
def test_eighty_columns_hold_ranges_beside_contributions(signed: bool) -> None:
    ends = (-0.123, 0.456) if signed else (0.0, 0.456)
    scores, intervals = (0.25,) * 3, (ends,) * 3
    told = asked(scores, intervals, signed=signed, contributions=(0.1,) * 3, tokens=("x" * 40,) * 3)
    lines = printed(tokens_document(told)).splitlines()
    assert max(map(cell_len, lines)) <= 80
    assert sum(range_text(told, 0) in line and "+0.100" in line and "│" in line for line in lines) == 3


def test_a_bar_goes_before_a_number_is_cut() -> None:
    told = asked((1e-5,) * 3, ((2e-6, 3e-5),) * 3, signed=True, contributions=(1e-5,) * 3, words=(0, 0, 1))
    lines = printed(tokens_document(told)).splitlines()
    assert max(map(cell_len, lines)) <= 80
    assert sum(range_text(told, 0) in line and "…" not in line for line in lines) == 3
    assert not any("│" in line for line in lines)


def test_a_text_without_tokens() -> None:
    out = printed(tokens_document(asked((), ())))
    assert "0 of 0 weights certain" in out


end = st.one_of(st.none(), st.floats(0, 2))


@st.composite
def attributions(draw: st.DrawFn) -> Attribution:
    scores = tuple(draw(st.lists(st.floats(-1, 1), min_size=1, max_size=8)))
    known = [
        draw(st.one_of(st.none(), st.tuples(end, end).map(lambda gaps, s=score: around(s, *gaps))))
        for score in scores
    ]
    return asked(scores, tuple(known), signed=True)


def around(score: float, below: float | None, above: float | None) -> Ends:
    return None if below is None else score - below, None if above is None else score + above


@settings(max_examples=40, deadline=None)
@given(attributions())
def test_what_is_printed_is_true_of_the_ends(told: Attribution) -> None:
    lines = printed(tokens_document(told)).splitlines()
    rows = lines[3 : 3 + len(told.scores)]
    assert max(map(cell_len, lines)) <= 80
    assert not any(word in " ".join(lines) for word in ("nan", "inf", "None"))
    for i, row in enumerate(rows):
        ends = told.interval(i)
        marked = "] ░" in row
        assert marked == told.may_be_zero(i)
        assert ("certain" in row) == told.certain(i)
        assert ("?" in row) == (ends is None)
        if ends is not None:
            drawn = range_bar(told, i, extremes([told])).plain
            if told.may_be_zero(i):
                assert "█" not in drawn
            elif any(part in drawn for part in "▓░→←"):
                assert "█" in drawn
            assert drawn.count("←") == (ends[0] == -np.inf)
            assert drawn.count("→") == (ends[1] == np.inf)
            assert len(drawn) <= RANGE + 1


def test_the_axis_holds_every_end_and_zero(tanhmax: AuditCard) -> None:
    told = [fake_cards.ranged(h.attribution) for h in tanhmax.highlights]
    low, high = extremes(told)
    ends = [e for t in told for pair in t.intervals or () if pair for e in pair if e is not None]
    scores = [score for t in told for score in t.scores]
    # Somewhere nothing bounds a range, so that both sides have room for an arrow.
    span = max([*ends, *scores]) - min([*ends, *scores])
    assert low == pytest.approx(min([*ends, *scores]) - 0.15 * span)
    assert high == pytest.approx(max([*ends, *scores]) + 0.15 * span)
    assert extremes([]) == (0.0, 0.0)
    assert extremes([asked((0.3,), ((0.2, 0.5),))]) == (0.0, 0.5)

"""Tokens that share a place in the text are drawn as one: their sum, and all of their names."""

import json
import math
from dataclasses import replace

import pytest

from glasshead.escaping import STEERING
from glasshead.report import draw_text
from glasshead.report.html.text_heatmap import notebook_heatmap, text_heatmap
from glasshead.report.plots.texts import words_in_lines
from glasshead.report.terminal.text_heatmap import text_heatmap as terminal_heatmap
from glasshead.report.text_spans import coloured_spans, drawn_max, strongest_tokens, text_spans
from glasshead.results import Attribution

CASES = {
    "bytes of an emoji": ("so 🎬!", ("so", "Ġð", "Ł", "İ¬", "!"), ((0, 2), (3, 4), (3, 4), (3, 4), (4, 5))),
    "a blank and its character": ("a 好", ("a", "▁", "好"), ((0, 1), (2, 3), (2, 3))),
    "a sign of several words": ("a ㍿", ("a", "株", "式", "会", "社"), ((0, 1), *[(2, 3)] * 4)),
    "one inside another": ("good", ("goo", "o", "d"), ((0, 3), (1, 2), (3, 4))),
    "one across another": ("good", ("goo", "od"), ((0, 3), (2, 4))),
}


def attribution(case, scores=None, **more):
    text, tokens, offsets = CASES[case]
    scores = tuple(0.1 * (rank + 1) for rank in range(len(tokens))) if scores is None else scores
    return Attribution(
        text=text, tokens=tokens, ids=tuple(range(len(tokens))), words=tuple(range(len(tokens))),
        offsets=offsets, scores=scores, signed=True, target="good", predicted="good", prediction=0.9,
        method="gradient", **more,
    )  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_every_place_has_the_sum_of_its_tokens(case):
    made = attribution(case)
    spans = list(text_spans(made))
    assert "".join(made.text[span.start : span.end] for span in spans) == made.text
    for span in coloured_spans(made, 10.0):
        here = [
            token
            for token, (start, end) in enumerate(made.offsets)
            if start <= span.start and span.end <= end
        ]
        assert list(span.tokens) == here
        assert span.share == pytest.approx(math.fsum(made.scores[token] for token in here) / 10)


def test_the_sum_is_drawn_everywhere_and_all_tokens_are_named():
    """The first of the three bytes speaks against, all together for."""
    made = attribution("bytes of an emoji", (0.1, -0.2, 0.4, 0.3, 0.05))
    assert drawn_max(made) == pytest.approx(0.5)
    assert strongest_tokens(made, 1) == "'Ġð Ł İ¬' +0.500"
    (span,) = (span for span in draw_text(made).spans if len(span.tokens) > 1)
    assert (span.text, span.number, span.share) == ("🎬", "+0.500", 1.0)
    for token in ("Ġð", "Ł", "İ¬", "together: score +0.500"):
        assert token in span.description
        assert token in text_heatmap(made, 0.5)
        assert token in notebook_heatmap(made, 0.5)
    assert 'class="p" style="--a:1.00"' in text_heatmap(made, 0.5)
    styles = {made.text[span.start : span.end]: str(span.style) for span in terminal_heatmap(made).spans}
    reds = {made.text[span.start : span.end]: str(span.style) for span in terminal_heatmap(
        attribution("bytes of an emoji", (0.1, 0.5, 0.0, 0.0, 0.05))).spans}  # fmt: skip
    assert styles["🎬"] == reds["🎬"]
    assert {word.span.share for word in words_in_lines(made, 0.5) if len(word.span.tokens) > 1} == {1.0}
    assert draw_text(made).largest == "largest score +0.500 (Ġð Ł İ¬)"


def test_a_sum_may_be_zero_where_the_sum_of_its_ranges_is():
    ranges = ((0.1, 0.1), (-0.3, -0.2), (0.3, 0.5), (0.0, 0.1), (0.05, 0.05))
    made = attribution("bytes of an emoji", (0.1, -0.2, 0.4, 0.05, 0.05), intervals=ranges)
    (span,) = (span for span in coloured_spans(made, 1.0) if len(span.tokens) > 1)
    assert made.interval(1, 2, 3) == pytest.approx((0.0, 0.4))
    assert (span.least, span.doubt) == (pytest.approx(0.0, abs=1e-9), "maybe")
    unknown = attribution("bytes of an emoji", intervals=(ranges[0], None, *ranges[2:]))
    assert {span.doubt for span in coloured_spans(unknown, 1.0) if len(span.tokens) > 1} == {"unknown"}


@pytest.mark.parametrize("kind", ["svg", "json", "html"])
def test_no_saved_file_steers_a_terminal_or_turns_the_direction(kind, tmp_path):
    names = {"target": "go\u202eod\x9b", "predicted": "go\u202eod\x9b"}
    made = replace(attribution("a sign of several words"), text="a \u202e㍿\x85", **names)
    made.save(tmp_path / f"it.{kind}")
    content = (tmp_path / f"it.{kind}").read_text(encoding="utf-8")
    assert not STEERING.search(content)
    if kind == "json":
        assert json.loads(content)["text"] == made.text

"""What is said to have moved a token: a planted cause is named, and what is no cause is not."""

import io

import fake_histories
import numpy as np
import pytest
from rich.console import Console

from glasshead.papers.dynamics.findings import findings
from glasshead.papers.report import dynamics_document
from glasshead.papers.report.dynamics_page import dynamics_page
from glasshead.papers.report.dynamics_summary import DynamicsSummary, dominant_term_words
from glasshead.papers.results import MUCH_UNEXPLAINED, History, cumulative_column
from glasshead.report import terminal_view
from pages import Page

TOKEN = "neutral3"


def planted(change, **terms):
    """The history with a change of the score of one token, and what each term has added to it, both in
    proportion to the steps."""
    bare = fake_histories.history()
    columns = {name: column.copy() for name, column in bare.tokens.items()}
    here = columns["token"] == TOKEN
    columns["score"][here] = 0.016 + change * columns["step"][here] / 40
    for name, value in terms.items():
        columns[cumulative_column("score", name)][here] = value * columns["step"][here] / 40
    return History(bare.facts, bare.curves, bare.products, columns)


def told(history, **more):
    return DynamicsSummary("planted", history, findings(history), (TOKEN,), **more)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(
    ("change", "terms", "term", "size", "words"),
    [
        # All explained: the largest of the terms.
        (1.75, {"D": 1.0, "E": 0.5, "F": 0.25}, "D", 1.0, " (own labels)"),
        (1.75, {"D": 0.25, "E": 0.5, "F": 1.0}, "F", 1.0, " (similar tokens)"),
        # The largest term pulled the other way: the cause is what overcame it.
        (0.5, {"D": 0.5, "E": 3.0, "F": -3.0}, "E", 3.0, " (own lead)"),
        (0.25, {"D": 2.0, "E": 0.25, "F": -2.1}, "D", 2.0, " (own labels)"),
        # Half as much is left, and a little more than that.
        (1.5, {"D": 1.0, "E": 0.0, "F": 0.0}, "D", 1.0, " (own labels)"),
        (1.6, {"D": 1.0, "E": 0.0, "F": 0.0}, "D", 1.0, " (own labels)" + MUCH_UNEXPLAINED),
        (0.4, {"D": 1.0, "E": 0.0, "F": 0.0}, "D", 1.0, " (own labels)" + MUCH_UNEXPLAINED),
        # The rest is larger than all terms, or than all that have the sign of the change.
        (2.1, {"D": 1.0, "E": 0.0, "F": 0.0}, "not explained", 1.1, ""),
        (0.258, {"D": 0.03, "E": 0.017, "F": -4.649}, "not explained", 4.86, ""),
        (0.5, {"D": 1.0, "E": 0.9, "F": 0.0}, "not explained", -1.4, ""),
        (0.5, {"D": 0.0, "E": 0.0, "F": -1.0}, "not explained", 1.5, ""),
    ],
)
def test_the_planted_cause_is_named(sign, change, terms, term, size, words):
    signed = {name: sign * value for name, value in terms.items()}
    written = f"{'+' if sign * size > 0 else '−'}{abs(size):.3f}"
    history = planted(sign * change, **signed)
    assert dominant_term_words(told(history), TOKEN) == f"{term} {written}{words}"
    half = f"{'+' if sign * size > 0 else '−'}{abs(size) / 2:.3f}"
    assert dominant_term_words(told(history, step=20), TOKEN) == f"{term} {half}{words}"


def test_what_has_not_moved_has_no_cause():
    assert dominant_term_words(told(planted(0.0, D=1.0, E=-1.0)), TOKEN) == "–"
    assert dominant_term_words(told(planted(1.0, D=1.0), step=0), TOKEN) == "–"
    assert dominant_term_words(told(fake_histories.history(exact=False)), TOKEN) == "–"


def test_terminal_and_page_say_the_same_as_the_table_of_groups():
    """Of one token alone and of a group of such tokens the same words, from one rule."""
    history = planted(0.258, D=0.03, E=0.017, F=-4.649)
    group = history.tokens["group"] == "neutral"
    columns = dict(history.tokens)
    for name in ("score", *(cumulative_column("score", term) for term in fake_histories.SCORE)):
        one = columns[name][columns["token"] == TOKEN]
        columns[name] = columns[name].copy()
        columns[name][group] = np.repeat(one, fake_histories.GROUPS["neutral"])
    found = told(History(history.facts, history.curves, history.products, columns))
    console = Console(file=io.StringIO(), width=160, color_system=None)
    console.print(terminal_view(dynamics_document(found)))
    printed = " ".join(console.file.getvalue().split())
    page = " ".join(Page(dynamics_page(found)).all("body")[0].text.split())
    for said in (printed, page):
        assert "not explained +4.860" in said
        assert "F −4.649 (similar tokens)" not in said
    assert "neutral: not explained is the largest part." in printed

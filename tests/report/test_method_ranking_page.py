"""A ranking of methods on its page, in a figure, a notebook and a terminal."""

import io
import json
import re

import fake_rankings
import pytest
from rich.console import Console

import glasshead.report  # noqa: F401 — registers how values are drawn
from glasshead.report import PLOTS, ranking_document, terminal_view
from glasshead.report.figure_file import to_matplotlib
from glasshead.report.html.ranking_page import ranking_page
from glasshead.report.ranking_rows import gain_over_random, ranking_rows, seconds_in_words
from pages import Page


@pytest.fixture(scope="module")
def ranking():
    return fake_rankings.make()


@pytest.fixture(scope="module")
def html(ranking):
    return ranking_page(ranking)


def test_the_conclusion_stands_first_and_every_method_in_its_row(ranking, html):
    page = Page(html)
    assert page.all("h1")[0].text == ranking.conclusion[0]
    table = page.all("table", "standings")[0]
    assert [table.text.index(name) for name in ("erasure", "attention", "mine")] == sorted(
        table.text.index(name) for name in ("erasure", "attention", "mine")
    )
    for words in ("●", "○", "▽", "*", "random order", "38\u00a0ms"):
        assert words in table.text
    leads = [one for one in page.all("td") if "●" in one.text]
    assert len(leads) == (len(fake_rankings.REMOVALS) + 1) + 3 * len(fake_rankings.REMOVALS)


def test_nothing_from_outside_is_markup_and_no_network_is_needed(html):
    assert "\x1b" not in html
    assert "\u202e" not in html
    assert "<i>" not in html
    assert "<b>work" not in html
    assert "http" not in html


def test_every_text_is_read_by_every_method(ranking, html):
    texts = Page(html).all("p", "text")
    assert len(texts) == len(ranking.texts) * len(ranking.methods)


def test_every_number_and_difference_is_there(ranking, html):
    page = Page(html)
    rows = [row.text for row in page.all("tr")]
    assert sum("attention minus erasure" in row for row in rows) == len(ranking.differences)
    assert sum("Leads alone." in row for row in rows) >= len(ranking.methods) * len(fake_rankings.STATISTICS)


def test_more_is_better_of_every_gain(ranking):
    method = ranking.methods[1]
    more, less = (
        gain_over_random(method.finding(statistic, "delete")) for statistic in ("insertion", "deletion")
    )
    assert more[0] == -less[0] > 0
    assert more[1] == (-less[1][1], -less[1][0])


def test_a_dot_is_filled_where_its_method_leads(ranking):
    figure = PLOTS["method-ranking"].draw(ranking)
    assert len(figure.panels) == len(fake_rankings.REMOVALS) + 1
    axes = to_matplotlib(figure).axes[0]
    filled = [line.get_markerfacecolor() != "#ffffff" for line in axes.lines if line.get_marker() == "o"]
    assert filled.count(True) == 1
    assert len(filled) == len(ranking.methods)


def test_the_first_rows_lead_most(ranking):
    rows = ranking_rows(ranking, "comprehensiveness")
    assert [row.method.name for row in rows] == ["erasure", "attention", fake_rankings.HOSTILE]


@pytest.mark.parametrize("kind", ["html", "json", "svg", "png"])
def test_it_is_saved_in_every_kind_of_file(ranking, tmp_path, kind):
    ranking.save(tmp_path / f"ranking.{kind}")
    content = (tmp_path / f"ranking.{kind}").read_bytes()
    if kind == "json":
        document = json.loads(content)
        assert {pair["one"] for pair in document["differences"]} == {"attention"}
        assert document["examples"] == {"index": [0], "text": ["a film"]}
    assert len(content) > 1000


def test_a_notebook_and_a_terminal_show_the_same_numbers(ranking):
    fragment = ranking._repr_html_()
    assert "<i>" not in fragment
    shown = Page(fragment).elements[0].text
    console = Console(file=io.StringIO(), width=120)
    console.print(terminal_view(ranking_document(ranking)))
    printed = console.file.getvalue()
    assert "\x1b[31m" not in printed
    for cell in re.findall(r"\d\.\d{3} [●○▽]", printed):
        assert cell in shown
    assert len(re.findall(r"\d\.\d{3} [●○▽]", printed)) == 9


def test_without_marks_there_is_no_column_of_them(ranking):
    page = ranking_page(fake_rankings.make(marks=False))
    assert "AUPRC" in ranking_page(ranking)
    assert "AUPRC" not in page


@pytest.mark.parametrize(
    ("seconds", "words"), [(1.041, "1.04 s"), (0.0141, "14 ms"), (0.00152, "1.5 ms"), (0.000134, "0.13 ms")]
)
def test_seconds_have_two_digits(seconds, words):
    assert seconds_in_words(seconds).replace("\u00a0", " ") == words

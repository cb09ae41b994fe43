"""Sources of an answer in the terminal, a notebook, Markdown and on a page: complete, and harmless."""

import json
import re
from dataclasses import replace
from io import StringIO

import pytest
from fake_cited import ANSWER, NASTY, PASSAGES, cited, without_sources
from rich.console import Console

from glasshead.report import cited_document, cited_page, markdown, terminal_view
from glasshead.report.cited_markdown import cited_markdown
from glasshead.report.cited_words import facts_of, foretelling_in_words, label_of, web_link
from glasshead.results import Passage
from pages import Page


def terminal(value, width=160):
    out = StringIO()
    Console(file=out, width=width).print(terminal_view(cited_document(value)))
    return " ".join(out.getvalue().split())


def data_of(page):
    return json.loads(re.search(r"const STATEMENTS = (.*);", page)[1])


def test_terminal_has_the_conclusion_the_marks_and_every_number():
    said = terminal(cited())
    assert said.startswith("The answer comes from passages 1 (Coasts), 2 (Keepers) and 4")
    assert "It was built in 1871. [1] The keeper was Ana Ruiz. [2][4]" in said
    assert "This sentence comes from passages 2 (Keepers) and 4. Without them" in said
    assert "1: Coasts +6.20 [5.70, 6.70] +5.10 +4.90 +3.10 10 %" in said
    assert "log-odds of these words, from a sparse linear model fitted to 64 random subsets" in said
    assert "intervals are over the draws and hold for all passages of a statement at once" in said
    assert "0.7 nats halve a probability" in said


def test_attention_on_a_passage_that_is_no_source_is_said_and_on_a_source_not():
    said = terminal(cited())
    assert "Attention gives most to passage 3" in said
    assert "which is not one of them (30 % of what it gives to the prompt)" in said
    assert "which is not this one (30 %" in terminal(cited(statements=cited().statements[1:2]))
    assert "Attention gives" not in terminal(cited(statements=cited().statements[2:]))
    assert "Passage 5 matters only when it is replaced" in terminal(cited(statements=cited().statements[2:]))


def test_without_draws_numbers_are_exact_and_nothing_is_said_of_draws():
    said = terminal(without_sources())
    assert said.startswith(
        "The answer comes from none of the passages Without any of them it is as probable."
    )
    assert f"{ANSWER} Passages" in said
    assert "Nothing is drawn, so it is exact" in said
    assert "+0.02 exact" in said
    assert "interval" not in said
    assert not any("draws" in fact for fact in facts_of(without_sources()))


def test_it_says_which_numbers_predict_ablations():
    whole = cited().whole
    assert foretelling_in_words(whole) == (
        "Added up over the passages that are left, these numbers predict how probable the answer is in 64 "
        "ablations (Spearman’s ρ): contextcite: ρ = 0.93 [0.88, 0.96], better than chance; attention: "
        "ρ = 0.20 [−0.10, 0.40], not better than chance."
    )
    assert foretelling_in_words(cited().statements[1]) == ""


def test_of_many_passages_sources_are_kept_and_the_rest_is_counted():
    whole = without_sources().whole
    one = whole.effects[0]
    effects = tuple(
        replace(one, passage=place, effect=-place / 100, is_source=place == 49) for place in range(50)
    )
    passages = tuple(Passage(f"text {place}") for place in range(50))
    many = replace(whole, effects=effects, maps={}, other={})
    said = terminal(cited(statements=(many,), passages=passages))
    assert said.index("50: text 49") < said.index("1: text 0")
    assert "30 more passages, none of them a source" in said


def test_markdown_has_a_footnote_for_each_source_with_its_effects():
    lines = cited_markdown(cited()).split("\n")
    assert r"> It was built in 1871.[^1] The keeper was Ana Ruiz.[^2][^4]  " in lines
    notes = [line for line in lines if line.startswith("[^")]
    assert notes == [
        "[^1]: Passage 1, [Coasts](<https://example.org/a?b=1&c=2>): effect +6.10 \\[5.60, 6.60\\] on "
        "sentence 1 (log-odds)",
        "[^2]: Passage 2, Keepers: effect +2.40 \\[1.90, 2.90\\] on sentence 2 (log-odds)",
        "[^4]: Passage 4, Alta's keeper was Ana Ruiz.: effect +2.20 \\[1.70, 2.70\\] on sentence 2 "
        "(log-odds)",
    ]
    assert lines[0] == "## The answer comes from passages 1 (Coasts), 2 (Keepers) and 4"


def test_markdown_without_sources_has_no_footnote(tmp_path):
    without_sources().save(tmp_path / "cited.md")
    text = (tmp_path / "cited.md").read_text(encoding="utf-8")
    assert f"> {ANSWER}" in text
    assert "[^" not in text
    assert text == markdown(cited_document(without_sources()))


def test_an_answer_of_several_lines_stays_a_quotation():
    answer = "1. It was\nbuilt # in 1871."
    whole = replace(cited().whole, stop=len(answer))
    text = cited_markdown(cited(answer=answer, statements=(whole,)))
    assert "> 1\\. It was  \n> built \\# in 1871.[^1][^2][^4]  " in text


@pytest.mark.parametrize(
    ("link", "kept"),
    [
        ("https://example.org/a?b=1&c=2", True),
        ("http://example.org", True),
        ("javascript:alert(1)", False),
        ("JavaScript:alert(1)", False),
        ("data:text/html,x", False),
        ("https://", False),
        ("https://exa mple.org", False),
        ("https://example.org/\u202etxt", False),
        ("http://[bad", False),
        ("docs/a.txt", False),
        ("C:\\docs\\a.txt", False),
        ("", False),
    ],
)
def test_only_addresses_of_the_web_are_links(link, kept):
    assert web_link(Passage("text", link=link)) == (link if kept else "")


def test_a_passage_is_called_by_its_title_else_by_its_first_words():
    assert label_of(Passage("a text", "A title")) == "A title"
    assert label_of(Passage("two\n  lines")) == "two lines"
    assert label_of(Passage("word " * 50)) == f"{('word ' * 12).strip()}…"


def test_page_is_complete_and_nothing_of_a_text_is_an_element():
    html = cited_page(cited())
    page = Page(html)
    assert [one.text for one in page.all("mark", "sentence")] == [
        "It was built in 1871.",
        "The keeper was Ana Ruiz.",
    ]
    assert [one.attributes["data-passage"] for one in page.all("li")] == list("01234")
    links = [one.attributes["href"] for one in page.all("a")]
    assert links == [PASSAGES[0].link, PASSAGES[2].link]
    assert all(one.attributes["rel"] == "noopener noreferrer" for one in page.all("a"))
    assert "<script>alert" not in html
    assert "\u202e" not in html
    assert len(page.all("script")) == 1
    assert "onmouseover" not in {name for one in page.all("a") for name in one.attributes}


def test_page_has_the_bars_the_intervals_and_the_coloured_words_of_every_statement():
    whole, first, second = data_of(cited_page(cited()))
    assert [row["passage"] for row in whole["rows"]] == [0, 1, 3, 4, 2]
    assert [row["source"] for row in second["rows"]] == [True, True, False, False, False]
    row = first["rows"][0]
    # from −0.8, the lowest end of an interval, to 6.6, the highest
    assert row["bar"] == pytest.approx([100 * 0.8 / 7.4, 100 * 6.9 / 7.4], abs=0.01)
    assert row["whisker"] == pytest.approx([100 * 6.4 / 7.4, 100.0], abs=0.01)
    assert row["more"] == ["without it +5.10", "replaced +4.90", "only it +3.05", "attention 10\xa0%"]
    words = {PASSAGES[0].text[a:b]: (kind, strength) for a, b, kind, strength, _ in row["segments"]}
    assert words["1871."] == ("p", pytest.approx(0.85 * 4.9 / 5.0, abs=1e-3))
    assert words["built"] == ("n", pytest.approx(0.85 * 0.4 / 5.0, abs=1e-3))
    assert words["The"][0] == "z"
    assert words["It is painted red."][0] == "n"
    assert "interchangeable with passage 4" in second["rows"][0]["more"]
    assert second["remarks"] == [
        "Passage 5 matters only when it is replaced by a neutral text, not when it is deleted."
    ]


def test_words_that_hardly_matter_are_hardly_coloured():
    (*_, second) = data_of(cited_page(cited()))
    strengths = [strength for row in second["rows"] for *_, strength, _ in row["segments"]]
    assert max(strengths) == pytest.approx(0.85 * 0.4)  # of a nat at least, whatever is largest


def test_notebook_shows_marks_and_is_harmless():
    html = cited()._repr_html_()
    assert "<b> [2][4]</b>" in html
    assert "<script" not in html
    assert NASTY not in html
    assert len(repr(cited())) < 200

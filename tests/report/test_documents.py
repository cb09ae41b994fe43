"""A document says the same wherever it is printed, and nothing in it steers what prints it."""

import io
import re
from dataclasses import replace

import fake_rankings
import fake_writing
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from rich.console import Console
from test_comparison_page import group

import fake_cards
from glasshead.errors import InputError
from glasshead.escaping import one_line
from glasshead.report import (
    PLOTS,
    Facts,
    Heading,
    Sentence,
    Table,
    audits_document,
    cell,
    columns,
    comparison_document,
    ranking_document,
    table,
    terminal_view,
    tokens_document,
    written_document,
)
from glasshead.report.document import Listing, Mark, Passage, Piece, cell_of, columns_in_words, pieces_of
from glasshead.report.documents.rankings import numbers_table, pairs_table, standings_table
from glasshead.report.html.notebook_view import notebook_view
from glasshead.report.html.page_view import page_table
from glasshead.report.interval_marks import IntervalMark
from glasshead.report.markdown_view import markdown_view
from glasshead.report.weight_intervals import HATCH
from glasshead.results import Floor, RunComparison, RunDifference, SeedTest
from pages import Page


def comparison():
    difference = RunDifference(
        "accuracy", 1, 0, 0.125, (0.0625, 0.1875), 500, "better", SeedTest(2.5, 1.0, 0.2, True), "", 0.03, ""
    )
    part = {"accuracy": 0.4, "macro_f1": 0.2}
    floor = Floor("always guessing 'a'", {"test": part, "dev": part})
    groups = [group("near", "softmax", [0.5, 0.75]), group("far", "tanhmax", [0.75, 0.8125])]
    return RunComparison("data/trec", "test", 500, groups, [difference], 2000, floor)


DOCUMENTS = {
    "audit": lambda: audits_document([fake_cards.make("tanhmax")]),
    "audits": lambda: audits_document([fake_cards.make("tanhmax"), fake_cards.make("softmax")]),
    "comparison": lambda: comparison_document(comparison()),
    "ranking": lambda: ranking_document(fake_rankings.make()),
    "tokens": lambda: tokens_document(
        fake_cards.ranged(fake_cards.make("tanhmax").highlights[0].attribution)
    ),
    "numbers": lambda: [
        make(fake_rankings.make(), "comprehensiveness")
        for make in (standings_table, numbers_table, pairs_table)
    ],
    "written": lambda: written_document(fake_writing.writing()),
}


def words_of(document):
    """Everything that a document says, piece by piece."""
    for block in document:
        match block:
            case Heading(words):
                yield words
            case Sentence(words) | Passage(words):
                yield from (piece.words for piece in pieces_of(words))
            case Facts(facts):
                yield from facts
            case Listing(items):
                for says, reason in items:
                    yield says
                    yield from (piece.words for piece in pieces_of(reason))
            case Table():
                yield from (block.title, block.caption)
                shown = columns_in_words(block)
                # A terminal puts sentences below a row, under no title.
                heads = (block.columns[place] for place in shown)
                yield from (one.title for one in heads if one.kind != "below")
                for rows in block.groups:
                    yield rows.heading
                    cells = (cell_of(row[place]) for row in rows.rows for place in shown)
                    yield from (piece.words for one in cells for line in one.lines for piece in line)


def terminal(document):
    console = Console(file=io.StringIO(), width=2000, color_system=None)
    console.print(terminal_view(document))
    return console.file.getvalue()


def letters(text):
    return re.sub(r"\s+", "", text)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_all_back_ends_say_all_of_it(name):
    document = DOCUMENTS[name]()
    printed = {
        "terminal": terminal(document),
        "notebook": Page(notebook_view(document)).elements[0].text,
        "markdown": re.sub(r"\\(.)", r"\1", markdown_view(document)),
    }
    tables = [block for block in document if isinstance(block, Table)]
    pages = "".join(Page(str(page_table(one))).elements[0].text for one in tables)
    for words in words_of(replace(one, caption="") for one in tables):  # below a page's table
        if words.strip() != HATCH:  # a picture on pages
            assert letters(one_line(words)) in letters(pages.replace("\n", "↵")), words
    said = [letters(one_line(words)) for words in words_of(document) if words.strip()]
    assert len(said) > 5
    for back_end, text in printed.items():
        text = letters(text.replace("\n", "")) if back_end != "markdown" else letters(text)
        for words in said:
            assert words.strip("↵") in text, (back_end, words)


@given(st.text(min_size=1).filter(str.strip))
@settings(max_examples=60, deadline=None)
def test_whatever_a_cell_says_is_text(words):
    one = table(columns(("name",), ("number",)), [(words, cell(Piece(words, "strong")))], words, words)
    page = Page(str(page_table(one)))
    assert [len(page.all(tag)) for tag in ("table", "td", "th", "script")] == [1, 1, 3, 0]
    fragment = Page(notebook_view([Heading(words), one]))
    assert {element.tag for element in fragment.elements} <= {"div", "table", "tbody", "tr", "td", "b", "bdi"}
    shown = terminal([one])
    assert letters(one_line(words)) in letters(shown) or len(words) > 100
    assert "\x1b" not in shown.replace("␛", "")
    sentence, quotation = Sentence(words), Passage(words)
    row = (cell(Piece(words, "strong")), cell(Piece(words, "code")))
    document = [sentence, quotation, table(columns((words,), ("number",)), [row])]
    parse = MarkdownIt("commonmark", {"html": True}).enable("table").parse
    read = parse(markdown_view(document))
    kinds = {token.type for token in read} | {child.type for token in read for child in token.children or ()}
    assert not kinds & {"html_block", "html_inline", "link", "image", "list_item_open", "code_block", "hr"}
    cells = [read[at + 1] for at, token in enumerate(read) if token.type in ("th_open", "td_open")]
    assert len(cells) == 4
    spoken = "".join(child.content for child in cells[2].children)
    assert letters(spoken) == letters(one_line(words))


def test_an_axis_stands_above_marks_that_share_one():
    mark = IntervalMark("0.5", 0.5, (0.25, 0.75))
    shared, other = Mark(mark, (0.0, 1.0)), Mark(mark, (0.0, 2.0))
    for marks, axes in (((shared, shared), 1), ((shared, other), 0)):
        rows = [("a", cell("0.5", drawing=one)) for one in marks]
        page = Page(str(page_table(table(columns(("name",), ("number",)), rows))))
        assert len(page.all("svg", "ticks")) == axes
        assert len(page.all("svg", "dot")) == 2


def test_what_has_no_words_of_its_own_is_not_written_as_markdown(tmp_path):
    fake_rankings.make().save(tmp_path / "ranking.md")
    assert "| **0.312 ●" in (tmp_path / "ranking.md").read_text(encoding="utf-8")
    with pytest.raises(InputError, match=r"ends with none of \.html, \.json, \.svg"):
        PLOTS["method-ranking"].draw(fake_rankings.make()).save(tmp_path / "figure.md")

"""Written texts on a page, in a notebook and in the terminal: complete, and harmless whatever they hold."""

import json
import re
from io import StringIO

import pytest
from fake_writing import NASTY, writing, writing_of_image
from rich.console import Console

from glasshead.report import terminal_view, written_document, written_page
from glasshead.report.html.written_page import spans
from glasshead.report.written_words import choice_in_words, strongest_before
from pages import Page


def terminal(written):
    out = StringIO()
    Console(file=out, width=200).print(terminal_view(written_document(written)))
    return out.getvalue()


def test_every_token_of_the_answer_is_a_button_and_nothing_of_the_text_is_an_element():
    page = Page(written_page(writing()))
    assert page.all("img") == []
    buttons = page.all("mark", "written")
    assert [button.text for button in buttons] == [" good", " 🙂"]
    assert [button.attributes["data-tokens"] for button in buttons] == ["3", "4 5"]
    assert [button.attributes["tabindex"] for button in buttons] == ["0", "-1"]
    assert "[BOS]" in [mark.text for mark in page.all("mark", "special")]
    text = page.all("p", "text")[0].text
    assert text.replace("[BOS]", "") == writing().text


def test_the_page_holds_the_numbers_of_every_explanation_but_those_of_the_whole():
    html = written_page(writing())
    (data,) = json.loads(re.search(r"const TEXTS = (.*);", html)[1])
    assert [(one["method"], one["layer"], one["head"]) for one in data["maps"]][:3] == [
        ("attention", 0, "mean"), ("attention", 0, 0), ("attention", 0, 1),
    ]  # fmt: skip
    assert len(data["maps"]) == 7
    assert data["maps"][-1]["rows"] == [[0.0, -2.0, 1.0], [0.5, 0.5, -0.5, 4.0], [0.0] * 5]
    assert [one[2:] for one in data["places"][0]["alternatives"]] == [[0.6, 0.7], [0.3, 0.3], [0.1, 0.0]]
    assert "http" not in html.replace("http://www.w3.org/2000/svg", "")


def test_how_a_token_was_chosen_is_said_of_draws_of_certainty_and_of_beams():
    drawn, certain = (choice_in_words(writing(), place) for place in (0, 1))
    assert "probability 0.600, rank 1" in drawn
    assert "probability 0.700 and left out 1 of the 3" in drawn
    assert "left nothing else to choose" in certain
    assert "compares whole texts" in choice_in_words(writing(beams=True), 0)


def test_the_strongest_tokens_are_those_with_the_largest_sizes_and_zeros_are_none():
    written = writing()
    erasure = written.maps[-2]
    assert strongest_before(written, erasure, 0) == f"film −2.000, {NASTY} +1.000"
    assert strongest_before(written, erasure, 2) == "–"


@pytest.mark.parametrize("beams", [False, True])
def test_the_terminal_and_the_notebook_have_a_row_for_each_token(beams):
    written = writing(beams=beams)
    said = terminal(written)
    assert ("chance" in said) == (not beams)
    assert ("seed 7" in said) == (not beams)
    assert ("beam search also had: ' bad' −4.00" in said) == beams
    assert said.count("−0.51") == 1  # log 0.6
    fragment = written._repr_html_()
    assert "<img" not in fragment
    assert fragment.count("<tr>") == 4
    assert written._repr_html_() == fragment


def test_spans_cover_the_text_once():
    written = writing()
    covered = "".join(written.text[start:stop] for start, stop, _ in spans(written))
    assert covered == written.text
    assert sorted(token for _, _, tokens in spans(written) for token in tokens) == list(range(6))


def test_a_written_text_is_saved_as_a_page_and_as_json(tmp_path):
    writing().save(tmp_path / "written.html")
    assert (tmp_path / "written.html").read_text(encoding="utf-8") == written_page(writing())
    writing().save(tmp_path / "written.json")
    data = json.loads((tmp_path / "written.json").read_text(encoding="utf-8"))
    assert data["perplexity"] == pytest.approx(writing().perplexity)


def test_an_image_has_a_button_for_each_of_its_tokens_and_stands_in_the_text_once():
    page = Page(written_page(writing_of_image()))
    parts = page.all("rect")
    assert [part.attributes["data-token"] for part in parts] == ["0", "1"]
    assert [part.attributes["tabindex"] for part in parts] == ["0", "-1"]
    assert parts[1].attributes["aria-label"] == "row 1, column 2"
    assert [part.attributes["x"] for part in parts] == ["0", "40"]
    assert [one.text for one in page.all("span", "image-here")] == ["image"]
    assert "row 1" not in page.all("p", "text")[0].text
    assert page.all("figcaption")[0].text == ""  # one drawing needs no name
    assert not Page(written_page(writing())).all("rect")

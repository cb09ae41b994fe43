"""Coloured texts in a notebook: small, harmless, and the same in light and dark."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from fake_cards import attribution
from glasshead.report import number
from glasshead.report.html.text_heatmap import notebook_heatmap, text_heatmap
from glasshead.results import Attributions, AuditCard

CLASSES = ("negative", "positive")
WORDS = "a warm and funny film with a dull ending that nobody could follow".split()  # noqa: SIM905


def shown(text, signed=True, **more):
    return replace(attribution(text, signed, np.random.default_rng(0), CLASSES), **more)


def test_thirty_words_are_small_and_bring_no_script_and_no_style_sheet():
    html = Attributions((shown(" ".join((WORDS * 3)[:30])),))._repr_html_()
    assert len(html) < 30_000
    assert not re.search(r"<script|<style|<link|class=|id=|https?:", html)
    assert len(re.findall(r"<span style=", html)) == 30


def test_what_comes_from_outside_is_text():
    nasty = "<script>alert(1)</script> \u202e\u001b[31m"
    one = shown("a film")
    html = replace(one, text=nasty, target=nasty, reading=nasty)._repr_html_()
    assert "<script" not in html
    assert "\u202e" not in html
    assert "\u001b" not in html


def test_each_token_has_its_number_and_its_side():
    one = shown("warm film", contributions=None)
    one = replace(one, scores=tuple(0.5 if token == "warm" else -0.25 for token in one.tokens))
    html = one._repr_html_()
    warm, film = (
        re.search(rf'<span style="([^"]*)" title="([^"]*)">{word}', html) for word in ("warm", "film")
    )
    assert "214,69,65,0.62" in warm[1]
    assert "43,108,196,0.31" in film[1]
    assert number(0.5, plus=True) in warm[2]
    assert f"red: for {one.target}" in html


def test_many_texts_share_one_scale_and_one_key():
    texts = Attributions(tuple(shown(f"film {word}") for word in WORDS * 2), ((3, "the text is empty"),))
    html = texts._repr_html_()
    assert html.count("method ") == 1
    assert "text 4 is left out: the text is empty" in html
    assert f"{len(WORDS) * 2 - 25} more texts are not shown" in html


def test_an_empty_text():
    assert "(empty text)" in replace(shown("film"), text="", offsets=((0, 0),))._repr_html_()


def test_a_card_shows_its_key_findings_and_three_texts(tanhmax, tmp_path):
    html = tanhmax._repr_html_()
    assert len(html) < 60_000
    assert not re.search(r"<script|<style|<link|class=|id=|https?:", html)
    finding = tanhmax.finding("agreement.contribution.erasure-renormalise.all")
    assert number(finding.estimate) in html
    assert html.count("predicted ") >= 3
    assert len(repr(tanhmax)) < 200
    assert len(tanhmax.to_pandas()) == len(tanhmax.findings)
    tanhmax.save(tmp_path / "card.html")
    assert "<!doctype html>" in (tmp_path / "card.html").read_text()
    tanhmax.save(tmp_path / "folder")
    assert len(AuditCard.load(tmp_path / "folder").findings) == len(tanhmax.findings)


def test_a_printed_explanation_has_words_numbers_and_remarks():
    one = replace(shown("warm film"), contributions=(0.25, -0.5), prediction=0.75)
    texts = Attributions((one,) * 7, ((2, "the text is empty"),), ("the model was in half precision",))
    said = str(texts)
    assert "Attributions of 7 texts" in said
    assert "film -0.5 warm +0.25" in said
    assert f"predicted {one.predicted}, p({one.target}) = 0.75" in said
    assert "… and 2 more" in said
    assert "text 3 is left out: the text is empty" in said
    assert "half precision" in said
    assert len(said.splitlines()) == 9
    assert repr(texts) == said


def test_a_printed_explanation_steers_no_terminal():
    nasty = "\u202e\u001b[31m\n"
    one = replace(shown("film"), text=nasty, target=nasty, predicted=nasty, tokens=(nasty,))
    assert not set("\u202e\u001b\n") & set(repr(one))


def test_a_saved_page_keeps_remarks(tmp_path):
    texts = Attributions((shown("film"),), ((3, "the text is empty"),), ("read in float32 <b>",))
    texts.save(tmp_path / "texts.html")
    page = (tmp_path / "texts.html").read_text(encoding="utf-8")
    assert "text 4 is left out: the text is empty" in page
    assert "read in float32 &lt;b&gt;" in page


def test_json_has_no_nan():
    one = shown("film")
    one = replace(one, scores=(float("nan"),), contributions=None)
    for value in (one, Attributions((one,))):
        assert "NaN" not in value.to_json()
        assert json.loads(value.to_json(), parse_constant=pytest.fail)


def test_page_and_notebook_mark_the_same_tokens():
    one = shown("a warm and dull film")
    page = text_heatmap(one, 1.0)
    inline = notebook_heatmap(one, 1.0)
    for html in (page, inline):
        assert re.sub(r"<[^>]*>", "", str(html)).startswith(one.text)
    tips = [
        re.findall(f'{name}="([^"]*)"', str(html)) for name, html in (("data-tip", page), ("title", inline))
    ]
    assert tips[0] == tips[1]
    assert len(tips[0]) == len(one.tokens)

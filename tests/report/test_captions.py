"""Captions and legends name only what is drawn."""

from dataclasses import replace

import numpy as np
import pytest

import fake_cards
import fake_histories
from glasshead.papers.results import History
from glasshead.report import PLOTS, PlotOptions, plots_of
from glasshead.results import AuditCard


def card_of(n, *without):
    """A card of n texts, without the columns and nulls whose names hold one of the words."""
    card = fake_cards.make()
    examples = {
        name: column[:n]
        for name, column in card.examples.items()
        if not any(word in name for word in without)
    }
    findings = [replace(each, null={}) if "null" in without else each for each in card.findings]
    return replace(card, examples=examples, findings=findings, tokens={})


def drawn(card):
    figures = [plot.draw([card], ["one"]) for plot in plots_of(AuditCard).values()]
    return {figure.title: figure for figure in figures if figure is not None}


def words(figure):
    return [entry.words for entry in figure.legend]


@pytest.mark.parametrize(("n", "joined"), [(49, False), (60, True)])
def test_a_line_of_means_needs_fifty_texts(n, joined):
    caption = drawn(card_of(n))["Shuffling the weights"].caption
    assert ("the line joins the means" in caption) is joined


def test_nulls_and_outlines_are_named_where_they_are_drawn():
    whole, bare = drawn(card_of(30)), drawn(card_of(30, "null", "attention-absolute", "random-normalised"))
    title = "Agreement of attention with gradient"
    assert "the dashed line the mean for random weights" in whole[title].caption
    assert "dashed" not in bare[title].caption
    assert words(whole[title])[-1] == "absolute values"
    assert "absolute values" not in words(bare[title])
    assert "below: normalised" in words(whole["Random weights"])
    assert "below: normalised" not in words(bare["Random weights"])


def without(history, *names):
    """The history without the curves of some quantities."""
    kept = ~np.isin(history.curves["quantity"], names)
    curves = {name: column[kept] for name, column in history.curves.items()}
    return History(history.facts, curves, history.products, history.tokens)


def test_pictures_of_a_training_name_what_was_recorded():
    history = fake_histories.history()
    assert "Entropy is a share" in PLOTS["training"].draw(history, PlotOptions()).caption
    assert "ntropy" not in PLOTS["training"].draw(without(history, "entropy"), PlotOptions()).caption
    layered = fake_histories.layered()
    assert "Kendall τ-b" in PLOTS["layers"].draw(layered, PlotOptions()).caption
    bare = PLOTS["layers"].draw(without(layered, "agreement", "residual"), PlotOptions()).caption
    assert "Kendall" not in bare
    assert "rank one –" not in bare


def test_broken_lines_and_whiskers_are_named_where_there_are_some():
    own = {"score": {name: name for name in "DE"}, "polarity": {name: name for name in "AB"}}
    broken = "a thin broken line"
    assert broken in PLOTS["terms"].draw(fake_histories.history(), PlotOptions()).caption
    assert broken not in PLOTS["terms"].draw(fake_histories.history(terms=own), PlotOptions()).caption
    end = fake_histories.history(steps=[40])
    assert "whiskers" in PLOTS["terms"].draw(end, PlotOptions()).caption
    end.curves["std"][:] = np.nan
    assert "whiskers" not in PLOTS["terms"].draw(end, PlotOptions()).caption

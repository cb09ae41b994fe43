"""Captions and legends name only what is drawn."""

from dataclasses import replace

import fake_cards
import numpy as np
import pytest

import fake_histories
from glasshead.report.dynamics.registry import PICTURES, Asked
from glasshead.report.plots import plots
from glasshead.results import History


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
    return {plot.title: plot for plot in plots([card], ["one"])}


@pytest.mark.parametrize(("n", "joined"), [(49, False), (60, True)])
def test_a_line_of_means_needs_fifty_texts(n, joined):
    caption = drawn(card_of(n))["Shuffling the weights"].caption
    assert ("the line joins the means" in caption) is joined


def test_nulls_and_outlines_are_named_where_they_are_drawn():
    whole, bare = drawn(card_of(30)), drawn(card_of(30, "null", "attention-absolute", "random-normalised"))
    title = "Agreement of attention with gradient"
    assert "the dashed line the mean for random weights" in whole[title].caption
    assert "dashed" not in bare[title].caption
    assert ("outline", "absolute values") in whole[title].legend
    assert "outline" not in dict(bare[title].legend)
    assert "below: normalised" in dict(whole["Random weights"].legend).values()
    assert "below: normalised" not in dict(bare["Random weights"].legend).values()


def without(history, *names):
    """The history without the curves of some quantities."""
    kept = ~np.isin(history.curves["quantity"], names)
    curves = {name: column[kept] for name, column in history.curves.items()}
    return History(history.facts, curves, history.products, history.tokens)


def test_pictures_of_a_training_name_what_was_recorded():
    history = fake_histories.history()
    assert "Entropy is a share" in PICTURES["training"](history, Asked()).caption
    assert "ntropy" not in PICTURES["training"](without(history, "entropy"), Asked()).caption
    layered = fake_histories.layered()
    assert "Kendall τ-b" in PICTURES["layers"](layered, Asked()).caption
    bare = PICTURES["layers"](without(layered, "agreement", "residual"), Asked()).caption
    assert "Kendall" not in bare
    assert "rank one –" not in bare


def test_broken_lines_and_whiskers_are_named_where_there_are_some():
    own = {"score": {name: name for name in "DE"}, "polarity": {name: name for name in "AB"}}
    broken = "a thin broken line"
    assert broken in PICTURES["terms"](fake_histories.history(), Asked()).caption
    assert broken not in PICTURES["terms"](fake_histories.history(terms=own), Asked()).caption
    end = fake_histories.history(steps=[40])
    assert "whiskers" in PICTURES["terms"](end, Asked()).caption
    end.curves["std"][:] = np.nan
    assert "whiskers" not in PICTURES["terms"](end, Asked()).caption

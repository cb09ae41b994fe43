"""Captions and legends name only what is drawn."""

from dataclasses import replace

import pytest

import fake_cards
from glasshead.report import plots_of
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

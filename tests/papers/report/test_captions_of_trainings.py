"""Captions of trainings name only what is drawn."""

import fake_histories
import numpy as np

from glasshead.papers.results import History
from glasshead.report import PLOTS, PlotOptions


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

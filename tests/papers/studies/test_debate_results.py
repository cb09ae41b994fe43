"""The measured tables of the page on the debate: what builds on what, and words that follow from numbers."""

import math

import numpy as np
import pytest

from reproduction import study
from reproduction.debate import STUDY
from reproduction.debate import measure as debate
from reproduction.debate import tables as debate_tables
from reproduction.trainings import Cell, Set, Trainings

CELLS = {cell.name: cell for cell in debate.cells(Set("sst2"), 64, 5)}


def test_a_run_that_builds_on_another_names_it():
    recipe = debate.TRAININGS.recipe("sst2", CELLS["MLP adversary"], 3)
    folder = debate.TRAININGS.folder("sst2", CELLS[debate.ADVERSARY], 3)
    assert recipe.attention_run == f"frozen:{folder}"
    recipe = debate.TRAININGS.recipe("sst2", CELLS[debate.ADVERSARY], 3)
    assert recipe.attention_run == f"adversarial:{debate.TRAININGS.folder('sst2', CELLS[debate.BASE], 3)}"
    assert recipe.adversary_weight == 1e-3
    assert debate.TRAININGS.recipe("sst2", CELLS["MLP trained"], 3).other_run is None


def test_what_builds_on_a_run_is_trained_again_with_it():
    def marks(epochs):
        base = Cell("base", Set("sst2"), debate.RECIPE.with_changes(epochs=epochs), 1)
        frozen = Cell("frozen", Set("sst2"), debate.RECIPE, 1, base, "frozen")
        return frozen.mark(1), Cell("frozen", Set("sst2"), debate.RECIPE, 1, frozen, "frozen").mark(1)

    assert len({*marks(1), *marks(2)}) == 4


def test_a_run_comes_after_the_one_it_builds_on(monkeypatch, tmp_path):
    order = []

    class Recorded(Trainings):
        def number(self, table, cell, seed):
            order.append((cell.name, seed))
            return {"recipe": cell.mark(self.version)}

    monkeypatch.setattr(study, "HERE", tmp_path)
    recorded = Recorded("recorded", {"sst2": list(CELLS.values())}, lambda run: {})
    recorded.run("sst2")
    assert len(order) == 7 * debate.SEEDS
    for seed in range(debate.SEEDS):
        places = [order.index((name, seed)) for name in (debate.BASE, debate.ADVERSARY, "MLP adversary")]
        assert places == sorted(places)
    assert [seed for _, seed in order] == sorted(seed for _, seed in order)
    assert recorded.missing("sst2") == []


def test_a_distribution_counts_every_text_once():
    values = np.array([0.0, 0.049, 0.05, 0.64, math.log(2), math.log(2) + 1e-9, np.nan])
    found = debate.distribution(values)
    counts = dict(zip(debate.EDGES, found["counts"], strict=False))
    assert sum(found["counts"]) == 6
    assert (counts[0.0], counts[0.05], counts[0.6], counts[0.65]) == (2, 1, 1, 2)
    assert found["quantiles"][2] == pytest.approx((0.05 + 0.64) / 2)
    assert debate_tables.share_near_most(found["counts"]) == pytest.approx(3 / 6)


def test_rows_are_about_the_seeds_that_all_have():
    known = {name: {0: {"f1": 0.5}, 1: {"f1": 0.6}} for name in CELLS}
    del known["MLP trained"][1]
    assert all(set(seeds) == {0} for seeds in debate_tables.shared_seeds(known).values())
    del known["MLP trained"]
    assert debate_tables.shared_seeds(known) == {}


def test_the_figures_are_drawn(monkeypatch, tmp_path):
    monkeypatch.setattr(study, "PAGES", tmp_path)
    STUDY.draw()
    for name in ("debate-histogram.png", "debate-sweep.png"):
        assert (tmp_path / "images" / name).stat().st_size > 0


def test_every_text_of_the_audits_is_in_the_histogram():
    for table in debate.TABLES:
        values = study.read_numbers("debate", table)
        bases = [each for name, each in values.items() if name.startswith(debate.BASE)]
        assert len(bases) == debate.SEEDS
        for base in bases:
            assert sum(base["adversarial"]["own"]["counts"]) == debate.TEXTS
            assert sum(base["adversarial"]["random"]["counts"]) == debate.TEXTS

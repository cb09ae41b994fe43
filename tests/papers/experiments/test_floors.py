"""What needs no attention stands in every table, and is tested apart from the paper's claims."""

import numpy as np
import pytest
from small_tables import RECIPE, cell, row, table

from glasshead.papers.experiments import (
    MEASURES,
    PAPERS,
    Cell,
    Claim,
    DataSource,
    Job,
    Paper,
    PaperTable,
    summary_of,
    table_markdown,
)
from glasshead.papers.experiments.made_up import MADE_UP_PAIRS

ENCODERS = [
    table
    for paper in ("s2", "s3")
    for table in PAPERS[paper].tables
    if table.metrics[0] in ("accuracy", "rmse")
]
"""Those that compare what models reach; others are about their maps."""


@pytest.mark.parametrize("of", ENCODERS, ids=lambda table: f"{table.name}")
def test_every_set_has_the_three_floors(of):
    for source in of.sources:
        cells = [each for each in of.cells if each.data == source]
        assert any(each.measure == "bag-of-words" for each in cells)
        assert any(each.name.endswith("uniform") for each in cells)
        assert any(each.name.endswith("no-positions") for each in cells)
        if source.name == "snli" and of.name != "paper-size":
            assert any(each.measure == "hypothesis-only" for each in cells)


def test_rows_of_another_table_serve_the_figures():
    keys = {each.name: each.key for table in PAPERS["s2"].tables[:5] for each in table.cells}
    for of in PAPERS["s2"].tables[5:]:
        for each in of.cells:
            if of.name not in ("paper-size", "figure3") and each.name.endswith(("/uniform", "/no-positions")):
                assert each.key == keys[each.name]


def measured(measure, name, tmp_path, **changes):
    source = DataSource(name, "made-up texts", cell("softmax").data.options)
    of = Cell("floor", "floor", source, RECIPE.with_changes(**changes), measure=measure)
    return MEASURES[measure](Job(of, 0, source.read(None), tmp_path))


def test_hits_are_kept(tmp_path):
    found = measured("bag-of-words", "synthetic", tmp_path)
    assert found.hits.mean() == pytest.approx(found.numbers["accuracy"])


def test_only_the_first_words_are_read(tmp_path):
    whole = measured("bag-of-words", "synthetic", tmp_path).numbers
    part = measured("bag-of-first-words", "synthetic", tmp_path, max_length=2).numbers
    all_of_them = measured("bag-of-first-words", "synthetic", tmp_path, max_length=10_000).numbers
    assert all_of_them == whole
    assert part["features"] <= whole["features"]
    assert part["accuracy"] < whole["accuracy"]


def test_the_hypothesis_alone_is_read(tmp_path):
    both, alone = (
        measured(measure, MADE_UP_PAIRS, tmp_path).numbers for measure in ("bag-of-words", "hypothesis-only")
    )
    assert (both["reads"], alone["reads"]) == ("both", "text_pair")


def test_the_floor_stands_apart():
    rng = np.random.default_rng(0)
    plain = table()
    first, second = plain.cells
    words = cell("words", learning_rate=0.5).with_fields(measure="bag-of-words", most_seeds=1)
    claims = [Claim(f"floor {number}", second.name, words.name) for number in range(3)]
    wider = PaperTable(
        "small", "a small table", [*plain.cells, words], claims=plain.claims, floor_claims=claims
    )
    rows = {
        each.name: [row(each, seed, None, hits=rng.random(400) < share) for seed in range(5)]
        for each, share in ((first, 0.6), (second, 0.7))
    }
    rows[words.name] = [row(words, 0, None, hits=rng.random(400) < 0.5)]
    both = summary_of(wider, rows, dict.fromkeys(rows, range(5)))
    assert [len(each.gaps) for each in both.floor] == [5, 5, 5]
    assert both.floor[0].texts == 400
    text = table_markdown(both, Paper("paper", "Somebody", [wider]))
    before, after = text.split("## Against the floor")
    assert "| floor 0 |" in after
    assert "| floor 0 |" not in before

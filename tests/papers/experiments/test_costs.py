"""How long what is still to be run takes, data set by data set."""

from dataclasses import replace

from small_tables import cell, row

from glasshead.data import LoadOptions
from glasshead.papers.experiments import (
    TUNING_SEED,
    DataSource,
    Paper,
    PaperTable,
    Price,
    summary_of,
)
from glasshead.papers.experiments.cost import table_costs
from glasshead.papers.experiments.tuning import grid_cells

FIRST = DataSource("first", "the first set", LoadOptions())
SECOND = DataSource("second", "the second set", LoadOptions())
GRID = {"learning_rate": (0.1, 0.2), "dropout": (0.0, 0.5)}
WORDS = {"measure": "bag-of-words", "most_seeds": 1}


def two_sets(**changes):
    """On each set a model and a bag of words."""
    cells = []
    for data in (FIRST, SECOND):
        for name, fields in (("model", changes), ("words", WORDS)):
            cells.append(cell(name, epochs=60).with_fields(name=f"{data.name}/{name}", data=data, **fields))
    return PaperTable("small", "a small table", cells)


def costs(table, rows, *, held_out=2, prices=(), grids=None):
    """By data set: runs, expected seconds and the most."""
    paper = Paper("paper", "Somebody", [table, replace(table, name="other")])
    found = table_costs(summary(table, rows, held_out, grids), paper, dict(prices))
    return {each.name: (each.runs, each.seconds, each.most) for each in found}


def summary(table, rows, held_out=2, grids=None):
    seeds = [*range(5), *(TUNING_SEED + 1 + number for number in range(held_out))]
    wanted = {each.name: [0] if each.most_seeds else seeds for each in table.cells}
    return summary_of(table, rows, wanted, None, grids)


def run(of, seed, seconds, epochs=20):
    found = row(of, seed, 0.5, seconds=seconds)
    found.numbers["epochs"] = epochs
    return found


def test_a_run_takes_as_long_as_those_of_its_cell_or_of_its_data():
    table = two_sets()
    of = table.cells[0]
    rows = {of.name: [run(of, 0, 100.0), run(of, 1001, 300.0)]}
    assert costs(table, rows) == {"first": (6, 5 * 200.0, 5 * 200.0), "second": (8, None, None)}
    neighbour = cell("other", epochs=61).with_fields(name="first/other", data=FIRST)
    wider = PaperTable("small", "a small table", [of, neighbour])
    assert costs(wider, rows, held_out=0)["first"] == (9, 9 * 200.0, 9 * 200.0)


def test_a_measured_epoch_stands_in_for_rows_of_another_set():
    table = two_sets()
    of = table.cells[0]
    rows = {of.name: [run(of, 0, 100.0, epochs=15), run(of, 1, 100.0, epochs=25)]}
    usual = Price(seconds_per_epoch=10.0)
    expected = (8, 7 * 10.0 * 20, 7 * 10.0 * 60)
    assert costs(table, rows, prices={"paper/small/second": usual})["second"] == expected
    assert costs(table, rows, prices={"paper/other/second/model": usual})["second"] == expected
    assert costs(table, rows, prices={"paper/third/second": usual})["second"] == (8, None, None)
    dear = Price(seconds_per_epoch=30.0)
    for name in ("paper/small/second/model", "paper/small/second/unlike"):  # its own, or the dearest
        assert costs(table, rows, prices={name: dear})["second"] == (8, 3 * expected[1], 3 * expected[2])
    assert costs(table, rows, prices={"other/small/second": usual})["second"] == (8, None, None)
    assert costs(table, {}, prices={"paper/small/second": usual})["second"] == (8, None, expected[2])


def test_a_grid_that_is_half_done_costs_its_other_half():
    table = two_sets(grid=GRID)
    of = table.cells[0]
    points = [run(point, TUNING_SEED, 50.0) for point in [*grid_cells(of)][:3]]
    assert costs(table, {}, grids={of.name: points})["first"] == (9, 8 * 50.0, 8 * 50.0)


def test_what_is_finished_costs_nothing():
    table = two_sets()
    rows = {
        each.name: [run(each, seed, 1.0) for seed in (*range(5), 1001, 1002)][: 1 if each.seedless else 7]
        for each in table.cells
    }
    assert costs(table, rows) == {}

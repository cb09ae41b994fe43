"""What is still to be run is listed with its hours and the command, data set by data set."""

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
    table_markdown,
)
from glasshead.papers.experiments.cost import table_costs
from glasshead.papers.experiments.tuning import grid_points

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
    return {each.source.name: (each.runs, each.seconds, each.most) for each in found}


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
    neighbour = of.with_fields(name="first/other")
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
    points = [run(of, TUNING_SEED, 50.0) for _ in grid_points(GRID)[:3]]
    assert costs(table, {}, grids={of.name: points})["first"] == (9, 8 * 50.0, 8 * 50.0)


def test_what_is_finished_costs_nothing():
    table = two_sets()
    rows = {
        each.name: [run(each, seed, 1.0) for seed in (*range(5), 1001, 1002)][: 1 if each.seedless else 7]
        for each in table.cells
    }
    assert costs(table, rows) == {}
    assert "Not run yet" not in table_markdown(summary(table, rows), Paper("paper", "Somebody", [table]))


def test_the_page_has_hours_and_the_whole_command():
    table = two_sets()
    prices = {
        "paper/small/first": Price(seconds_per_epoch=60.0, cell="first/model", machine="one thread"),
        "paper/small/second": Price(seconds_per_epoch=0.01),
    }
    text = table_markdown(summary(table, {}), Paper("paper", "Somebody", [table]), prices)
    command = "`glasshead reproduce paper --only small/first --held-out 2`"
    assert f"| the first set | 8 runs of 2 cells | at most 7.0 | {command} |" in text
    assert "| the second set | 8 runs of 2 cells | under 0.1 |" in text
    assert "- the first set: 60 s (first/model, one thread)" in text
    assert "| not measured |" in table_markdown(summary(table, {}), Paper("paper", "Somebody", [table]))

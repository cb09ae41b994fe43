"""What is still to be run: each run once, what a claim needs first, then what takes least."""

import re
from dataclasses import replace

import pytest
from small_tables import cell, row

from glasshead.data import LoadOptions
from glasshead.errors import InputError
from glasshead.papers.experiments import (
    Claim,
    DataSource,
    Paper,
    PaperClaim,
    PaperTable,
    Price,
    summary_of,
    table_markdown,
)
from glasshead.papers.experiments.summary import FIRST_HELD_OUT
from glasshead.papers.experiments.to_run import to_run_markdown

FIRST, SECOND = (DataSource(name, f"the {name} set", LoadOptions()) for name in ("first", "second"))
HELD_OUT = [FIRST_HELD_OUT, FIRST_HELD_OUT + 1]
SEEDS = [*range(5), *HELD_OUT]
HOUR = 3600.0
BETTER = Claim("a is better than b", "first/a", "first/b")


def on(data, name, **changes):
    """A cell on a data set."""
    return cell(f"{data.name}/{name}", **changes).with_fields(data=data)


A, B, C = on(FIRST, "a"), on(FIRST, "b", attention="tanhmax"), on(SECOND, "c")
CLAIMED = PaperTable("claimed", "claimed", [A, B], claims=[BETTER])
OTHER = PaperTable("other", "other", [A, C])
"""Of which one cell has a training that the claim needs, too."""


def paper_of(*tables, claimed=True, **fields):
    claims = [PaperClaim("a is better", "Table 1", ((CLAIMED.name, BETTER),))] if claimed else []
    return Paper("paper", "Somebody", tables, claims, **fields)


def summaries(paper, runs=(), wanted=SEEDS):
    """The tables with rows of an hour each; ``runs`` are cells with the seeds that there are."""
    rows = {of.name: [row(of, seed, 0.5, seconds=HOUR) for seed in seeds] for of, seeds in runs}
    return [summary_of(table, rows, {each.name: wanted for each in table.cells}) for table in paper.tables]


def page(paper, runs=(), prices=(), **fields):
    return to_run_markdown(paper, summaries(paper, runs, **fields), dict(prices))


def lines_of(text):
    """Of each command: its runs, its hours and whether a claim needs it."""
    found = re.findall(r"\| (yes|no) \| (\d+) \| ([^|]*) \| `glasshead reproduce paper --only (\S+)", text)
    return {only: (int(runs), hours, claim) for claim, runs, hours, only in found}


def test_a_run_that_two_tables_need_is_listed_once():
    begun = [(A, [0]), (B, [0]), (C, [0])]
    lines = lines_of(page(paper_of(OTHER, CLAIMED), begun))
    assert lines == {"claimed": (12, "about 12.0", "yes"), "other/second": (6, "about 6.0", "no")}
    again = A.with_fields(name="first/again")
    twice = replace(CLAIMED, cells=[A, B, again])
    assert lines_of(page(paper_of(twice), [*begun, (again, [0])])) == {"claimed": (12, "about 12.0", "yes")}


def test_tables_need_the_same_grid_and_the_same_choice_from_it():
    grid = {"learning_rate": (0.1, 0.2)}
    tuned = A.with_fields(grid=grid)
    tables = [PaperTable(name, name, [tuned]) for name in ("one", "two")]
    assert lines_of(page(paper_of(*tables, claimed=False))) == {"one": (9, "not measured", "no")}
    wider = PaperTable("wider", "wider", [A.with_fields(grid={"learning_rate": (0.1, 0.2, 0.3)})])
    lines = lines_of(page(paper_of(tables[0], wider, claimed=False)))
    assert lines == {"one": (9, "not measured", "no"), "wider": (8, "not measured", "no")}


def test_what_a_claim_needs_comes_first_then_what_takes_least():
    short, long = (PaperTable(name, name, [on(FIRST, name, epochs=n)]) for name, n in (("s", 2), ("l", 3)))
    unknown = PaperTable("u", "u", [C])
    begun = [(each, [0, 1]) for each in (A, B)] + [(short.cells[0], range(5)), (long.cells[0], range(4))]
    lines = lines_of(page(paper_of(unknown, long, short, CLAIMED), begun))
    assert [*lines] == ["claimed", "s", "l", "u"]
    assert lines["u"] == (7, "not measured", "no")


def test_held_out_seeds_bear_on_no_claim():
    begun = [(each, range(5)) for each in (A, B)]
    assert lines_of(page(paper_of(CLAIMED), begun)) == {"claimed": (4, "about 4.0", "no")}
    assert lines_of(page(paper_of(CLAIMED), [(A, SEEDS), (B, SEEDS[1:])])) == {
        "claimed": (1, "about 1.0", "yes")
    }


def test_hours_sum():
    begun = [(A, [0]), (B, [0])]
    prices = {"paper/other/second": Price(seconds_per_epoch=HOUR, cell="second/c", machine="one thread")}
    text = page(paper_of(OTHER, CLAIMED), begun, prices)
    assert lines_of(text)["other/second"] == (7, "at most 7.0", "no")
    assert "19 runs left: about 19.0 hours of one process." in text
    assert "- the second set: 3.6e+03 s (second/c, one thread)" in text
    assert "12 runs left: about 12.0 hours of one process." in page(paper_of(CLAIMED), begun)
    text = page(paper_of(OTHER, CLAIMED), begun)
    assert "19 runs left: about 12.0 hours of one process, and 7 runs whose time is not measured." in text


def test_the_command_is_whole():
    assert "`glasshead reproduce paper --only claimed --held-out 2`" in page(paper_of(CLAIMED))
    assert "`glasshead reproduce paper --only claimed --seeds 9`" in page(
        paper_of(CLAIMED), wanted=[*range(9)]
    )


def test_one_command_runs_every_way_in_which_a_table_reads_a_set():
    """Which has one name."""
    again = DataSource(FIRST.name, "the first set, again", LoadOptions(max_examples=9))
    table = PaperTable("small", "small", [A, C, on(again, "d")])
    begun = [(each, [0]) for each in table.cells]
    lines = lines_of(page(paper_of(table, claimed=False), begun))
    assert lines == {"small/first": (12, "about 12.0", "no"), "small/second": (6, "about 6.0", "no")}


def test_nothing_left_is_said_in_a_sentence():
    finished = [(each, SEEDS) for each in (A, B, C)]
    for paper, runs in ((paper_of(OTHER, CLAIMED), finished), (Paper("paper", "Somebody", []), ())):
        text = page(paper, runs)
        assert "After Somebody. Nothing is left to run." in text
        assert lines_of(text) == {}


def test_what_is_left_out_is_in_no_total_and_has_a_reason():
    begun = [(each, [0]) for each in (A, B, C)]
    text = page(paper_of(OTHER, CLAIMED, left_out={"other/second": "It is too large."}), begun)
    assert [*lines_of(text)] == ["claimed"]
    assert "12 runs left: about 12.0 hours of one process." in text
    assert "| other: the second set | about 6.0 | It is too large. |" in text
    with pytest.raises(InputError, match="no data set 'third'"):
        paper_of(OTHER, CLAIMED, left_out={"other/third": "It is too large."})


def test_a_table_links_to_the_page_while_runs_are_missing():
    paper = paper_of(CLAIMED)
    for runs, links in (([(A, [0])], True), ([(A, SEEDS), (B, SEEDS)], False)):
        text = table_markdown(summaries(paper, runs)[0], paper)
        assert ("](to-run.md)" in text) == links

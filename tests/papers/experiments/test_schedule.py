"""Which cell comes next, and when there is no time for any."""

import numpy as np
import pytest
from small_tables import cell, row, table

from glasshead.papers.experiments import TUNING_SEED, Outcome, Row, RowStore, Schedule, Task


@pytest.fixture
def schedule(tmp_path):
    """A schedule of tables with the rows that there are; it begins at time 0."""
    store = RowStore([tmp_path], "paper")

    def build(chosen, rows, *, seeds=5, hours=None, held_out=0):
        for each in chosen.cells:
            for known in rows.get(each.name, []):
                store.write(chosen.name, each, known)
        deadline = None if hours is None else 3600.0 * hours
        return Schedule([chosen], store, seeds, held_out, deadline, clock=lambda: 0.0)

    return build


def names(found):
    return [(each.name, seed) for _, each, seed in found]


def test_seed_by_seed_while_nothing_is_known(schedule):
    assert names(schedule(table(), {}, seeds=2)) == [
        ("softmax", 0), ("tanhmax", 0), ("softmax", 1), ("tanhmax", 1),
    ]  # fmt: skip


def test_the_widest_interval_comes_first(schedule):
    chosen = table()
    wide, narrow = chosen.cells[1], chosen.cells[0]
    rows = {
        narrow.name: [row(narrow, 0, 0.70), row(narrow, 1, 0.71)],
        wide.name: [row(wide, 0, 0.6), row(wide, 1, 0.9)],
    }
    assert names(schedule(chosen, rows, seeds=3)) == [(wide.name, 2), (narrow.name, 2)]


def test_a_small_claimed_effect_makes_an_interval_wide(schedule):
    cells = [cell("softmax"), cell("tanhmax", attention="tanhmax"), cell("other", learning_rate=0.5)]
    chosen = table(cells, effect=0.001)
    rows = {each.name: [row(each, 0, 0.7), row(each, 1, 0.72)] for each in cells[:2]}
    alone = table(cells[:2], effect=0.1)
    place = (chosen.name, "softmax")
    assert schedule(chosen, rows).urgency(place) > 50 * schedule(alone, rows).urgency(place)


def test_what_would_end_too_late_is_not_begun(schedule):
    chosen = table()
    slow, fast = chosen.cells
    rows = {
        slow.name: [row(slow, seed, 0.5 + seed / 10, seconds=4000.0) for seed in (0, 1)],
        fast.name: [row(fast, seed, 0.5 + seed / 100, seconds=60.0) for seed in (0, 1)],
    }
    found = schedule(chosen, rows, seeds=3, hours=1)
    assert names(found) == [(fast.name, 2)]
    assert len(found) == 1
    assert names(schedule(chosen, rows, seeds=3)) == [(slow.name, 2), (fast.name, 2)]


def test_a_cell_that_never_ran_is_expected_to_take_as_long_as_its_neighbours(schedule):
    chosen = table()
    rows = {chosen.cells[0].name: [row(chosen.cells[0], 0, 0.5, seconds=4000.0)]}
    assert names(schedule(chosen, rows, seeds=1, hours=1)) == []
    assert names(schedule(chosen, rows, seeds=1, hours=2)) == [("tanhmax", 0)]


GRID = {"learning_rate": (0.1, 0.2), "dropout": (0.0, 0.5)}


def tuned_table():
    """A cell with a grid of four points beside one without."""
    return table([cell("softmax").with_fields(grid=GRID), cell("tanhmax", attention="tanhmax")])


def end(of, dev, failure=""):
    """Run all that can be begun; ``dev`` tells what a cell reaches there."""
    for found, each, seed in list(of):
        numbers = {"accuracy": 0.5, "dev_accuracy": dev(each)}
        known = None if failure else Row(each.name, each.key, seed, "d", numbers, 1.0)
        of.finish(Outcome(Task(found.name, each, seed, of.store, None), known, failure))


def test_dev_chooses_from_the_grid_before_any_seed_is_run(schedule):
    of = schedule(tuned_table(), {}, seeds=2)
    assert len(of) == 4 + 2 + 2
    assert {seed for _, each, seed in of.waiting() if "/" in each.name} == {TUNING_SEED}
    end(of, lambda each: each.recipe.learning_rate - each.recipe.model_config().dropout)
    assert of.retry()
    (_, tuned, _), _ = of.waiting()
    assert (tuned.recipe.learning_rate, tuned.recipe.model_config().dropout) == (0.2, 0.0)
    end(of, lambda each: 0.5)
    assert len(of) == 0
    summary = of.summary(of.tables[0]).cells[0]
    assert summary.tuning.settings == {"learning_rate": 0.2, "dropout": 0.0}
    assert summary.tuning.scores == pytest.approx([0.1, -0.4, 0.2, -0.3])
    assert [each.seed for each in summary.rows] == [0, 1]


def test_what_dev_chose_is_known_when_one_comes_back(schedule):
    chosen = tuned_table()
    first = schedule(chosen, {}, seeds=1)
    for found, each, seed in list(first):
        numbers = {"accuracy": 0.5, "dev_accuracy": each.recipe.learning_rate}
        first.store.write(found.name, each, Row(each.name, each.key, seed, "d", numbers, 1.0))
    again = schedule(chosen, {}, seeds=1)
    ((_, tuned, seed),) = again.waiting()
    assert (tuned.name, tuned.recipe.learning_rate, seed) == ("softmax", 0.2, 0)


def test_a_cell_whose_grid_fails_is_not_waited_for(schedule):
    of = schedule(tuned_table(), {}, seeds=1)
    end(of, lambda each: 0.5, failure="the training diverged")
    assert not of.retry()
    assert len(of) == 0
    assert "small, softmax, seed 0" in of.failures_in_words()


def test_a_grid_that_was_cut_off_chooses_nothing(schedule):
    from glasshead.papers.experiments.job import OUT_OF_TIME

    of = schedule(tuned_table(), {}, seeds=1)
    end(of, lambda each: 0.5, failure=OUT_OF_TIME)
    assert not of.tunings
    assert len(of) == 1


def test_held_out_seeds_are_other_ones(schedule):
    of = schedule(table(), {}, seeds=2, held_out=2)
    seeds = [seed for _, each, seed in of.waiting() if each.name == "softmax"]
    assert seeds[:2] == [0, 1]
    assert min(seeds[2:]) > TUNING_SEED


def test_a_row_that_counts_is_not_the_one_that_chooses(schedule):
    """The first point of a grid is often the usual recipe, of which there may be rows already."""
    chosen = tuned_table()
    usual = chosen.cells[0].with_fields(
        recipe=chosen.cells[0].recipe.with_changes(learning_rate=0.1, dropout=0.0)
    )
    of = schedule(chosen, {})
    of.store.write("small", usual, row(usual, 0, 0.9))
    of = schedule(chosen, {})
    assert len([seed for _, each, seed in of.waiting() if "/" in each.name]) == 4
    end(of, lambda each: 1.0 if each.recipe.learning_rate == 0.1 else 0.0)
    assert [each.seed for each in of.rows["small", "softmax"]] == [0]


def test_what_is_taken_is_always_the_most_urgent(schedule):
    """The queue against a list that is sorted anew each time, while rows come in and some runs are busy."""
    rng = np.random.default_rng(0)
    asked = schedule(table([cell(f"cell-{number}", learning_rate=0.1 + number) for number in range(7)]), {})
    finished = 0
    while asked.retry():
        first = asked.waiting()[0]
        chosen = asked.take()
        assert chosen == first
        of, seed = chosen[1:]
        busy = bool(rng.random() < 0.3)
        found = None if busy else row(of, seed, rng.random())
        asked.finish(Outcome(Task(chosen[0].name, of, seed, asked.store, None), found, busy=busy))
        finished += not busy
    assert finished == 35
    assert asked.take() is None


def test_what_nothing_is_claimed_of_waits_with_its_grid_for_what_is_claimed(schedule):
    other = cell("other", attention="tanhmax", learning_rate=0.5).with_fields(grid={"dropout": (0.0, 0.5)})
    tuned = cell("softmax").with_fields(grid={"dropout": (0.1, 0.5)})
    found = names(schedule(table([tuned, cell("tanhmax", attention="tanhmax"), other]), {}, seeds=1))
    assert [name.split("/")[0] for name, _ in found] == ["softmax", "softmax", "tanhmax", "other", "other"]


def test_what_is_left_goes_down_by_one_with_each_run_that_ends(schedule):
    """Also where many are handed out at once, of which one is another process's."""
    chosen = table()
    found = schedule(chosen, {}, seeds=3)
    handed = list(found)
    assert (len(handed), len(found), found.left) == (6, 0, 6)
    for number, (each_table, each, seed) in enumerate(handed[:-1]):
        task = Task(each_table.name, each, seed, found.store, None)
        found.finish(Outcome(task, row(each, seed, 0.7) if number else None, "it failed"))
        assert found.left == 5 - number
    each_table, each, seed = handed[-1]
    found.finish(Outcome(Task(each_table.name, each, seed, found.store, None), None, busy=True))
    assert found.left == 1
    assert found.retry()
    assert (found.left, len(found)) == (1, 1)

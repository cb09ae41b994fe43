"""Which cell comes next, and when there is no time for any."""

from small_tables import cell, row, table

from glasshead.experiments import RowStore, Schedule


def schedule(chosen, rows, *, seeds=5, hours=None):
    """Six o'clock is 0."""
    wanted = {(chosen.name, each.name): seeds for each in chosen.cells}
    by_place = {(chosen.name, name): found for name, found in rows.items()}
    deadline = None if hours is None else 3600.0 * hours
    return Schedule([chosen], RowStore([], "paper"), wanted, by_place, deadline, clock=lambda: 0.0)


def names(found):
    return [(each.name, seed) for _, each, seed in found]


def test_seed_by_seed_while_nothing_is_known():
    assert names(schedule(table(), {}, seeds=2)) == [
        ("softmax", 0), ("tanhmax", 0), ("softmax", 1), ("tanhmax", 1),
    ]  # fmt: skip


def test_the_widest_interval_comes_first():
    chosen = table()
    wide, narrow = chosen.cells[1], chosen.cells[0]
    rows = {
        narrow.name: [row(narrow, 0, 0.70), row(narrow, 1, 0.71)],
        wide.name: [row(wide, 0, 0.6), row(wide, 1, 0.9)],
    }
    assert names(schedule(chosen, rows, seeds=3)) == [(wide.name, 2), (narrow.name, 2)]


def test_a_small_claimed_effect_makes_an_interval_wide():
    cells = [cell("softmax"), cell("tanhmax", attention="tanhmax"), cell("other", learning_rate=0.5)]
    chosen = table(cells, effect=0.001)
    rows = {each.name: [row(each, 0, 0.7), row(each, 1, 0.72)] for each in cells[:2]}
    alone = table(cells[:2], effect=0.1)
    place = (chosen.name, "softmax")
    assert schedule(chosen, rows).urgency(place) > 50 * schedule(alone, rows).urgency(place)


def test_what_would_end_too_late_is_not_begun():
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


def test_a_cell_that_never_ran_is_expected_to_take_as_long_as_its_neighbours():
    chosen = table()
    rows = {chosen.cells[0].name: [row(chosen.cells[0], 0, 0.5, seconds=4000.0)]}
    assert names(schedule(chosen, rows, seeds=1, hours=1)) == []
    assert names(schedule(chosen, rows, seeds=1, hours=2)) == [("tanhmax", 0)]

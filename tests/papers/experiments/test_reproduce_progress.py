"""What `glasshead reproduce` says while it runs, where there is no terminal."""

import re

from small_tables import row, table

from glasshead.papers.commands.reproduce_progress import RunLines
from glasshead.papers.experiments import Outcome, RowStore, Schedule, Task


def test_the_runs_that_are_left_are_counted_down_one_by_one(tmp_path, capsys):
    schedule = Schedule([table()], RowStore([tmp_path], "paper"), 3)
    say = RunLines()
    say(schedule)
    for each_table, cell, seed in list(schedule):  # all are handed out before one has ended
        schedule.finish(
            Outcome(Task(each_table.name, cell, seed, schedule.store, None), row(cell, seed, 0.7))
        )
        say(schedule)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "0 runs known, 6 left"
    assert [int(re.search(r"(\d+) runs? left$", line)[1]) for line in lines[1:]] == [5, 4, 3, 2, 1, 0]

"""Every task is asked by every method, audit and command, or refused with a reason: as its page says."""

import pytest

from family_table import YES, page, read
from task_table import HEAD, PAGE, TAIL, TASKS, row_of

TABLE = read(PAGE.read_text(encoding="utf-8"))


def test_the_page_has_every_task():
    assert list(TABLE) == list(TASKS)
    assert page(TABLE, HEAD, TAIL) == PAGE.read_text(encoding="utf-8"), "run `make families`"
    for name, row in TABLE.items():
        assert {row[each] for each in ("gradient", "notebook", "oracle", "page")} == {YES}
        assert (row["attention"] == YES) == (name != "answer against another")
        assert {row["ranking"], row["faithfulness"]} == {YES}
        assert (row["report on heads"] == YES) == (name != "answer against another")


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.slow) for name in TASKS])
def test_the_page_says_what_a_task_can_be_asked(name):
    assert row_of(TASKS[name]) == TABLE[name]

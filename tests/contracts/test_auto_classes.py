"""Every text model of the AutoModel classes is explained and audited, or refused with a true sentence."""

import pytest

from auto_table import NEXT, PAGE, TITLES, Tried, capabilities, kinds, page, read
from family_table import YES, read_exceptions

pytestmark = pytest.mark.filterwarnings("ignore")  # what their own code warns of
TABLE = read(PAGE.read_text(encoding="utf-8"))
FIRST = {kind: task for task in reversed(TITLES) if task != NEXT for kind in kinds(task)}
"""The first task of each kind, where all is tried; in further ones its attention and its gradients. Of models
that write all is tried."""
QUICK = [
    ("classes", "modernbert"),
    ("tags", "gpt_oss"),
    ("hidden words", "mobilebert"),
    (NEXT, "xlm-roberta"),
    (NEXT, "xlnet"),
]


def test_the_page_has_every_kind_of_every_task():
    assert {task: sorted(table) for task, table in TABLE.items()} == {
        task: sorted(kinds(task)) for task in TITLES
    }
    text = PAGE.read_text(encoding="utf-8")
    ordered = {task: {kind: TABLE[task][kind] for kind in kinds(task)} for task in TITLES}
    assert page(ordered, read_exceptions()) == text, "run `make families`"
    rows = [row for table in TABLE.values() for row in table.values()]
    assert sum(row["attention"] == YES for row in rows) > 0.9 * len(rows)
    assert sum(row["gradient"] == YES for row in rows) > 0.9 * len(rows)


def check(task, kind, names=None):
    """The numbers of a kind are those of the model, and the page says what it can do."""
    tried, names = Tried(task, kind), names or capabilities(task)
    row = tried.row(names)
    assert row == {name: TABLE[task][kind][name] for name in names}, kind
    return tried


@pytest.mark.parametrize(("task", "kind"), QUICK)
def test_a_kind_is_explained_and_audited_or_refused(task, kind):
    tried = check(task, kind)
    assert bool(tried.compared) == (TABLE[task][kind]["attention"] == YES)


@pytest.mark.slow
@pytest.mark.grid(48)
@pytest.mark.parametrize(("task", "kind"), [(task, kind) for task in TITLES for kind in kinds(task)])
def test_every_kind_is_explained_and_audited_or_refused(task, kind):
    check(task, kind, capabilities(task)[: None if task == NEXT or FIRST[kind] == task else 2])

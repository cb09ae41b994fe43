"""Rows are small files; whatever is no whole row is not there."""

import json

import numpy as np
import pytest
from small_tables import RECIPE, cell, row, table

from glasshead.papers.experiments import (
    PAPERS,
    Paper,
    PaperTable,
    Row,
    RowStore,
    Schedule,
    number_of,
    row_index,
    summary_of,
    table_json,
    table_markdown,
)


@pytest.fixture
def store(tmp_path):
    return RowStore([tmp_path / "mine", tmp_path / "theirs"], "paper")


def test_a_row_comes_back(store):
    of, hits = cell("softmax"), np.random.default_rng(0).random(1821) < 0.8
    store.write("small", of, row(of, 3, None, hits=hits))
    found = store.read("small", of, 3)
    assert np.array_equal(found.hits, hits)
    assert found.numbers["accuracy"] == pytest.approx(hits.mean(), abs=1e-6)
    assert store.path("small", of, 3).stat().st_size < 1000
    assert [each.seed for each in store.read_all("small", of)] == [3]


def test_rows_of_others_are_found_and_own_ones_come_first(store):
    of = cell("softmax")
    RowStore(store.folders[1:], "paper").write("small", of, row(of, 0, 0.5))
    assert store.read("small", of, 0).numbers == {"accuracy": 0.5}
    store.write("small", of, row(of, 0, 0.6))
    assert store.read("small", of, 0).numbers == {"accuracy": 0.6}


@pytest.mark.parametrize("damage", [lambda text: text[: len(text) // 2], lambda text: "[]", lambda text: ""])
def test_half_a_row_is_none(store, damage):
    of = cell("softmax")
    store.write("small", of, row(of, 0, 0.5))
    path = store.path("small", of, 0)
    path.write_text(damage(path.read_text()))
    assert store.read("small", of, 0) is None


def test_a_row_of_another_recipe_is_none(store):
    first, other = cell("softmax"), cell("softmax", learning_rate=0.5)
    store.write("small", first, row(first, 0, 0.5))
    assert store.read("small", other, 0) is None
    path = store.path("small", other, 0)
    path.write_text(store.path("small", first, 0).read_text())  # a file that somebody renamed
    assert store.read("small", other, 0) is None


def test_the_key_is_that_of_what_is_trained():
    """A setting that is named but as usual makes no row stale; the preset's name changes no number."""
    key = cell("softmax").key
    assert cell("other").key == key
    assert cell("softmax", epochs=RECIPE.epochs).key == key
    assert cell("softmax", epochs=RECIPE.epochs + 1).key != key
    cells = PAPERS["s2"].tables[0].cells
    assert len({each.key for each in cells}) == len(cells)


def test_a_row_says_what_computed_it(store):
    of = cell("softmax")
    stored = Row(of.name, of.key, 0, "fingerprint", {"accuracy": 1 / 3}, 12.345, {"torch": "2"})
    store.write("small", of, stored)
    record = json.loads(store.path("small", of, 0).read_text())
    assert record["data"] == "fingerprint"
    assert record["versions"] == {"torch": "2"}
    assert record["numbers"] == {"accuracy": 0.333333}


def test_a_row_of_another_table_is_as_good(store):
    """What is trained is the same, whatever the table calls it."""
    of = cell("softmax")
    store.write("small", of, row(of, 2, 0.5))
    assert store.read("other", cell("again"), 2).numbers == {"accuracy": 0.5}
    assert [each.seed for each in store.read_all("other", cell("again"))] == [2]
    assert store.read_all("other", cell("again", learning_rate=0.5)) == []


def test_a_row_of_another_table_is_as_good_under_the_same_name(store):
    of = cell("softmax")
    store.write("small", of, row(of, 2, 0.5))
    assert store.read("other", of, 2).numbers == {"accuracy": 0.5}
    assert [each.seed for each in store.read_all("other", of)] == [2]


def test_rows_that_others_write_meanwhile_are_found(tmp_path, monkeypatch):
    """Its own place at once, another table's when the folder is read again."""
    of = cell("softmax")
    mine, theirs = (RowStore([tmp_path], "paper") for _ in range(2))
    assert mine.read("small", of, 0) is None
    monkeypatch.setattr("glasshead.papers.experiments.row.index_of", row_index.RowIndex)  # of another process
    theirs.write("small", of, row(of, 0, 0.5))
    monkeypatch.undo()
    index = row_index.RowIndex(tmp_path / "paper")
    assert mine.read("small", of, 0).numbers == {"accuracy": 0.5}
    assert index.seeds(of.key) == [0]
    path = mine.path("other", cell("again"), 7)
    path.parent.mkdir()
    path.write_text(row(of, 7, 0.6).to_json())
    index._next = 0.0
    assert index.seeds(of.key) == [0, 7]
    assert index.paths(of.key, 7) == [path]


def test_a_folder_is_read_once_for_many_cells(tmp_path, monkeypatch):
    cells = [cell(f"cell-{number}", learning_rate=0.1 + number) for number in range(300)]
    chosen = PaperTable("small", "a small table", cells)
    for of in cells:
        path = RowStore([tmp_path], "paper").path("small", of, 0)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(row(of, 0, 0.5).to_json())
    read = []
    real = row_index.entries_of
    monkeypatch.setattr(row_index, "entries_of", lambda folder: read.append(folder) or real(folder))
    monkeypatch.setattr(row_index, "REST", 1e6)
    schedule = Schedule([chosen], RowStore([tmp_path], "paper"), 2)
    assert len(schedule) == 300
    assert len(read) == 2  # the paper's folder and that of its table


def test_what_is_no_row_is_not_in_the_index(tmp_path):
    (tmp_path / "table").mkdir()
    for name in ("a-seed-x.json", "a-seed-1.txt", "notes", ".b-0123456789ab-seed-1.json.part"):
        (tmp_path / "table" / name).write_text("")
    (tmp_path / "prices.json").write_text("{}")
    index = row_index.RowIndex(tmp_path)
    index.refresh()
    assert index._names == {}


def test_numbers_that_are_none_are_null(store):
    of = cell("softmax")
    numbers = {"accuracy": float("nan"), "w": [1.0, float("inf")], "entropy": [["one", None, float("-inf")]]}
    store.write("small", of, Row(of.name, of.key, 0, "d", numbers))
    text = store.path("small", of, 0).read_text()
    assert "NaN" not in text
    assert "Infinity" not in text
    found = store.read("small", of, 0)
    assert found.numbers == {"accuracy": None, "w": [1.0, None], "entropy": [["one", None, None]]}
    assert number_of(found, "positive_w") is None
    assert number_of(found, "map_entropy") is None


def test_a_table_of_rows_without_numbers_is_written(store):
    chosen = table()
    of = chosen.cells[0]
    rows = {of.name: [Row(of.name, of.key, seed, "d", {"accuracy": None, "steps": 3}) for seed in (0, 1001)]}
    summary = summary_of(chosen, rows, dict.fromkeys(("softmax", "tanhmax"), (0, 1001)))
    paper = Paper("paper", "Somebody", [chosen])
    json.loads(table_json(summary, paper), parse_constant=lambda word: pytest.fail(word))
    assert "| Softmax | 1 |" in table_markdown(summary, paper)

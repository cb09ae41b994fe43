"""A row of other data than those at hand is said to be one, is not counted, and is run again."""

import csv
import json

import pytest

from glasshead.papers.experiments import DataSource
from typed import glasshead


@pytest.fixture
def data(tmp_path):
    """TREC, as far as it matters here."""
    folder = tmp_path / "data" / "trec"
    folder.mkdir(parents=True)
    for split, rows in (("train", 30), ("dev", 12), ("test", 12)):
        with open(folder / f"{split}.csv", "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(("text", "label"))
            writer.writerows(
                (f"{('good', 'bad')[n % 2]} film {n % 5}", ("p", "n")[n % 2]) for n in range(rows)
            )
    return folder.parent


def test_rows_of_other_data_are_run_again(data, tmp_path):
    out = tmp_path / "tables"
    command = ("reproduce", "s2", "--quick", "--only", "figure6/trec", "--seeds", 1, "--data", data)
    glasshead(*command, "--out", out)
    rows = sorted((out / "rows").rglob("*.json"))
    assert len(rows) > 3
    again = glasshead(*command, "--out", tmp_path / "same", "--rows", out / "rows")
    assert "other data" not in again.stderr
    assert not (tmp_path / "same" / "rows").exists()
    with open(data / "trec" / "train.csv", "a") as file:
        file.write("good film 9,p\n")
    result = glasshead(*command, "--out", tmp_path / "new", "--rows", out / "rows")
    assert f"{len(rows)} rows from other data" in result.stderr
    mine = sorted((tmp_path / "new" / "rows").rglob("*.json"))
    assert [path.name for path in mine] == [path.name for path in rows]
    old, new = ({json.loads(path.read_text())["data"] for path in paths} for paths in (rows, mine))
    assert len(old) == len(new) == 1
    assert old != new
    page = (tmp_path / "new" / "s2" / "figure6-quick.md").read_text()
    assert "different data" not in page
    final = glasshead(*command, "--out", tmp_path / "new", "--rows", out / "rows")
    assert "other data" not in final.stderr
    assert sorted((tmp_path / "new" / "rows").rglob("*.json")) == mine


def test_sources_of_one_label_have_the_same_options():
    first, second = (DataSource("trec", title) for title in ("TREC", "questions"))
    assert first.label == second.label
    assert DataSource("imdb", "TREC").label != first.label

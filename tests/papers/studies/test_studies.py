"""`python -m reproduction`: measurements go on where they stopped, and pages are of the recorded numbers."""

import json

import pytest

from glasshead.papers.experiments import PAPERS
from reproduction import study
from reproduction.__main__ import main
from reproduction.study import TABLES, Study, load_study, measure_missing, read_numbers, studies

PARTS = [
    (name, part) for name in studies() if isinstance(each := load_study(name), Study) for part in each.pages
]


@pytest.fixture
def empty(monkeypatch, tmp_path):
    """No numbers and no pages yet."""
    monkeypatch.setattr(study, "HERE", tmp_path / "numbers")
    monkeypatch.setattr(study, "TABLES", tmp_path / "tables")
    (tmp_path / "numbers").mkdir()
    return tmp_path


@pytest.mark.parametrize(("name", "part"), PARTS, ids=[part for _, part in PARTS])
def test_a_page_is_what_its_numbers_say(name, part):
    assert (TABLES / f"{part}.md").read_text(encoding="utf-8") == load_study(name).page(part)


def test_every_table_of_a_page_is_of_a_study():
    claims = {f"{paper}-claims" for paper in PAPERS if PAPERS[paper].claims}
    assert {path.stem for path in TABLES.glob("*.md")} == {part for _, part in PARTS} | claims


def test_the_studies_are_listed_with_a_question(capsys):
    main([])
    listed = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in listed] == list(studies())
    assert all(len(question) > 20 for question in studies().values())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["debat"], "no study is called 'debat': did you mean 'debate'?"),
        (["rank", "sst"], "rank has no table 'sst': did you mean 'sst2'?"),
        (["s4", "sweeps"], "s4 has no table 'sweeps': did you mean 'sweep'?"),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest(capsys, words, said):
    with pytest.raises(SystemExit) as stop:
        main(words)
    assert stop.value.code == 2
    assert said in capsys.readouterr().err


def test_what_is_missing_is_measured_and_the_rest_is_not(empty):
    done = []

    def job(key, value):
        return lambda: done.append(key) or {"value": value}

    measure_missing("one", "table", {"b": job("b", 1.0)})
    jobs = {"a": job("a", 0.1234567), "b": job("b", 2.0), "c": job("c", 3.0)}
    measure_missing("one", "table", jobs)
    assert done == ["b", "a", "c"]
    lines = (empty / "numbers" / "one" / "table.json").read_text(encoding="utf-8").splitlines()
    assert lines[1:-1] == ['"a": {"value": 0.12346},', '"b": {"value": 1.0},', '"c": {"value": 3.0}']
    measure_missing("one", "table", jobs, is_current=lambda key, entry: key != "b", digits=None)
    assert done == ["b", "a", "c", "b"]
    assert read_numbers("one", "table")["b"] == {"value": 2.0}


def test_an_interrupted_measurement_keeps_what_is_done(empty):
    def fail():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        measure_missing("one", "table", {"a": lambda: 1, "b": fail})
    assert json.loads((empty / "numbers" / "one" / "table.json").read_text(encoding="utf-8")) == {"a": 1}


def test_the_usual_tables_are_measured_unless_others_are_named(empty):
    measured = []
    tables = {name: lambda processes, name=name: measured.append((name, processes)) for name in "abc"}
    of_three = Study("three", tables, {"part": lambda: ["words"]}, usual=["a", "c"])
    of_three.measure()
    of_three.measure(["b"], 2)
    assert measured == [("a", 1), ("c", 1), ("b", 2)]
    assert of_three.write() == [empty / "tables" / "part.md"]
    assert (empty / "tables" / "part.md").read_text(encoding="utf-8").endswith("\n\nwords\n")

"""`glasshead.compare` of audits in memory, of folders, and of runs; what it gives shows and saves itself."""

import json
from dataclasses import replace

import pytest
from test_compare_audits import card

import glasshead
from fake_runs import classes, guesses, write_run
from glasshead.audits import conclude
from glasshead.errors import InputError
from glasshead.results import AuditComparison, RunComparison

NAME = "agreement.contribution.gradient.all"


@pytest.fixture(scope="module")
def audits():
    return conclude(card(0.0, 1, name="near")), conclude(card(0.05, 2, name="far"))


@pytest.fixture(scope="module")
def comparison(audits):
    return glasshead.compare(*audits)


@pytest.fixture
def runs(tmp_path):
    labels = classes(60)
    for name, share in (("near", 0.5), ("far", 0.9)):
        write_run(tmp_path / name, labels, guesses(labels, share, 0))
    return tmp_path / "near", tmp_path / "far"


def test_audits_in_memory_and_in_folders_give_the_same(audits, comparison, tmp_path):
    audits[0].save(tmp_path / "near")
    mixed = glasshead.compare(tmp_path / "near", audits[1])
    assert isinstance(mixed, AuditComparison)
    assert mixed.differences == comparison.differences
    assert mixed.names == ["near", "far"]


def test_another_baseline_by_name_by_folder_and_by_the_audit_itself(audits, comparison, tmp_path):
    (row,) = (row for row in comparison.rows() if row["name"] == NAME)
    assert (row["one"], row["other"], row["verdict"]) == ("far", "near", "higher")
    audits[1].save(tmp_path / "far")
    turned = [
        glasshead.compare(*audits, against="far"),
        glasshead.compare(*audits, against=audits[1]),
        glasshead.compare(audits[0], tmp_path / "far", against=tmp_path / "far"),
    ]
    for other in turned:
        (back,) = (each for each in other.rows() if each["name"] == NAME)
        assert (back["one"], back["other"]) == ("near", "far")
        assert back["estimate"] == pytest.approx(-row["estimate"])


def test_runs(runs):
    compared = glasshead.compare(*map(str, runs))
    assert isinstance(compared, RunComparison)
    assert compared.names == ["near", "far"]
    assert set(compared.to_pandas()["name"]) == {"accuracy", "macro_f1"}
    assert glasshead.compare(*runs, against="far").differences[0].other == 1
    assert json.loads(compared.to_json())["groups"][0]["metrics"]["test"]["accuracy"]


def test_what_cannot_be_compared(audits, runs):
    with pytest.raises(InputError, match="two or more"):
        glasshead.compare(audits[0])
    with pytest.raises(InputError, match="same audit is given twice"):
        glasshead.compare(audits[0], audits[0])
    with pytest.raises(InputError, match="far is an audit, but near is a run"):
        glasshead.compare(audits[1], runs[0])
    with pytest.raises(InputError, match="`split`"):
        glasshead.compare(*audits, split="dev")
    with pytest.raises(InputError, match="`against`"):
        glasshead.compare(*audits, against=card(0.1, 3))
    with pytest.raises(InputError, match="did you mean 'near'"):
        glasshead.compare(*audits, against="nearr")


def test_a_comparison_as_a_table_and_as_json(comparison):
    table = comparison.to_pandas()
    assert len(table) == len(comparison.differences)
    assert {"name", "one", "other", "estimate", "low", "high", "n", "verdict"} <= set(table)
    said = json.loads(comparison.to_json(), parse_constant=pytest.fail)
    assert said["differences"][0]["low"] == comparison.differences[0].interval[0]
    assert [audit["facts"]["name"] for audit in said["audits"]] == ["near", "far"]
    assert repr(comparison) == f"AuditComparison(far minus near: {len(comparison.differences)} differences)"


def test_a_number_that_does_not_exist_is_null(comparison):
    (first, *_) = comparison.differences
    broken = replace(comparison, differences=[replace(first, estimate=float("nan"))])
    (row,) = json.loads(broken.to_json(), parse_constant=pytest.fail)["differences"]
    assert row["estimate"] is None


@pytest.mark.slow
def test_a_comparison_shows_itself_and_saves_itself(comparison, runs, tmp_path):
    for compared in (comparison, glasshead.compare(*runs)):
        html = compared._repr_html_()
        assert "far minus near" in html
        assert "<script" not in html
        assert "<style" not in html
        kind = type(compared).__name__
        for ending, start in (
            ("html", b"<!doctype html>"), ("json", b"{"), ("svg", b"<?xml"),
            ("png", b"\x89PNG"), ("pdf", b"%PDF"),
        ):  # fmt: skip
            path = tmp_path / f"{kind}.{ending}"
            compared.save(path)
            assert path.read_bytes().startswith(start)
    with pytest.raises(InputError, match="choose another `path`"):
        comparison.save(tmp_path / "AuditComparison.html")
    with pytest.raises(InputError, match=r"`path` ends with none of \.html, .*\.pdf"):
        comparison.save(tmp_path / "comparison.txt")

"""glasshead plot transition, as it is typed."""

import json
from functools import partial

import pytest

from glasshead.papers.solvable.state_evolution import solve
from typed import CliRunner, app


@pytest.fixture(autouse=True)
def rough(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("glasshead.papers.solvable.curve.POWER", 6)


def typed(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def test_draws_and_resumes(tmp_path):
    words = ("plot", "transition", "--alphas", "1,2", "--d", 30, "--seeds", 2, "--out", "t.svg")
    assert typed(*words).exit_code == 0
    table = tmp_path / "t.json"
    values = json.loads(table.read_text())
    assert [(point["alpha"], point["start"]) for point in values["points"]] == [
        (1, "positional"), (1, "semantic"), (2, "positional"), (2, "semantic")
    ]  # fmt: skip
    assert "<svg" in (tmp_path / "t.svg").read_text()
    assert typed(*words).exit_code == 2  # the picture is there
    (tmp_path / "t.svg").unlink()
    values["points"][0]["theory"]["m"] = 7.0  # known points are read, not made again
    table.write_text(json.dumps(values))
    assert typed(*words).exit_code == 0
    assert json.loads(table.read_text())["points"][0]["theory"]["m"] == 7.0
    (tmp_path / "t.svg").unlink()
    other = typed(*words, "--omega", 0.1)
    assert other.exit_code == 2
    assert "other settings" in other.stderr


def test_a_theory_that_did_not_converge_is_never_silent(tmp_path, monkeypatch):
    words = ("plot", "transition", "--alphas", "1,2", "--d", 30, "--seeds", 2, "--out", "t.svg")
    sure = typed(*words)
    assert "not converged" not in sure.stdout
    assert "not-converged" not in (tmp_path / "t.svg").read_text()
    hasty = partial(solve, most_steps=2)
    monkeypatch.setattr("glasshead.papers.solvable.curve.solve", hasty)
    monkeypatch.setattr("glasshead.papers.solvable.state_evolution.solve", hasty)
    result = typed(*words, "--overwrite")
    assert result.stdout.count("not converged, residual") == 4
    assert [
        point["theory"]["converged"] for point in json.loads((tmp_path / "t.json").read_text())["points"]
    ] == [False] * 4
    assert (tmp_path / "t.svg").read_text().count(
        'id="not-converged'
    ) == 4 * 3 + 2  # solutions in three panels, and differences


@pytest.mark.parametrize(
    "wrong", [("--omega", 2), ("--alphas", "0"), ("--alphas", "x"), ("--sigma", "nan"), ("--out", "t.txt")]
)
def test_bad_input(wrong, tmp_path):
    result = typed("plot", "transition", "--d", 30, "--seeds", 2, *wrong)
    assert result.exit_code == 2
    assert len(result.stderr.strip().splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_train_says_where_it_is():
    result = typed("train", "positional-semantic", "--out", "x")
    assert result.exit_code == 2
    assert "glasshead plot transition" in result.stderr

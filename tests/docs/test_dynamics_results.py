"""The measured claims of the page on dynamics: planted runs get the verdicts that they deserve."""

import importlib
import re
import sys
from pathlib import Path

import numpy as np
import pytest

RESULTS = Path(__file__).parents[2] / "docs" / "results"


@pytest.fixture
def tables(monkeypatch, tmp_path):
    """The script that writes the tables, over an empty folder."""
    loaded = importlib.import_module("dynamics_tables")
    study = importlib.import_module("study")
    monkeypatch.setattr(study, "HERE", tmp_path)
    monkeypatch.setattr(loaded, "HERE", tmp_path)
    yield loaded
    for name in ("dynamics_tables", "dynamics", "encoder_tables", "encoders", "study"):
        del sys.modules[name]


def run(seed, *, positive=1.0, negative=1.0, coupling=0.5, neutral=0.0, settled=88, accuracy=1.0):
    """What is kept of a run whose groups ended at these scores."""
    noise = np.random.default_rng(seed).uniform(-0.01, 0.01)
    return {
        "groups": {"positive": 50, "negative": 50, "neutral": 1000},
        "steps": 2640,
        "accuracy": accuracy,
        "settled": settled,
        "curves": {
            "score/positive": [0.0, positive + noise],
            "score/negative": [0.0, negative],
            "score/neutral": [0.0, neutral],
            "VᵀW/": [0.0, coupling],
        },
        "separation": {
            "score/positive": float(positive > neutral),
            "score/negative": float(negative > neutral),
            "polarity/positive": 0.99 + noise,
            "polarity/negative": 0.01 - noise,
        },
        "products": {
            "e/positive × positive": [0.0, 3.0 + noise],
            "e/negative × negative": [0.0, 2.0],
            "e/positive × negative": [0.0, -2.5],
        },
        "added": {"positive": {}, "negative": {}},
    }


def claim_of(tables, start):
    (found,) = [
        each for each in (*tables.EVERYWHERE, tables.SIGN, *tables.SIGNED) if each.said.startswith(start)
    ]
    return found


def planted(tables, start, *settings):
    """The verdict on a claim, of settings with five seeds each."""
    claim = claim_of(tables, start)
    runs = {str(place): {s: run(s, **given) for s in range(5)} for place, given in enumerate(settings)}
    return claim.verdict(tables.over(runs, claim.number))


@pytest.mark.parametrize(
    ("start", "settings", "said"),
    [
        ("polarity tokens get a polarity", [{}], "**holds**"),
        ("tokens of every class", [{}, {"negative": 2.0}], "**holds**"),
        ("tokens of every class", [{}, {"negative": -1.0}], "**fails** in 1 of 2 settings"),
        ("tokens of every class", [{"negative": -1.0}], "**fails**: the opposite holds"),
        ("Ω within a class grows", [{}], "**holds**"),
        ("Ω between classes falls", [{}], "**holds**"),
        ("every \\|Ω\\| within", [{}], "**fails**: the opposite holds"),  # 2 < 2.5
        ("positive and negative scores move", [{"negative": -1.0}], "**holds**"),
        ("negative scores fall", [{"negative": -1.0}], "**holds**"),
        ("negative scores fall", [{"negative": 1.0}], "**fails**: the opposite holds"),
        ("neutral scores stay", [{"negative": -1.0, "neutral": 0.02}], "**holds**"),
        ("neutral scores stay", [{"negative": -1.0, "neutral": 0.9}], "**fails**: the opposite holds"),
        ("the class that VᵀW favours", [{"negative": 0.2}], "**holds**"),
        ("the class that VᵀW favours", [{"negative": 2.0}], "**fails**: the opposite holds"),
    ],
)
def test_verdicts_of_planted_runs(tables, start, settings, said):
    assert planted(tables, start, *settings) == said


def test_no_verdict_of_noise(tables):
    claim = claim_of(tables, "positive scores rise")
    values = {"a": dict(enumerate([1.0, -1.2, 0.4, -0.3, 0.1])), "b": dict(enumerate([0.1, 0.2, -0.3]))}
    assert claim.verdict(values) == "**not shown**"
    assert claim.verdict({"a": {0: 3.0}}) == "too few seeds"
    assert claim.verdict({}) == "too few seeds"


def test_all_settings_together_tell_more_than_one(tables):
    rng = np.random.default_rng(0)
    values = {str(s): dict(enumerate(0.5 + rng.normal(size=5))) for s in range(30)}
    assert re.fullmatch(
        r"\*\*holds\*\* over all; \d+ of 30 settings alone do not tell",
        claim_of(tables, "positive scores rise").verdict(values),
    )


def test_the_interval_is_students_and_over_seeds(tables):
    found = tables.pooled({"a": {0: 1.0, 1: 2.0, 2: 3.0, 3: 9.0}, "b": {0: 3.0, 1: 4.0, 2: 5.0}})
    assert (found.mean, found.n) == (3.0, 3)  # seed 3 is not in all settings
    assert found.half == pytest.approx(4.302652729749464 / 3**0.5)
    with pytest.raises(ValueError, match="not finite"):
        tables.estimate([1.0, float("nan")])


def fill(tables, name, words, **given):
    study = tables.STUDY
    cells = [cell for cell in study.tables[name] if set(words) <= set(cell.name.split())]
    values = study.read(name) | {
        f"{cell.name} | {seed}": run(seed, **given) | {"recipe": cell.mark(study.version)}
        for cell in cells
        for seed in range(5)
    }
    study.write(name, values)


def test_the_gap_with_a_penalty_is_paired_with_the_one_without(tables):
    fill(tables, "data_1", ["DP", "10"], negative=2.0)
    fill(tables, "penalty", ["data_1", "DP"], negative=1.02)
    rows = [row for row in tables.penalty_table() if row.startswith("| Data I, DP |")]
    assert len(rows) == 1
    assert "**almost gone**" in rows[0]
    fill(tables, "penalty", ["data_1", "DP"], negative=3.0)
    assert "**larger**" in next(row for row in tables.penalty_table() if row.startswith("| Data I, DP |"))


def test_a_run_that_never_settled_counts_with_its_last_step(tables):
    fill(tables, "data_1", ["DP", "10"])
    fill(tables, "ranges", ["1"], settled=None)
    lines = tables.range_table()
    assert "| ± 1 | 2640 [2640, 2640] | 5 | 5 |" in lines
    assert "| ± 1 against ± 0.1, paired | 2552 [2552, 2552] | 5 | **later** |" in lines


def test_tanhmax_is_judged_where_it_learns(tables):
    fill(tables, "tanhmax", ["s0-code", "tanhmax"], negative=-1.0, neutral=0.05, accuracy=1.0)
    fill(tables, "tanhmax", ["DP", "tanhmax"], negative=1.0, accuracy=0.5)
    text = "\n".join(tables.signed_table())
    assert text.count("**holds**") == 4
    assert "**fails**" not in text
    assert "DP 0.50 after the last step" in text


def test_the_page_is_written_before_anything_is_measured(tables, tmp_path):
    tables.write()
    assert "### TanhMax" in (tmp_path / "dynamics.md").read_text()

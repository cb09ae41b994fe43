"""The measured claims of the page on dynamics: planted runs and histories get the verdicts they deserve."""

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

from glasshead.papers.results import History
from reproduction import study
from reproduction.dynamics import STUDY, claims
from reproduction.dynamics import measure as dynamics
from reproduction.dynamics import tables as dynamics_tables


@pytest.fixture
def tables(monkeypatch, tmp_path):
    """The script that writes the tables, over an empty folder."""
    monkeypatch.setattr(study, "HERE", tmp_path)
    return dynamics_tables


def auc(first, second):
    return 0.5 if first == second else float(first > second)


def run(
    seed,
    *,
    positive=1.0,
    negative=1.0,
    coupling=0.5,
    neutral=0.0,
    accuracy=1.0,
    tokens=50,
    restless=None,
):
    """What is kept of a run whose groups ended at these scores."""
    noise = np.random.default_rng(seed).uniform(-0.01, 0.01)
    return {
        "groups": {"positive": tokens, "negative": tokens, "neutral": 1000},
        "steps": 2640,
        "accuracy": accuracy,
        "curves": {
            "score/positive": [0.0, positive + noise],
            "score/negative": [0.0, negative],
            "score/neutral": [0.0, neutral],
            "VᵀW/": [0.0, coupling],
        },
        "separation": {
            "score/positive": auc(positive, neutral),
            "score/negative": auc(negative, neutral),
            "polarity/positive": 0.99 + noise,
            "polarity/negative": 0.01 - noise,
        },
        "products": {
            "e/positive × positive": [0.0, 3.0 + noise],
            "e/negative × negative": [0.0, 2.0 + noise],
            "e/positive × negative": [0.0, -2.5 + noise],
        },
        "moved": {"neutral": abs(neutral) if restless is None else restless},
    }


def claim_of(tables, start):
    all_of_them = (*claims.EVERYWHERE, claims.FAVOURED, claims.AROUND_ZERO, *claims.STAYING)
    (found,) = [each for each in all_of_them if each.statement.startswith(start)]
    return found


def planted(*settings):
    """Settings with five seeds each."""
    return {str(place): {s: run(s, **given) for s in range(5)} for place, given in enumerate(settings)}


@pytest.mark.parametrize(
    ("start", "settings", "said"),
    [
        ("polarity tokens get a polarity", [{}], "**holds**"),
        ("tokens of every class", [{}, {"negative": 2.0}], "**holds** in every training"),
        ("tokens of every class", [{}, {"negative": -1.0}], "**fails** in 5 of 10 trainings"),
        ("tokens of every class", [{}, {"negative": 0.0}], "**not shown** in 5 of 10 trainings"),
        ("tokens of every class", [{"tokens": 1}], "**not shown** in 5 of 5 trainings"),
        ("Ω within a class grows", [{}], "**holds**"),
        ("Ω between classes falls", [{}], "**holds**"),
        ("\\|Ω\\| within every class", [{}], "**fails**: the opposite holds"),  # 2 < 2.5
        ("they part around zero", [{"negative": -1.0}], "**holds**"),
        ("they part around zero", [{"positive": -1.0, "negative": 1.0}], "**holds**"),
        ("they part around zero", [{"negative": 3.0}], "**fails**: the opposite holds"),
        ("neutral scores stay", [{"negative": -1.0, "neutral": 0.02}], "**holds**"),
        ("neutral scores stay", [{"negative": -1.0, "neutral": 0.9}], "**fails**: the opposite holds"),
        ("neutral tokens stay", [{"negative": -1.0, "neutral": 0.9, "restless": 0.1}], "**holds**"),
        ("neutral tokens stay", [{"negative": -1.0, "restless": 0.9}], "**fails**: the opposite holds"),
        ("the class that VᵀW favours", [{"negative": 0.2}, {"positive": 0.2, "coupling": -0.5}], "**holds**"),
        ("the class that VᵀW favours", [{"negative": 2.0}], "**fails**: the opposite holds"),
        ("the class that VᵀW favours", [{"negative": 2.0}, {}], "**fails** in 1 of 2 settings"),
    ],
)
def test_verdicts_of_planted_runs(tables, start, settings, said):
    assert claim_of(tables, start).verdict(planted(*settings)) == said


def numbers(tables, values, **options):
    """A claim on planted numbers: setting → part → a number per seed; it wants them above 0."""
    runs = {
        name: {seed: {part: each[seed] for part, each in parts.items()} for seed in range(len(parts["a"]))}
        for name, parts in values.items()
    }
    return claims.Claim("planted", "", lambda run: run, **options), runs


def test_every_class_is_judged_for_itself(tables):
    """The least of two numbers lies below their mean: taken run by run it would fail without a cause."""
    rng = np.random.default_rng(0)
    noise = {str(s): {part: rng.normal(size=5).tolist() for part in "ab"} for s in range(400)}
    claim, runs = numbers(tables, noise)
    sides = claim.sides(runs)
    assert sides.count(-1) / 400 < 0.08
    assert sides.count(1) / 400 < 0.01
    least = [np.minimum(each["a"], each["b"]).tolist() for each in noise.values()]
    assert np.mean([claims.estimate(each).side(0) == -1 for each in least]) > 0.12
    claim, runs = numbers(tables, {"x": {"a": [1.0, 1.1, 1.2], "b": [-1.0, -1.1, -1.2]}})
    assert claim.sides(runs) == [-1]
    assert claim.effect(runs) == ("-1.10 [-1.35, -0.85] (b)", 3)
    claim, runs = numbers(tables, {"x": {"a": [1.0, 1.1, 1.2], "b": [0.9, 1.0, 1.1]}})
    assert claim.sides(runs) == [1]


def test_a_class_is_behind_by_chance_in_one_training_of_forty(tables):
    rng = np.random.default_rng(1)
    found = []
    for _ in range(2000):
        scores = rng.normal(size=1100)
        ranks = scores.argsort().argsort() + 1
        given = run(0)
        for place, group in enumerate(("positive", "negative")):
            mine, neutral = ranks[50 * place : 50 * place + 50], ranks[100:]
            given["separation"][f"score/{group}"] = float((mine[:, None] > neutral).mean())
        found.append(claims.every_class_ahead(given))
    assert 0.012 < found.count(-1) / 2000 < 0.04
    assert found.count(1) == 0 or found.count(1) / 2000 < 0.002


def test_no_verdict_of_noise(tables):
    claim, runs = numbers(tables, {"x": {"a": [1.0, -1.2, 0.4, -0.3, 0.1]}, "y": {"a": [0.1, 0.2, -0.3]}})
    assert claim.verdict(runs) == "**not shown**"
    claim, runs = numbers(tables, {"x": {"a": [3.0, 3.0]}})
    assert claim.verdict(runs) == "too few seeds"
    assert claim.sides(runs) == [0]
    assert claim.verdict({}) == "too few seeds"


def test_all_settings_together_tell_more_than_one(tables):
    rng = np.random.default_rng(0)
    claim, runs = numbers(tables, {str(s): {"a": (0.5 + rng.normal(size=5)).tolist()} for s in range(30)})
    assert re.fullmatch(
        r"\*\*holds\*\* on average; \d+ of 30 settings alone do not tell", claim.verdict(runs)
    )


def test_the_interval_is_students_and_over_seeds(tables):
    claim, runs = numbers(tables, {"x": {"a": [1.0, 2.0, 3.0, 9.0]}, "y": {"a": [3.0, 4.0, 5.0]}})
    whole = claims.pooled(runs, claim.parts)
    assert whole == {"a": [2.0, 3.0, 4.0]}  # seed 3 is not in all settings
    found = claims.estimate(whole["a"])
    assert (found.mean, found.n) == (3.0, 3)
    assert found.half == pytest.approx(4.302652729749464 / 3**0.5)
    assert claims.estimate(whole["a"], 2).half == pytest.approx(6.205346816570703 / 3**0.5)
    with pytest.raises(ValueError, match="not finite"):
        claims.estimate([1.0, float("nan")])


def fill(tables, name, words, **given):
    trainings = tables.TRAININGS
    cells = [cell for cell in trainings.tables[name] if set(words) <= set(cell.name.split())]
    values = study.read_numbers("dynamics", name) | {
        f"{cell.name} | {seed}": run(seed, **given) | {"recipe": cell.mark(trainings.version)}
        for cell in cells
        for seed in range(5)
    }
    study.write_numbers("dynamics", name, values)


def test_tanhmax_is_judged_where_it_learns_and_against_softmax(tables):
    fill(tables, "tanhmax", ["s0-code", "tanhmax"], negative=-1.0, neutral=0.05, accuracy=1.0)
    fill(tables, "tanhmax", ["s0-code", "softmax"], negative=1.2, neutral=0.05, accuracy=1.0)
    fill(tables, "tanhmax", ["DP", "tanhmax"], negative=1.0, accuracy=0.5)
    text = tables.signed_table()
    assert [line for line in text.splitlines() if "more than softmax" in line and "**holds**" in line]
    assert text.count("**holds**") == 4  # of the gap, around zero, neutral ones on average and one by one
    assert "| softmax | -0.83" in text
    assert "DP 0.50 after the last step" in text
    fill(tables, "tanhmax", ["s0-code", "tanhmax"], negative=1.1, neutral=0.05, accuracy=1.0)
    assert "**fails**: less than under softmax" in tables.signed_table()


def correlated(tables, couplings):
    """A setting of five seeds, whose gaps are 0, 1, … 4."""
    return {
        "x": {
            seed: run(seed, positive=1.0 + seed, negative=1.0, coupling=c) for seed, c in enumerate(couplings)
        }
    }


def test_the_gap_that_follows_the_coupling(tables):
    found = tables.gap_follows(correlated(tables, [1, 2, 3, 4, 5]))
    assert (found.mean, found.half, found.n) == (pytest.approx(1), pytest.approx(0), 5)
    assert tables.gap_follows(correlated(tables, [5, 4, 3, 2, 1])).side(0) == -1
    assert tables.gap_follows(correlated(tables, [2, 5, 1, 4, 3])).side(0) == 0
    assert tables.gap_follows(correlated(tables, [1, 2, 3])).n == 0  # too few to leave one out


def test_what_follows_by_chance(tables):
    """Of the 120 orders of five seeds one is the right one, and one its reverse."""
    right = correlated(tables, [1, 2, 3, 4, 5])
    assert tables.by_chance(right) == pytest.approx(2 / 120)
    assert tables.follows_row(right)[2:] == ["ρ above / below 0: 1 / 0", "**holds**"]
    wrong = correlated(tables, [5, 4, 3, 2, 1])
    assert tables.follows_row(wrong)[3] == "**fails**: the opposite holds"
    assert tables.follows_row(correlated(tables, [2, 5, 1, 4, 3]))[3] == "**not shown**"
    assert tables.follows_row(correlated(tables, [1, 2, 3]))[3] == "too few seeds"
    mixed = {str(place): runs for place, runs in enumerate([*right.values()] * 5 + [*wrong.values()])}
    assert tables.follows_row(mixed)[3] == "**holds** on average; opposite in 5"
    assert tables.called("data_1 DP-A 10") == "Data I DP-A 10"
    (runs,) = correlated(tables, [2, 5, 1, 1, 3]).values()
    rho = spearmanr(range(5), [2, 5, 1, 1, 3])[0]
    assert tables.rank_correlations({"x": runs}, range(5)) == pytest.approx([rho])
    assert tables.gap_follows({"x": runs}).mean == pytest.approx(rho)
    rng = np.random.default_rng(0)
    chance = [tables.by_chance(correlated(tables, rng.normal(size=5))) for _ in range(100)]
    assert np.mean(np.array(chance) <= 0.05) < 0.12


def test_one_of_many_settings_fails_only_if_that_is_no_chance(tables):
    rng = np.random.default_rng(2)
    rows = [{str(s): {"a": rng.normal(size=5).tolist()} for s in range(48)} for _ in range(60)]
    said = [claim.verdict(runs) for claim, runs in (numbers(tables, each) for each in rows)]
    assert sum("fails" in each for each in said) <= 7


def test_seeds_are_left_out_of_all_settings_at_once(tables):
    """Thirty settings that share their seeds tell no more than one of them."""
    (one,) = correlated(tables, [2, 1, 3, 5, 4]).values()
    alone = tables.gap_follows({"x": one})
    many = tables.gap_follows({str(place): one for place in range(30)})
    assert (many.mean, many.half) == (pytest.approx(alone.mean), pytest.approx(alone.half))
    assert alone.half > 0.1


def history(**columns):
    """Two polar words and two neutral ones, looked at four times."""
    steps = np.arange(0, 40, 10)
    pairs = {
        "positive × positive": [0.1, 0.2, -0.1, 0.3],
        "negative × negative": [0.1, 0.2, 0.3, 0.4],
        "positive × negative": [0.1, -0.1, -0.2, -0.3],
    } | columns.get("pairs", {})
    product = {name: [] for name in ("step", "of", "pair", "lower", "upper", "mean")}
    for pair, values in pairs.items():
        for step, value in zip(steps, values, strict=True):
            each = {"step": step, "of": "e", "pair": pair, "mean": value}
            each |= {"lower": value - 0.01, "upper": value + 0.01}
            for name, column in product.items():
                column.append(each[name])
    words = {"superb": "positive", "dire": "negative", "the": "neutral", "of": "neutral"}
    scores = {"superb": [0, 1, 2, 3], "dire": [0, 0, -1, -2], "the": [0, 0, 0, 1], "of": [0, 0, 0, -3]}
    tokens = [
        {"step": step, "token": word, "group": group, "score": float(scores[word][place])}
        | {"polarity": float(scores[word][place])}
        for word, group in words.items()
        for place, step in enumerate(steps)
    ]
    curves = [
        {"step": step, "quantity": "accuracy", "group": "", "mean": 0.5 + 0.1 * place, "std": 0.0, "n": 1}
        for place, step in enumerate(steps)
    ]
    means = {
        ("score", "positive"): [0, 1, 2, 3],
        ("score", "negative"): [0, 0, -1, -2],
        ("VᵀW", ""): [0, 5, -1, 2],
    }
    curves += [
        {"step": step, "quantity": quantity, "group": group, "mean": float(mean), "std": 0.0, "n": 1}
        for (quantity, group), values in means.items()
        for step, mean in zip(steps, values, strict=True)
    ]
    facts = {"groups": {"positive": 1, "negative": 1, "neutral": 2}, "labels": [], "exact": False}
    tables = ({name: np.array([row[name] for row in rows]) for name in rows[0]} for rows in (curves, tokens))
    curve, token = tables
    return History(facts, curve, {name: np.array(each) for name, each in product.items()}, token)


def test_what_is_kept_of_a_run(tables, monkeypatch):
    """Numbers of the first look and the last, by hand."""
    monkeypatch.setattr(dynamics, "read_history", lambda run: history())
    kept = dynamics.summary(Path("run"))
    assert (kept["steps"], kept["accuracy"]) == (30, pytest.approx(0.8))
    ends = {"score/positive": [0.0, 3.0], "score/negative": [0.0, -2.0], "VᵀW/": [0.0, 2.0]}
    assert kept["curves"] == ends
    assert kept["moved"] == {"positive": 3.0, "negative": 2.0, "neutral": 2.0}
    assert kept["products"]["e/positive × negative"] == [0.1, -0.3]
    assert kept["separation"] == {
        "score/positive": 1.0, "score/negative": 0.5, "polarity/positive": 1.0, "polarity/negative": 0.5,
    }  # fmt: skip


def test_the_page_is_written_before_anything_is_measured(tables):
    assert "### TanhMax" in STUDY.page("dynamics")

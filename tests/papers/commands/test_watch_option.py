"""`glasshead train --watch dynamics`, as it is typed."""

import pytest

from glasshead.opening import load_run
from glasshead.papers.results import read_history
from typed import TINY, glasshead, refusal


def test_a_watched_training(tmp_path):
    out = tmp_path / "run"
    typed = ("--attention", "softmax", "--scale", "5", "--optimizer", "sgd", "--watch", "dynamics")
    ran = glasshead("train", *TINY, *typed, "--watch-every", "4", "--out", out)
    assert f"Next: glasshead dynamics {out}" in " ".join(ran.stdout.split())
    history, recipe = read_history(out), load_run(out).record["recipe"]
    # Where nothing else is said, the model is one whose gradients are known in closed form.
    assert (recipe["preset"], recipe["optimizer"], recipe["architecture"]["temperature"]) == (
        "s4",
        "sgd",
        5.0,
    )
    assert (history.facts["form"], history.facts["exact"], history.facts["grouped_by"]) == (
        "DP",
        True,
        "truth",
    )
    assert history.steps.tolist() == [0, 4, 8, 12, 14]


def test_the_preset_that_is_named_stays(tmp_path):
    out = tmp_path / "run"
    glasshead("train", *TINY, "--preset", "s0-paper", "--watch", "dynamics", "--out", out)
    assert load_run(out).record["recipe"]["preset"] == "s0-paper"
    assert read_history(out).facts["form"] is None


def test_repeats_are_watched_each(tmp_path):
    out = tmp_path / "runs"
    glasshead("train", *TINY, "--watch", "dynamics", "--repeats", "2", "--out", out)
    first, second = (read_history(out / f"seed-{seed}") for seed in (0, 1))
    assert first.steps.tolist() == second.steps.tolist()
    assert first.curve("score", "positive")["mean"][0] != second.curve("score", "positive")["mean"][0]


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (("--watch", "dynamic"), "unknown --watch 'dynamic': did you mean 'dynamics'?"),
        (("--watch-every", "5"), "--watch-every needs --watch dynamics"),
        (
            ("--watch", "dynamics", "--watch-every", "0"),
            "--watch-every must be a number of steps from 1, not 0",
        ),
        (("--optimizer", "sdg"), "unknown optimizer 'sdg': did you mean 'sgd'?"),
    ],
)
def test_refusals(tmp_path, typed, said):
    assert said in refusal(tmp_path, "train", *TINY, *typed, "--out", tmp_path / "run")

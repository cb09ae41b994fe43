"""``glasshead plot ratios``: VᵀW over the ratio of the classes of several runs, or one clear line."""

import json
import shutil

import numpy as np
import pytest

from glasshead.data import LoadOptions, load
from glasshead.papers.results import read_history
from glasshead.report.number_format import number
from typed import glasshead, refusal

TINY = ("synthetic", "--option", "instances=200", "--epochs", "1")
WATCHED = ("--watch", "dynamics", "--watch-every", "2", "--scale", "10")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Two seeds of each of three ratios, and runs of which nothing can be told; not to be written to."""
    folder = tmp_path_factory.mktemp("runs")

    def train(name, *options, watched=WATCHED):
        glasshead("train", *TINY, *watched, *options, "--out", folder / name)

    for ratio in ("0.5", "1", "2"):
        train(ratio, "--option", f"ratio={ratio}", "--repeats", "2")
    train("other scale", "--option", "ratio=2", "--scale", "20")
    train("affine", "--encoder", "affine")
    train("affine 2", "--encoder", "affine", "--option", "ratio=2")
    train("query-key", "--score", "query-key")
    train("genres", "--option", "classes=3")
    train("plain", "--preset", "s4", watched=())
    return folder


def planted_ratio(name):
    """Positive to negative texts of train, counted in the texts."""
    made = {"instances": 200, "ratio": float(name)}
    labels = load("synthetic", LoadOptions(generator=made))["train"]["label"][:]
    return labels.count(1) / labels.count(0)


def test_numbers_of_every_ratio(runs, tmp_path):
    out = tmp_path / "new" / "fig7.svg"
    said = glasshead("plot", "ratios", *(runs / name for name in ("2", "0.5", "1")), "--out", out).stdout
    expected = [f"Written to {out}"]
    for name in ("0.5", "1", "2"):
        ends = [read_history(runs / name / f"seed-{seed}").curve("VᵀW")["mean"][-1] for seed in (0, 1)]
        assert ends[0] != ends[1]
        mean, std = np.mean(ends), abs(ends[0] - ends[1]) / 2**0.5
        told = f"{planted_ratio(name):.2g}: VᵀW {number(mean)} ± {number(std)} (2 trainings)"
        expected.append(told)
    assert said.splitlines() == expected
    assert out.read_bytes().startswith(b"<?xml")


def test_runs_one_by_one_count_once_each(runs, tmp_path):
    """The same run named twice, and within its repeats, is no second seed."""
    named = (runs / "1" / "seed-0", runs / "2", runs / "2" / "seed-1", runs / "2" / "seed-1")
    said = glasshead("plot", "ratios", *named, "--out", tmp_path / "a.png").stdout
    assert said.count("(1 training)") == said.count("(2 trainings)") == 1


def test_behind_an_affine_layer_both_are_mapped(runs, tmp_path):
    said = glasshead("plot", "ratios", runs / "affine", runs / "affine 2", "--out", tmp_path / "a.svg").stdout
    ends = [read_history(runs / name).curve("V′ᵀW′")["mean"][-1] for name in ("affine", "affine 2")]
    assert [line.split(": ", 1)[1] for line in said.splitlines()[1:]] == [
        f"V′ᵀW′ {number(end)} (1 training)" for end in ends
    ]


def test_at_a_step(runs, tmp_path):
    said = glasshead("plot", "ratios", runs / "1" / "seed-0", runs / "2" / "seed-0", "--step", "0", "--out",
                     tmp_path / "a.svg").stdout  # fmt: skip
    for name in ("1", "2"):
        first = read_history(runs / name / "seed-0").curve("VᵀW")["mean"][0]
        assert f"VᵀW {number(first)} (1 training)" in said


def test_a_step_after_the_end(runs, tmp_path):
    asked = (runs / "1", runs / "2", "--step", "9999", "--out", tmp_path / "a.svg")
    assert "there is no step 9,999" in refusal(tmp_path, "plot", "ratios", *asked)


def test_what_is_typed_out_is_no_other_setting(runs, tmp_path):
    glasshead("train", *TINY, *WATCHED, "--attention", "softmax", "--out", tmp_path / "typed out")
    said = glasshead("plot", "ratios", tmp_path / "typed out", runs / "2", "--out", tmp_path / "a.svg").stdout
    assert said.count("(1 training)") == said.count("(2 trainings)") == 1


def test_a_setting_that_this_version_does_not_know(runs, tmp_path):
    run = shutil.copytree(runs / "1" / "seed-0", tmp_path / "run")
    record = json.loads((run / "run.json").read_text())
    record["recipe"]["of_another_version"] = 1
    (run / "run.json").write_text(json.dumps(record))
    said = glasshead("plot", "ratios", run, runs / "2", "--out", tmp_path / "a.svg").stdout
    assert said.count("(1 training)") == said.count("(2 trainings)") == 1


@pytest.mark.parametrize(
    ("named", "message"),
    [
        (["1"], "these runs have the same ratio of positive to negative texts, 1: name runs of two or more"),
        (["1", "query-key"], "has no VᵀW"),
        (["1", "plain"], "was not recorded: train with --watch dynamics"),
        (["genres", "1"], "has 3 classes: a ratio of positive to negative texts needs two"),
        (
            ["1", "other scale"],
            "other scale differ in temperature: name runs that differ only in their texts and seeds",
        ),
        (["1", "affine 2"], "differ in encoder"),
        (["1", "nothing"], "is not a run (does not exist)"),
    ],
)
def test_refusals(runs, tmp_path, named, message):
    out = ("--out", tmp_path / "a.svg")
    assert message in refusal(tmp_path, "plot", "ratios", *(runs / name for name in named), *out)


def test_texts_of_one_class(runs, tmp_path):
    run = shutil.copytree(runs / "1" / "seed-0", tmp_path / "run")
    record = json.loads((run / "run.json").read_text())
    record["data"]["classes"]["train"]["negative"] = 0
    (run / "run.json").write_text(json.dumps(record))
    said = refusal(tmp_path, "plot", "ratios", run, runs / "2", "--out", tmp_path / "a.svg")
    assert "was trained on texts of one class" in said


def test_files_in_the_way(runs, tmp_path):
    out = tmp_path / "a.svg"
    out.write_text("mine")
    assert "pass --overwrite" in refusal(tmp_path, "plot", "ratios", runs / "1", runs / "2", "--out", out)
    assert "must end in" in refusal(tmp_path, "plot", "ratios", runs / "1", "--out", tmp_path / "a.jpg")

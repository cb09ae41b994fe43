"""Folders of runs are read, held against each other, and refused where that would mean nothing."""

import json
from pathlib import Path

import numpy as np
import pytest

from fake_runs import classes, guesses, metrics_of, write_repeats, write_run
from glasshead.audits.comparing.folder_names import short_names
from glasshead.audits.comparing.run_differences import (
    ONE_SEED,
    SAME_DIFFERENCES,
    UNEQUAL,
    compare_runs,
    describe_run_difference,
)
from glasshead.errors import InputError
from glasshead.statistics.paired_tests import METRICS
from glasshead.training.load_predictions import folder_kind

LABELS = classes(200)


def repeats(folder, accuracy, seeds=range(3), shift=0, **options):
    said = [guesses(LABELS, accuracy, 100 + seed + shift) for seed in seeds]
    return write_repeats(folder, LABELS, said, seeds, **options)


@pytest.fixture
def pair(tmp_path):
    return [repeats(tmp_path / "far", 0.9), repeats(tmp_path / "near", 0.6, shift=50)]


def test_means_differences_and_verdicts(pair):
    found = compare_runs(pair, resamples=300)
    assert (found.n, found.split, found.data) == (200, "test", "data/trec")
    assert [group.name for group in found.groups] == ["far", "near"]
    assert [group.seeds for group in found.groups] == [(0, 1, 2)] * 2
    body = json.loads((pair[0] / "repeats.json").read_text())
    assert found.groups[0].metrics["dev"]["macro_f1"] == body["metrics"]["dev"]["macro_f1"]["values"]
    accuracy, macro_f1 = found.differences
    assert (accuracy.name, macro_f1.name) == ("accuracy", "macro_f1")
    assert (accuracy.one, accuracy.other) == (1, 0)
    means = [np.mean(group.metrics["test"]["accuracy"]) for group in found.groups]
    assert accuracy.estimate == pytest.approx(means[1] - means[0])
    assert accuracy.interval[0] < accuracy.estimate < accuracy.interval[1] < 0
    assert (accuracy.verdict, macro_f1.verdict) == ("worse", "worse")
    assert accuracy.seed_test.paired
    assert accuracy.seed_test.p < 0.05
    assert accuracy.exchange == pytest.approx(1 / 301)


def test_against_another_one_turns_the_sign(pair):
    first = compare_runs(pair, resamples=100).differences[0]
    turned = compare_runs(pair, against="near", resamples=100).differences[0]
    assert (turned.one, turned.other, turned.verdict) == (0, 1, "better")
    assert turned.estimate == pytest.approx(-first.estimate)
    with pytest.raises(InputError, match="did you mean 'near'"):
        compare_runs(pair, against="nea")


def test_single_runs_say_that_they_are(tmp_path):
    folders = [
        write_run(tmp_path / name, LABELS, guesses(LABELS, p, 3)) for name, p in (("a", 0.9), ("b", 0.5))
    ]
    found = compare_runs(folders, resamples=100).differences[0]
    assert (found.seed_test, found.untested) == (None, ONE_SEED)
    assert found.verdict == "worse, for these runs alone"


def test_other_seeds_and_sizes(tmp_path):
    folders = [repeats(tmp_path / "a", 0.8), repeats(tmp_path / "b", 0.8, range(5, 9))]
    accuracy, macro_f1 = compare_runs(folders, resamples=100).differences
    assert not accuracy.seed_test.paired
    assert (accuracy.unexchanged, macro_f1.unexchanged, macro_f1.exchange) == ("", UNEQUAL, None)
    twins = [repeats(tmp_path / "c", 0.8), repeats(tmp_path / "d", 0.8)]
    assert compare_runs(twins, resamples=100).differences[0].untested == SAME_DIFFERENCES


def test_the_order_of_rows_and_seeds_is_nothing(tmp_path, pair):
    other = repeats(tmp_path / "again", 0.6, shift=50, order=np.random.default_rng(0).permutation(200))
    body = json.loads((other / "repeats.json").read_text())
    (other / "repeats.json").write_text(json.dumps(body | {"seeds": [2, 0, 1]}))
    expected, found = (
        compare_runs([pair[0], each], resamples=100).differences[0] for each in (pair[1], other)
    )
    assert found == expected


def test_ratings(tmp_path):
    stars = np.random.default_rng(0).integers(1, 6, 200).astype(float)
    noise = np.random.default_rng(1).normal(size=(2, 3, 200))
    folders = [
        write_repeats(tmp_path / name, stars, stars + size * each)
        for name, size, each in (("close", 0.2, noise[0]), ("wide", 0.9, noise[1]))
    ]
    rmse, mae = compare_runs(folders, resamples=200).differences
    assert (rmse.name, mae.name) == ("rmse", "mae")
    assert rmse.estimate > 0.5
    assert (rmse.verdict, mae.verdict) == ("worse", "worse")
    write_run(tmp_path / "classes", LABELS, LABELS)
    with pytest.raises(InputError, match="do not both predict ratings"):
        compare_runs([folders[0] / "seed-0", tmp_path / "classes"])


def test_the_floor_is_the_commonest_class_of_train(tmp_path):
    """Also of runs that recorded no floor: it is worked out from the labels that they predicted."""
    labels = np.repeat(["entity", "human", "number"], [10, 60, 30])
    collapsed = write_run(tmp_path / "one", labels, np.full(100, "human"))
    other = write_run(tmp_path / "other", labels, np.roll(labels, 5))
    assert "floor" not in json.loads((collapsed / "run.json").read_text())
    found = compare_runs([collapsed, other], resamples=50)
    assert found.floor.guess == "always guessing 'human', the commonest class of train"
    assert found.floor.metrics["test"]["accuracy"] == pytest.approx(0.6)
    assert found.floor.metrics["test"] == pytest.approx(metrics_of(labels, np.full(100, "human")))
    assert [dict(group.only_class) for group in found.groups] == [{0: "human"}, {}]


def test_the_floor_of_ratings_is_the_mean_of_train(tmp_path):
    stars = np.random.default_rng(0).integers(1, 6, 50).astype(float)
    folders = [write_run(tmp_path / name, stars, stars + size) for name, size in (("a", 0.1), ("b", 0.2))]
    found = compare_runs(folders, resamples=50)
    assert found.floor.metrics["dev"]["rmse"] == pytest.approx(stars.std())
    assert "mean rating of train" in found.floor.guess
    assert not any(group.only_class for group in found.groups)


class TestRefusals:
    def test_other_data(self, tmp_path, pair):
        other = repeats(tmp_path / "other", 0.8, fingerprint="0" * 64)
        with pytest.raises(InputError, match="far and other were trained on different data"):
            compare_runs([pair[0], other])

    @pytest.mark.parametrize("change", [{"index": np.arange(1, 201)}, {}])
    def test_other_rows(self, tmp_path, pair, change):
        labels = LABELS if change else np.roll(LABELS, 1)
        other = write_repeats(tmp_path / "other", labels, [labels] * 3, **change)
        with pytest.raises(InputError, match="tested on different rows"):
            compare_runs([pair[0], other])

    def test_repeats_that_are_none(self, pair):
        path = pair[1] / "seed-1" / "run.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | {"recipe": {"model": "pooled"}}))
        with pytest.raises(InputError, match="different recipes"):
            compare_runs(pair)

    def test_one_seed_twice(self, pair):
        path = pair[1] / "seed-1" / "run.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | {"seed": 0}))
        with pytest.raises(InputError, match="two runs with the same seed"):
            compare_runs(pair)

    def test_predictions_of_another_model(self, pair):
        path = pair[1] / "seed-1" / "metrics.json"
        values = {"accuracy": 0.9, "macro_f1": 0.9}
        path.write_text(json.dumps({"dev": values, "test": values}))
        with pytest.raises(InputError, match="does not give the accuracy"):
            compare_runs(pair)

    @pytest.mark.parametrize("name", ["run.json", "metrics.json", "predictions.parquet"])
    @pytest.mark.parametrize("content", [None, b"garbage", b"[]", b"{}"])
    def test_damage(self, pair, name, content):
        path = pair[1] / "seed-1" / name
        path.unlink()
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(InputError, match=r"seed-1.*train") as said:
            compare_runs(pair)
        assert "\n" not in str(said.value)

    @pytest.mark.parametrize("body", ["{}", '{"seeds": []}', '{"seeds": ["a"]}', "["])
    def test_damaged_repeats(self, pair, body):
        (pair[1] / "repeats.json").write_text(body)
        with pytest.raises(InputError, match=r"repeats.json is damaged"):
            compare_runs(pair)

    def test_a_split_that_there_is_not(self, pair):
        with pytest.raises(InputError, match="no 'train' split, only: dev, test"):
            compare_runs(pair, split="train")

    def test_the_same_folder(self, pair):
        with pytest.raises(InputError, match="given twice"):
            compare_runs([pair[0], pair[0]])

    def test_kinds(self, tmp_path, pair):
        assert folder_kind(pair[0]) == "a folder of repeats"
        assert folder_kind(pair[0] / "seed-0") == "a run"
        with pytest.raises(InputError, match="has no card"):
            folder_kind(tmp_path)


def test_names_tell_folders_apart():
    assert short_names([Path("runs/a/seed-0"), Path("runs/b/seed-0")]) == ["a/seed-0", "b/seed-0"]
    assert short_names([Path("a"), Path("runs/b")]) == ["a", "b"]


def test_verdicts_rest_on_the_interval():
    accuracy, rmse = METRICS["accuracy"], METRICS["rmse"]
    assert (
        describe_run_difference((0.1, 0.2), accuracy, 100, 5)
        == describe_run_difference((-0.2, -0.1), rmse, 100, 5)
        == "better"
    )
    assert (
        describe_run_difference((-0.2, -0.1), accuracy, 100, 5)
        == describe_run_difference((0.1, 0.2), rmse, 100, 5)
        == "worse"
    )
    assert describe_run_difference((-0.1, 0.1), accuracy, 100, 5) == "no difference shown"
    assert describe_run_difference((0.1, 0.2), accuracy, 19, 5) == "undecided: too few examples"

"""One training after another: the mean and the spread, and going on where it stopped."""

import json
import os
import signal
import statistics

import pytest
from transformers import TrainerCallback

from alike import assert_same_weights
from glasshead.errors import InputError
from glasshead.files import partial_path
from glasshead.files.manifest import MANIFEST
from glasshead.opening import load_run
from glasshead.training import train, train_repeats
from kinds import data, recipe

KIND = "encoder"
RECIPE = recipe(KIND).with_changes(epochs=2)
STEPS = 2 * 8  # of one run
SEEDS = range(4, 7)


class Stop(TrainerCallback):
    """A Ctrl-C after so many steps of all runs together."""

    def __init__(self, step):
        self.left = step

    def on_step_end(self, args, state, control, **kwargs):
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGINT)


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    return train_repeats(data(KIND), RECIPE, tmp_path_factory.mktemp("repeats") / "out", SEEDS)


def names(folder):
    return {path.name for path in folder.iterdir()}


def weights(folder):
    return {path.parent.name: path.read_bytes() for path in folder.glob("seed-*/model.safetensors")}


def assert_same_runs(one, other):
    assert names(one) == names(other)
    for name in names(one) - {"repeats.json", MANIFEST}:
        assert_same_weights(one / name, other / name)


@pytest.mark.slow
def test_what_is_in_the_folder(unbroken):
    assert names(unbroken) == {"seed-4", "seed-5", "seed-6", "repeats.json", MANIFEST}
    told = json.loads((unbroken / "repeats.json").read_text())
    assert told["seeds"] == [4, 5, 6]
    for split in ("dev", "test"):
        for name in ("accuracy", "macro_f1", "loss"):
            values = [
                json.loads((unbroken / f"seed-{seed}" / "metrics.json").read_text())[split][name]
                for seed in (4, 5, 6)
            ]
            assert told["metrics"][split][name] == {
                "mean": pytest.approx(statistics.mean(values)),
                "std": pytest.approx(statistics.stdev(values)),
                "values": values,
            }
    assert len(set(weights(unbroken).values())) == 3


def test_each_is_the_run_of_its_seed(unbroken, tmp_path):
    alone = train(data(KIND), RECIPE, tmp_path / "alone", seed=5)
    assert_same_weights(alone, unbroken / "seed-5")


@pytest.mark.slow
@pytest.mark.parametrize("step", [STEPS + 10, 2 * STEPS])
def test_goes_on_to_the_same_runs(unbroken, tmp_path, step):
    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        train_repeats(data(KIND), RECIPE, out, SEEDS, callbacks=[Stop(step)])
    assert names(tmp_path) == {"out.partial"}
    with pytest.raises(InputError, match="pass `resume=True` to continue or `overwrite=True`"):
        train_repeats(data(KIND), RECIPE, out, SEEDS)
    with pytest.raises(InputError, match="started with other seeds"):
        train_repeats(data(KIND), RECIPE, out, SEEDS[:2], resume=True)
    train_repeats(data(KIND), RECIPE, out, SEEDS, resume=True)
    assert names(tmp_path) == {"out"}
    assert_same_runs(out, unbroken)
    told = [json.loads((folder / "repeats.json").read_text()) for folder in (out, unbroken)]
    assert told[0] == told[1]


def test_stopped_before_anything_is_worth_keeping(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        train_repeats(data(KIND), RECIPE, tmp_path / "new" / "out", range(2), callbacks=[Stop(3)])
    assert names(tmp_path) == set()


@pytest.mark.slow
def test_a_killed_one_is_begun_again(unbroken, tmp_path):
    """A kill leaves a run that has no whole checkpoint yet; there is nothing in it to resume."""
    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        train_repeats(data(KIND), RECIPE, out, SEEDS, callbacks=[Stop(STEPS + 10)])
    for state in (partial_path(out) / "seed-5.partial").glob("checkpoints/*/trainer_state.json"):
        state.unlink()
    train_repeats(data(KIND), RECIPE, out, SEEDS, resume=True)
    assert_same_runs(out, unbroken)


class TestRefused:
    @pytest.mark.parametrize(
        ("seeds", "says"),
        [
            (range(1), "2 seeds or more, not 1"),
            (range(0), "2 seeds or more, not 0"),
            (range(1001), "at most 1,000"),
            (range(2**32 - 1, 2**32 + 1), "between 0 and 4,294,967,295"),
            ((3, 4, 3), "is given twice"),
        ],
    )
    def test_seeds(self, seeds, says, tmp_path):
        with pytest.raises(InputError, match=says):
            train_repeats(data(KIND), RECIPE, tmp_path / "out", seeds)
        assert names(tmp_path) == set()

    def test_an_existing_folder(self, unbroken, tmp_path):
        before = weights(unbroken)
        with pytest.raises(InputError, match="exists already"):
            train_repeats(data(KIND), RECIPE, unbroken, range(2))
        assert weights(unbroken) == before

    def test_nothing_to_resume(self, tmp_path):
        with pytest.raises(InputError, match="nothing to resume"):
            train_repeats(data(KIND), RECIPE, tmp_path / "out", range(2), resume=True)

    def test_data_that_the_model_does_not_read(self, tmp_path):
        with pytest.raises(InputError, match="use `model='pair-encoder'`"):
            train_repeats(data("pair-encoder"), RECIPE, tmp_path / "new" / "out", range(2))
        assert names(tmp_path) == set()

    def test_repeats_are_no_run(self, unbroken):
        with pytest.raises(InputError, match=r"holds 3 runs: name one of them, .*seed-4$"):
            load_run(unbroken)


@pytest.mark.slow
def test_a_new_one_takes_the_place_of_an_old_one(unbroken, tmp_path):
    out = train_repeats(data(KIND), RECIPE.with_changes(epochs=1), tmp_path / "out", range(2))
    train_repeats(data(KIND), RECIPE, out, SEEDS, overwrite=True)
    assert_same_runs(out, unbroken)
    assert names(tmp_path) == {"out"}

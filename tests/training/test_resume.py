"""A training that is stopped anywhere goes on to the same weights as one that never was."""

import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from safetensors.torch import load_file, save_file
from transformers import TrainerCallback

import kinds
from alike import assert_alike, assert_same_weights
from glasshead.data import LoadOptions, describe, load
from glasshead.errors import InputError
from glasshead.files import partial_path
from glasshead.opening import load_run
from glasshead.training import TRAINING_PRESETS, preset_config, train
from glasshead.training.checkpointing import CHECKPOINTS, STATE, valid_checkpoints

# Dropout, a bad last epoch and several batches per epoch: everything that a resume could get wrong.
RECIPE = TRAINING_PRESETS["s0-paper"].with_changes(activation="tanhmax", epochs=6, learning_rate=0.05)
SOURCE = LoadOptions(generator={"instances": 300})
STEPS = 7  # per epoch: 210 texts in batches of 32


@pytest.fixture(scope="module")
def data():
    return load("synthetic", SOURCE)


@pytest.fixture(scope="module")
def unbroken(data, tmp_path_factory):
    return train(data, RECIPE, tmp_path_factory.mktemp("unbroken") / "run", seed=3)


class Stop(TrainerCallback):
    """A Ctrl-C (or worse) after so many steps."""

    def __init__(self, step, number=signal.SIGINT):
        self.step, self.number = step, number

    def on_step_end(self, args, state, control, **kwargs):
        if state.global_step == self.step:
            os.kill(os.getpid(), self.number)


def interrupted(data, out, step, **options):
    with pytest.raises(KeyboardInterrupt):
        train(data, RECIPE, out, seed=3, callbacks=[Stop(step)], **options)


def assert_same(run, unbroken):
    assert_same_weights(run, unbroken)
    metrics = [json.loads((folder / "metrics.json").read_text()) for folder in (run, unbroken)]
    assert_alike(*metrics)
    records = [json.loads((folder / "run.json").read_text()) for folder in (run, unbroken)]
    assert records[0]["resumed"] is True
    assert records[1]["resumed"] is False
    assert all(records[0][key] == records[1][key] for key in ("recipe", "data", "seed"))
    assert_alike(*(record["gauge"] for record in records))
    assert {path.name for path in run.iterdir()} == {path.name for path in unbroken.iterdir()}


def steps(work):
    return [int(path.name.split("-")[1]) for path in valid_checkpoints(work / CHECKPOINTS)]


def test_the_unbroken_run_is_a_test_of_the_best_epoch(unbroken):
    accuracies = [e["accuracy"] for e in json.loads((unbroken / "metrics.json").read_text())["epochs"]]
    assert accuracies.index(max(accuracies)) < len(accuracies) - 1


def test_before_the_first_epoch_nothing_is_kept(data, tmp_path):
    interrupted(data, tmp_path / "new" / "run", STEPS - 1)
    assert list(tmp_path.iterdir()) == []


LATER = [pytest.param(step, marks=pytest.mark.slow) for step in (2 * STEPS, 5 * STEPS + 1, 6 * STEPS)]


@pytest.mark.parametrize("step", [STEPS + 3, *LATER])
def test_goes_on_to_the_same_weights(data, unbroken, tmp_path, step):
    out = tmp_path / "run"
    interrupted(data, out, step)
    assert [path.name for path in tmp_path.iterdir()] == ["run.partial"]
    train(data, RECIPE, out, seed=3, resume=True)
    assert_same(out, unbroken)
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


@pytest.mark.slow
def test_twice_interrupted(data, unbroken, tmp_path):
    out = tmp_path / "run"
    interrupted(data, out, STEPS + 1)
    interrupted(data, out, 3 * STEPS + 2, resume=True)
    train(data, RECIPE, out, seed=3, resume=True)
    assert_same(out, unbroken)


@pytest.mark.slow
def test_killed(data, unbroken, tmp_path):
    out = tmp_path / "run"
    program = (
        "import sys\n"
        "from pathlib import Path\n"
        "from test_resume import *\n"
        f"train(load('synthetic', SOURCE), RECIPE, Path({str(out)!r}), seed=3,\n"
        f"      callbacks=[Stop({3 * STEPS + 2}, signal.SIGKILL)])\n"
    )
    here = Path(__file__).parent
    paths = os.environ | {"PYTHONPATH": str(here.parent)}
    ran = subprocess.run([sys.executable, "-c", program], cwd=here, env=paths, check=False)
    assert ran.returncode == -signal.SIGKILL
    assert not out.exists()
    train(data, RECIPE, out, seed=3, resume=True)
    assert_same(out, unbroken)


def test_killed_before_the_first_epoch_leaves_nothing_in_the_way(data, unbroken, tmp_path):
    out = tmp_path / "run"
    partial_path(out).mkdir()
    (partial_path(out) / "run.json").write_text("{", encoding="utf-8")
    train(data, RECIPE, out, seed=3)
    assert_same_weights(out, unbroken)
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["missing", "cut off", "empty"])
def test_a_checkpoint_cut_off_while_written_is_dropped(data, unbroken, tmp_path, damage):
    out = tmp_path / "run"
    interrupted(data, out, 4 * STEPS + 1)
    first, last = valid_checkpoints(partial_path(out) / CHECKPOINTS)
    state = last / STATE
    content = state.read_text(encoding="utf-8")
    best = json.loads(content)["best_global_step"]
    if damage == "missing":
        state.unlink()
    else:
        state.write_text(content[: len(content) // 2] if damage == "cut off" else "", encoding="utf-8")
    assert valid_checkpoints(partial_path(out) / CHECKPOINTS) == [first]
    assert not last.exists()
    assert json.loads((first / STATE).read_text())["best_global_step"] <= best
    train(data, RECIPE, out, seed=3, resume=True)
    assert_same(out, unbroken)


@pytest.mark.slow
def test_a_moved_folder_keeps_its_best_epoch(data, unbroken, tmp_path):
    # Interrupted after the last epoch, so that no later checkpoint reminds the Trainer of the best one.
    stop = Stop(0)
    stop.on_train_end = lambda args, state, control, **kwargs: os.kill(os.getpid(), signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        train(data, RECIPE, tmp_path / "here", seed=3, callbacks=[stop])
    shutil.move(partial_path(tmp_path / "here"), partial_path(tmp_path / "there"))
    train(data, RECIPE, tmp_path / "there", seed=3, resume=True)
    assert_same(tmp_path / "there", unbroken)


@pytest.mark.slow
def test_a_relative_path_from_another_folder(data, unbroken, tmp_path, monkeypatch):
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path)
    interrupted(data, Path("run"), 4 * STEPS + 1)
    monkeypatch.chdir(tmp_path / "below")
    train(data, RECIPE, Path("../run"), seed=3, resume=True)
    assert_same(tmp_path / "run", unbroken)


@pytest.mark.slow
class TestEveryKind:
    """Buckets of lengths, dropout, ratings, another optimiser: each draws random numbers in its own order."""

    @pytest.mark.parametrize("kind", [kind for kind in kinds.KINDS if not kind.startswith("pooled")])
    def test_goes_on_to_the_same_weights(self, kind, tmp_path):
        recipe = kinds.recipe(kind, kinds.saved(tmp_path / "bert")).with_changes(epochs=3)
        assert recipe.by_length
        texts = kinds.data(kind)
        steps = len(texts["train"]) // recipe.batch_size  # an epoch
        whole = train(texts, recipe, tmp_path / "whole", seed=3)
        with pytest.raises(KeyboardInterrupt):
            train(texts, recipe, tmp_path / "cut", seed=3, callbacks=[Stop(2 * steps + 3)])
        train(texts, recipe, tmp_path / "cut", seed=3, resume=True)
        assert_same(tmp_path / "cut", whole)
        tables = [pq.read_table(run / "predictions.parquet") for run in (tmp_path / "cut", whole)]
        assert_alike(*(table.to_pylist() for table in tables))


@pytest.fixture(scope="module")
def squares():
    return load("squares", LoadOptions(max_examples=60))


@pytest.fixture(scope="module")
def patches():
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    settings = {"epochs": 6, "learning_rate": 0.02, "batch_size": 8, "attention": "tanhmax"}
    return preset_config(None, "vit").with_settings(settings | sizes)


@pytest.fixture(scope="module")
def whole(squares, patches, tmp_path_factory):
    return train(squares, patches, tmp_path_factory.mktemp("images") / "run", seed=3)


class TestOfImages:
    """A saved ViT has other names for its weights than the model in memory: the best epoch comes back."""

    @pytest.mark.slow
    def test_the_best_epoch_is_kept_and_it_is_not_the_last(self, whole):
        metrics = json.loads((whole / "metrics.json").read_text())
        losses = {epoch["accuracy"]: epoch["loss"] for epoch in reversed(metrics["epochs"])}
        best = max(losses)
        assert metrics["epochs"][-1]["loss"] != losses[best]
        assert metrics["dev"]["accuracy"] == best
        assert abs(metrics["dev"]["loss"] - losses[best]) < 1e-4

    @pytest.mark.slow
    def test_goes_on_to_the_same_weights(self, squares, patches, whole, tmp_path):
        a_step_after_two_epochs = 2 * -(-len(squares["train"]) // patches.batch_size) + 1
        with pytest.raises(KeyboardInterrupt):
            train(squares, patches, tmp_path / "run", seed=3, callbacks=[Stop(a_step_after_two_epochs)])
        train(squares, patches, tmp_path / "run", seed=3, resume=True)
        assert_same(tmp_path / "run", whole)

    def test_a_checkpoint_without_some_of_the_weights_is_refused(self, squares, patches, tmp_path):
        with pytest.raises(KeyboardInterrupt):
            train(squares, patches, tmp_path / "run", seed=3, callbacks=[Stop(20)])
        for checkpoint in valid_checkpoints(partial_path(tmp_path / "run") / CHECKPOINTS):
            weights = load_file(checkpoint / "model.safetensors")
            renamed = {
                name.replace("vit.layers", "vit.encoder.layer"): value for name, value in weights.items()
            }
            save_file(renamed, checkpoint / "model.safetensors")
        with pytest.raises(InputError, match="the checkpoint lacks 16 weights of the model"):
            train(squares, patches, tmp_path / "run", seed=3, resume=True)


@pytest.fixture(scope="module")
def stopped(data, tmp_path_factory):
    out = tmp_path_factory.mktemp("stopped") / "run"
    interrupted(data, out, 2 * STEPS + 1)
    return partial_path(out)


class TestRefused:
    @pytest.fixture
    def out(self, stopped, tmp_path):
        out = tmp_path / "run"
        shutil.copytree(stopped, partial_path(out))
        return out

    def refused(self, says, data, recipe, out, **options):
        kept = steps(partial_path(out))
        with pytest.raises(InputError, match=says):
            train(data, recipe, out, **options)
        assert not out.exists()
        assert steps(partial_path(out)) == kept

    def test_another_seed(self, data, out):
        self.refused("started with another seed", data, RECIPE, out, seed=4, resume=True)

    def test_another_recipe(self, data, out):
        other = replace(RECIPE, epochs=7)
        self.refused("started with another recipe", data, other, out, seed=3, resume=True)

    def test_other_data(self, out):
        other = load("synthetic", LoadOptions(generator={"instances": 300, "seed": 1}))
        self.refused("started with another data", other, RECIPE, out, seed=3, resume=True)

    def test_a_new_training_over_an_interrupted_one(self, data, out):
        self.refused("pass `resume=True` to continue or `overwrite=True`", data, RECIPE, out, seed=3)

    def test_a_damaged_record(self, data, out):
        (partial_path(out) / "run.json").write_text("{", encoding="utf-8")
        self.refused("is damaged", data, RECIPE, out, seed=3, resume=True)

    def test_a_best_epoch_that_is_gone(self, data, out, unbroken):
        # Not from a crash: the Trainer deletes older epochs only after the newer ones are whole.
        first, last = valid_checkpoints(partial_path(out) / CHECKPOINTS)
        state = json.loads((last / STATE).read_text())
        (last / STATE).write_text(json.dumps(state | {"best_global_step": 1}), encoding="utf-8")
        assert first.exists()
        train(data, RECIPE, out, seed=3, resume=True)  # on from the first
        assert_same(out, unbroken)

    @pytest.mark.parametrize("share", [0.0, 0.5], ids=["empty", "half"])
    @pytest.mark.parametrize(
        "name",
        ["model.safetensors", "config.json", "optimizer.pt", "scheduler.pt", "rng_state.pth", STATE],
    )
    def test_a_truncated_file_is_as_a_missing_one(self, out, name, share):
        first, last = valid_checkpoints(partial_path(out) / CHECKPOINTS)
        content = (last / name).read_bytes()
        (last / name).write_bytes(content[: int(share * len(content))])
        assert valid_checkpoints(partial_path(out) / CHECKPOINTS) == [first]

    def test_goes_on_from_the_checkpoint_before_a_truncated_one(self, data, out, unbroken):
        _, last = valid_checkpoints(partial_path(out) / CHECKPOINTS)
        optimizer = last / "optimizer.pt"
        optimizer.write_bytes(optimizer.read_bytes()[:100])
        train(data, RECIPE, out, seed=3, resume=True)
        assert_same(out, unbroken)

    def test_killed_in_its_first_epoch_it_begins(self, data, out, unbroken):
        shutil.rmtree(partial_path(out) / CHECKPOINTS)
        self.refused("started with another seed", data, RECIPE, out, seed=4, resume=True)
        train(data, RECIPE, out, seed=3, resume=True)
        assert_same_weights(out, unbroken)

    def test_nothing_to_resume(self, data, tmp_path):
        with pytest.raises(InputError, match="nothing to resume"):
            train(data, RECIPE, tmp_path / "new" / "run", seed=3, resume=True)
        assert list(tmp_path.iterdir()) == []

    def test_overwrite_starts_anew(self, data, out, unbroken):
        train(data, RECIPE, out, seed=3, overwrite=True)
        assert load_run(out).record["resumed"] is False
        assert_same_weights(out, unbroken)


def test_the_record_describes_the_data(data, unbroken):
    assert load_run(unbroken).record["data"] == describe(data)


def test_what_is_finished_is_not_resumed(data, unbroken, tmp_path):
    out = tmp_path / "run"
    shutil.copytree(unbroken, out)
    with pytest.raises(InputError, match="is finished; `overwrite=True` trains it again"):
        train(data, RECIPE, out, seed=3, resume=True)

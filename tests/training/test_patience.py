"""A training stops when dev is flat, resumed or not, and says how long it was."""

import json

import pytest
from transformers import TrainerCallback, TrainingArguments

from alike import assert_alike, assert_same_weights
from glasshead.data import LoadOptions, load
from glasshead.errors import InputError
from glasshead.training import TRAINING_PRESETS, train
from glasshead.training.checkpointing import CHECKPOINTS
from glasshead.training.patience import is_flat

# A rate at which dev soon turns up and down.
RECIPE = TRAINING_PRESETS["s0-paper"].with_changes(epochs=12, learning_rate=0.05, patience=2)
STEPS = 7  # per epoch: 210 texts in batches of 32


@pytest.fixture(scope="module")
def data():
    return load("synthetic", LoadOptions(generator={"instances": 300}))


@pytest.fixture(scope="module")
def stopped(data, tmp_path_factory):
    return train(data, RECIPE, tmp_path_factory.mktemp("stopped") / "run", seed=3)


def read(folder, name):
    return json.loads((folder / f"{name}.json").read_text())


@pytest.mark.parametrize(
    ("scores", "flat"),
    [
        ([0.5], False),
        ([0.5, 0.4], False),
        ([0.5, 0.4, 0.4], True),
        ([0.5, 0.5, 0.5], True),
        ([0.5, 0.4, 0.6], False),
        ([0.5, 0.4, 0.6, 0.6, 0.5], True),
    ],
)
@pytest.mark.parametrize("sign", [1, -1])
def test_what_flat_means(tmp_path, scores, flat, sign):
    """None of the last two is better than the best before; of an error less is better."""
    args = TrainingArguments(str(tmp_path), metric_for_best_model="x", greater_is_better=sign > 0)
    history = [{"loss": 1.0}, *({"eval_x": sign * score} for score in scores)]
    assert is_flat(history, 2, args) == flat


def test_stops_when_dev_is_flat(stopped):
    length = read(stopped, "run")["training"]
    accuracies = [epoch["accuracy"] for epoch in read(stopped, "metrics")["epochs"]]
    best = accuracies.index(max(accuracies)) + 1
    assert len(accuracies) == best + 2 < 12
    assert length == {
        "steps": STEPS * len(accuracies),
        "epochs": len(accuracies),
        "kept_step": STEPS * best,
        "kept_epoch": best,
        "flat": True,
    }
    assert read(stopped, "metrics")["dev"]["accuracy"] == pytest.approx(max(accuracies))
    assert any(
        note.startswith("stopped when dev had not improved for 2") for note in read(stopped, "run")["notes"]
    )


def test_without_it_all_epochs_are_trained(data, stopped, tmp_path):
    whole = train(data, RECIPE.with_settings({"patience": None}), tmp_path / "run", seed=3)
    assert read(whole, "run")["training"]["steps"] == 12 * STEPS
    assert "flat" not in read(whole, "run")["training"]
    assert "patience" not in read(whole, "run")["recipe"]
    shared = read(stopped, "metrics")["epochs"]
    assert_alike(read(whole, "metrics")["epochs"][: len(shared)], shared)


def test_says_that_dev_was_not_flat(data, tmp_path):
    short = train(data, RECIPE.with_changes(epochs=2), tmp_path / "run", seed=3)
    assert read(short, "run")["training"]["flat"] is False
    assert any("give more `epochs`" in note for note in read(short, "run")["notes"])


class Kill(TrainerCallback):
    """A Ctrl-C at a certain moment."""

    def __init__(self, step, moment):
        self.step = step
        setattr(self, moment, self.strike)

    def strike(self, args, state, control, **kwargs):
        if state.global_step == self.step:
            raise KeyboardInterrupt


@pytest.mark.parametrize("moment", ["in the last epoch", "after the last checkpoint"])
def test_a_resumed_training_stops_where_an_unbroken_one_does(data, stopped, tmp_path, moment):
    steps = read(stopped, "run")["training"]["steps"]
    kill = Kill(steps - 2, "on_step_end") if "in" in moment[:2] else Kill(steps, "on_save")
    out = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        train(data, RECIPE, out, seed=3, callbacks=[kill])
    left = {path.name for path in (tmp_path / "run.partial" / CHECKPOINTS).iterdir()}
    assert (f"checkpoint-{steps}" in left) == (moment == "after the last checkpoint")
    train(data, RECIPE, out, seed=3, resume=True)
    assert_same_weights(out, stopped)
    assert_alike(read(out, "metrics"), read(stopped, "metrics"))
    assert read(out, "run")["training"] == read(stopped, "run")["training"]


def test_no_patience_at_all_is_refused():
    with pytest.raises(InputError, match="patience"):
        RECIPE.with_changes(patience=0)

"""How a training is looked at: as it would answer, without a trace, and as often as it is long."""

import json

import numpy as np
import pytest
import torch
from transformers import TrainerControl, TrainerState, TrainingArguments

import kinds
from alike import assert_same_weights
from glasshead.data import LoadOptions, SyntheticOptions, load, planted_groups
from glasshead.opening import load_run
from glasshead.papers.dynamics import DynamicsCallback, dynamics_callback
from glasshead.papers.dynamics.post_hoc import history_from_trained_run
from glasshead.papers.dynamics.snapshots import Snapshot
from glasshead.papers.results import read_history
from glasshead.training import preset_config, train
from glasshead.training.build_model import encoded_split, label_tensor
from glasshead.training.tensor_dataset import TensorDataset

MADE = {"instances": 200, "polar_words": 5, "neutral_words": 30}
SIZES = {"embedding_size": 12, "hidden_size": 12, "head_dim": 12}
STEPS = 5  # per epoch: 140 texts in batches of 32


@pytest.fixture(scope="module")
def data():
    return load("synthetic", LoadOptions(generator=MADE))


def with_dropout(kind):
    """Data, what trains one epoch of them with dropout, and the groups of the words."""
    if kind == "encoder":
        return kinds.data("encoder"), kinds.recipe("encoder").with_changes(epochs=1, dropout=0.5), None
    changes = {"encoder": kind, "epochs": 1, "dropout": 0.5}
    recipe = preset_config("s4", None).with_changes(**SIZES, **changes)
    return load("synthetic", LoadOptions(generator=MADE)), recipe, planted_groups(SyntheticOptions(**MADE))


@pytest.mark.parametrize("kind", ["lstm", "encoder"])
def test_with_dropout_it_looks_at_the_model_that_answers(tmp_path, kind):
    """The last look is that at the saved model, which has no dropout; and the training does not notice."""
    data, recipe, planted = with_dropout(kind)
    out = train(data, recipe, tmp_path / "watched", callbacks=[dynamics_callback(planted, 2)])
    run, history = load_run(out), read_history(out)
    assert not run.model.training
    split = data["train"]
    rows = TensorDataset(encoded_split(run.tokenizer, split), label_tensor(split))
    alone = history_from_trained_run(run, rows, planted)
    for name in ("curves", "tokens"):
        seen, told = getattr(history, name), getattr(alone, name)
        last = seen["step"] == history.steps[-1] if seen else ()
        assert list(seen) == list(told)
        for column, values in told.items():
            if column != "step" and values.dtype.kind == "f":
                np.testing.assert_allclose(seen[column][last], values, rtol=1e-4, atol=1e-6, err_msg=column)
            elif column != "step":
                assert seen[column][last].tolist() == values.tolist()
    unwatched = train(data, recipe, tmp_path / "alone")
    assert_same_weights(unwatched, out)


def test_the_kept_step_is_that_of_the_best_epoch(data, tmp_path):
    recipe = preset_config("s4", None).with_changes(**SIZES, epochs=3, optimizer="adam", learning_rate=0.05)
    out = train(
        data,
        recipe,
        tmp_path / "run",
        callbacks=[dynamics_callback(planted_groups(SyntheticOptions(**MADE)), STEPS)],
    )
    accuracies = [epoch["accuracy"] for epoch in json.loads((out / "metrics.json").read_text())["epochs"]]
    best = accuracies.index(max(accuracies)) + 1
    assert best < len(accuracies) == 3
    history = read_history(out)
    assert (history.facts["best_step"], history.facts["steps"]) == (best * STEPS, 3 * STEPS)
    # And so it is the model that is in the run.
    run = load_run(out)
    kept = run.model.embedding.weight[run.tokenizer.convert_tokens_to_ids("superb")].detach()
    polarity = (run.model.classifier.weight[0] @ kept).item()
    row = history.token("superb")
    found = dict(zip(row["step"].tolist(), row["polarity"].tolist(), strict=True))
    assert found[best * STEPS] == pytest.approx(polarity, rel=1e-4)
    assert found[3 * STEPS] != pytest.approx(polarity, rel=1e-2)


class Nothing:
    """An observer that sees a loss."""

    def __init__(self, **about):
        self.facts, self.token_facts = {"exact": False, "groups": {}}, {}

    def snapshot(self, model):
        return Snapshot([("loss", "", 0.5, float("nan"), 1)])


@pytest.mark.parametrize(("steps", "every"), [(250, 100), (6_000, 100), (6_060, 101), (90_000, 1500)])
def test_usually_60_looks_but_none_closer_than_100_steps(tmp_path, steps, every):
    watcher, model = DynamicsCallback(Nothing), torch.nn.Linear(1, 1)
    watcher.attach(tmp_path)
    state = TrainerState(max_steps=steps, is_world_process_zero=True)
    told = TrainingArguments(report_to="none", output_dir=str(tmp_path)), state, TrainerControl()
    watcher.on_train_begin(*told, model=model)
    for state.global_step in range(1, steps + 1):
        watcher.on_step_end(*told, model=model)
    watcher.on_train_end(*told, model=model)
    (tmp_path / "run.json").write_text("{}")
    history = read_history(tmp_path)
    assert history.facts["every"] == every
    assert history.steps.tolist() == [*range(0, steps, every), steps]

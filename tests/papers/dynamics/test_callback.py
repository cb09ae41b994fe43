"""A watched training: the model of an unwatched one, looks where they belong, a history that is true."""

import json
import os
import signal
from functools import partial

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from transformers import TrainerCallback

from alike import assert_alike, assert_same_weights
from glasshead.data import LoadOptions, SyntheticOptions, encode, load, planted_groups
from glasshead.errors import InputError
from glasshead.files import partial_path as partly
from glasshead.opening import load_run
from glasshead.papers.dynamics import DynamicsCallback, dynamics_callback
from glasshead.papers.dynamics.post_hoc import history_from_trained_run
from glasshead.papers.dynamics.snapshots import Snapshot
from glasshead.papers.results import HISTORY_FOLDER, read_history
from glasshead.training import preset_config, train
from glasshead.training.build_model import encoded_split, label_tensor
from glasshead.training.tensor_dataset import TensorDataset
from tolerances import of_size

MADE = {"instances": 200, "polar_words": 5, "neutral_words": 30}
PLANTED = planted_groups(SyntheticOptions(**MADE))
STEPS = 5  # per epoch: 140 texts in batches of 32


def recipe(**changes):
    sizes = {"embedding_size": 12, "hidden_size": 12, "head_dim": 12}
    return preset_config("s4", None).with_changes(**{"epochs": 4} | sizes | changes)


@pytest.fixture(scope="module")
def data():
    return load("synthetic", LoadOptions(generator=MADE))


@pytest.fixture(scope="module")
def watched(data, tmp_path_factory):
    out = tmp_path_factory.mktemp("watched") / "run"
    return train(data, recipe(), out, callbacks=[dynamics_callback(PLANTED, 2)])


def test_nothing_changes_by_looking(data, watched, tmp_path):
    alone = train(data, recipe(), tmp_path / "run")
    assert_same_weights(alone, watched)
    assert {each.name for each in watched.iterdir()} - {each.name for each in alone.iterdir()} == {
        HISTORY_FOLDER
    }


def test_it_looks_before_the_first_step_in_between_and_after_the_last(watched):
    history = read_history(watched)
    assert history.steps.tolist() == [*range(0, 4 * STEPS + 1, 2)]
    facts = history.facts
    assert (facts["every"], facts["steps"], facts["learning_rate"], facts["form"]) == (2, 20, 1.0, "DP")
    assert facts["groups"] == {"positive": 5, "negative": 5, "neutral": 30}
    best = json.loads((watched / "metrics.json").read_text())["epochs"]
    accuracies = [epoch["accuracy"] for epoch in best]
    assert facts["best_step"] == STEPS * (accuracies.index(max(accuracies)) + 1)


def test_what_is_told_of_a_token_is_what_the_model_says_of_it(data, tmp_path):
    # The last epoch is the best one: what was seen last is the model that is kept.
    out = train(data, recipe(epochs=1), tmp_path / "run", callbacks=[dynamics_callback(PLANTED, 3)])
    run, history = load_run(out), read_history(out)
    model = run.model
    for token in ("superb", "dull", "about"):
        row = history.token(token)
        e = model.embedding.weight[run.tokenizer.convert_tokens_to_ids(token)].detach()
        assert row["step"].tolist() == [0, 3, 5]
        assert row["score"][-1] == pytest.approx(
            (model.pooling.score.context.weight[0] @ e / 10).item(), rel=1e-4
        )
        assert row["polarity"][-1] == pytest.approx((model.classifier.weight[0] @ e).item(), rel=1e-4)
    groups = run.model.embedding.weight.detach()
    ids = [
        run.tokenizer.convert_tokens_to_ids(word) for word, group in PLANTED.items() if group == "positive"
    ]
    products = groups[ids] @ groups[ids].T
    pair = history.products["pair"] == "positive × positive"
    off = products[~torch.eye(5, dtype=bool)]
    assert history.products["mean"][pair][-1] == pytest.approx(off.mean().item(), rel=1e-3)
    assert history.products["high"][pair][-1] == pytest.approx(off.max().item(), rel=1e-3)
    polarity = history.curve("polarity", "positive")
    assert polarity["mean"][-1] == pytest.approx(
        (groups[ids] @ model.classifier.weight[0]).mean().item(), rel=1e-3
    )
    assert polarity["n"].tolist() == [5, 5, 5]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"encoder": "affine"},
        {"score": "additive", "bias": True},
        {"loss_scale": 0.25},
        {"encoder": "lstm", "loss_scale": 2.0},
    ],
)
def test_without_running_the_model_comes_out_what_it_says(data, tmp_path, changes):
    out = train(
        data, recipe(epochs=1, **changes), tmp_path / "run", callbacks=[dynamics_callback(PLANTED, 5)]
    )
    run, history = load_run(out), read_history(out)
    encoded = encode(run.tokenizer, data["train"]["text"][:])
    with torch.no_grad():
        seen = run.model(
            **encoded.inputs(), labels=torch.tensor(data["train"]["label"][:]), output_attentions=True
        )
    right = (seen.logits.argmax(dim=1).numpy() == np.array(data["train"]["label"][:])).mean()
    spread = [-(row * row.log()).sum() / np.log(len(row)) for row in seen.weights.double()]
    told = {name: history.curve(name)["mean"][-1] for name in ("loss", "accuracy", "entropy")}
    assert told == {
        "loss": pytest.approx(seen.loss.item(), rel=1e-5),  # whatever the training multiplies it by
        "accuracy": pytest.approx(right),
        "entropy": pytest.approx(float(np.mean(spread)), rel=1e-5),
    }
    superb = encoded.ids == run.tokenizer.convert_tokens_to_ids("superb")
    mean = seen.weights[superb].mean().item()
    assert history.token("superb")["weight"][-1] == pytest.approx(mean, rel=1e-5)


def test_the_terms_add_up_to_what_happened(watched):
    history = read_history(watched)
    for quantity in ("score", "polarity"):
        names = [name for name in history.tokens if name.startswith(f"added {quantity} ")]
        assert len(names) == 3
        last, first = (history.tokens["step"] == step for step in (history.steps[-1], 0))
        change = history.tokens[quantity][last] - history.tokens[quantity][first]
        added = sum(history.tokens[name][last] for name in names)
        assert np.abs(added - change).max() < 0.2 * np.abs(change).max()  # steps of 1 are not small
        assert all(not history.tokens[name][first].any() for name in names)


class Planted:
    """An observer of one token, on which two terms work at rates that are known at every step."""

    def __init__(self, rates, **about):
        self.rates = rates
        self.facts, self.token_facts = {"exact": True, "groups": {}}, {"token": np.array(["one"])}

    def snapshot(self, model):
        rates = {f"score {name}": np.array([rate(int(model.step))]) for name, rate in self.rates.items()}
        return Snapshot([("loss", "", 0.5, float("nan"), 1)], tokens={"score": np.zeros(1)}, rates=rates)


def added_up(folder, rates, *, every, steps, learning_rate):
    """The steps of all looks, and what every term has added up to there."""
    from transformers import TrainerControl, TrainerState, TrainingArguments

    folder.mkdir()
    watcher, model = DynamicsCallback(partial(Planted, rates), every=every), torch.nn.Linear(1, 1)
    watcher.attach(folder)
    state = TrainerState(max_steps=steps, is_world_process_zero=True)
    args = TrainingArguments(report_to="none", output_dir=str(folder), learning_rate=learning_rate)
    told, model.step = (args, state, TrainerControl()), 0
    watcher.on_train_begin(*told, model=model)
    for state.global_step in range(1, steps + 1):
        model.step = state.global_step
        watcher.on_step_end(*told, model=model)
    watcher.on_train_end(*told, model=model)
    (folder / "run.json").write_text("{}")
    rows = read_history(folder).token("one")
    return rows["step"], {name: rows[f"added score {name}"] for name in rates}


def test_planted_rates_are_integrated_over_time(tmp_path):
    """Of a rate that is a straight line the trapezoidal rule has the integral, however few the looks."""
    rates = {"D": lambda t: 3.0 - 0.5 * t, "E": lambda t: -1.0 + 0.25 * t}
    for every, looks in ((1, [*range(11)]), (4, [0, 4, 8, 10]), (100, [0, 10])):
        steps, found = added_up(tmp_path / str(every), rates, every=every, steps=10, learning_rate=0.2)
        assert steps.tolist() == looks
        t = steps.astype(float)
        np.testing.assert_allclose(found["D"], 0.2 * (3.0 * t - 0.25 * t**2), rtol=0, atol=1e-12)
        np.testing.assert_allclose(found["E"], 0.2 * (-t + 0.125 * t**2), rtol=0, atol=1e-12)


def test_looks_twice_as_close_leave_a_quarter_of_the_error(tmp_path):
    errors = []
    for every in (8, 4, 2):
        _, found = added_up(
            tmp_path / str(every), {"D": lambda t: np.exp(-t / 20)}, every=every, steps=40, learning_rate=1.0
        )
        errors.append(abs(found["D"][-1] - 20 * (1 - np.exp(-2.0))))
    assert errors[1] / errors[0] == pytest.approx(0.25, abs=0.01)
    assert errors[2] / errors[1] == pytest.approx(0.25, abs=0.01)


class Interrupt(TrainerCallback):
    def __init__(self, step):
        self.step = step

    def on_step_end(self, args, state, control, **kwargs):
        if state.global_step == self.step:
            os.kill(os.getpid(), signal.SIGINT)


def interrupted_and_resumed(data, out, step, every):
    with pytest.raises(KeyboardInterrupt):
        train(data, recipe(), out, callbacks=[dynamics_callback(PLANTED, every), Interrupt(step)])
    train(data, recipe(), out, resume=True, callbacks=[dynamics_callback(PLANTED, every)])
    return read_history(out)


def assert_equal_histories(one, other):
    assert_alike(one.facts, other.facts)
    for table in ("curves", "products", "tokens"):
        for name, column in getattr(other, table).items():
            here = getattr(one, table)[name]
            if column.dtype.kind == "f":
                np.testing.assert_allclose(here, column, **of_size(column), err_msg=name)
            else:
                assert np.array_equal(here, column), name


@pytest.mark.parametrize("step", [STEPS + 2, pytest.param(2 * STEPS + 4, marks=pytest.mark.slow)])
def test_a_resumed_history_is_that_of_an_unbroken_training(data, watched, tmp_path, step):
    out = tmp_path / "run"
    assert_equal_histories(interrupted_and_resumed(data, out, step, 2), read_history(watched))
    assert sorted(each.name for each in (out / HISTORY_FOLDER).iterdir()) == [
        "curves.parquet", "facts.json", "products.parquet", "tokens.parquet",
    ]  # fmt: skip


@pytest.mark.slow
def test_a_resumed_history_is_thinned_out_like_an_unbroken_one(data, tmp_path, monkeypatch):
    """Checkpoints at 5, 10, 15, 20; every second look goes at steps 6 and 12."""
    monkeypatch.setattr("glasshead.papers.dynamics.callback.MAX_SNAPSHOTS", 6)
    whole = read_history(train(data, recipe(), tmp_path / "whole", callbacks=[dynamics_callback(PLANTED, 1)]))
    for step in (6, 9, 13):
        assert_equal_histories(interrupted_and_resumed(data, tmp_path / str(step), step, 1), whole)


def test_a_watched_training_is_not_left_unwatched_from_the_middle_on(data, tmp_path):
    out = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        train(data, recipe(), out, callbacks=[dynamics_callback(PLANTED, 2), Interrupt(STEPS + 2)])
    with pytest.raises(InputError, match="it was started with `DynamicsCallback`"):
        train(data, recipe(), out, resume=True)
    assert partly(out).exists()


def test_an_unwatched_training_is_not_watched_from_the_middle_on(data, tmp_path):
    out = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        train(data, recipe(), out, callbacks=[Interrupt(STEPS + 2)])
    with pytest.raises(InputError, match="it was started without `DynamicsCallback`"):
        train(data, recipe(), out, resume=True, callbacks=[dynamics_callback(PLANTED, 2)])
    assert partly(out).exists()


def test_many_looks_are_thinned_out(data, tmp_path, monkeypatch):
    monkeypatch.setattr("glasshead.papers.dynamics.callback.MAX_SNAPSHOTS", 6)
    out = train(data, recipe(), tmp_path / "run", callbacks=[dynamics_callback(PLANTED, 1)])
    history = read_history(out)
    assert history.steps.tolist() == [0, 4, 8, 12, 16, 20]
    assert history.facts["every"] == 4
    every = read_history(train(data, recipe(), tmp_path / "all", callbacks=[dynamics_callback(PLANTED, 4)]))
    assert np.array_equal(every.steps, history.steps)
    name = "added score E"
    chosen = history.tokens["step"] == 20
    # Thinned looks have been integrated at every step, the others at every fourth.
    assert np.allclose(history.tokens[name][chosen], every.tokens[name][chosen], rtol=0.2, atol=1e-4)
    scores = history.tokens["score"]
    np.testing.assert_allclose(scores, every.tokens["score"], **of_size(scores))


@pytest.mark.parametrize(
    ("changes", "form", "reason"),
    [
        ({"encoder": "affine"}, "DP-A", None),
        ({"score": "additive"}, "AD", None),
        ({"encoder": "lstm"}, None, "no closed form is known for the score context over the encoder lstm"),
        ({"attention": "tanhmax"}, None, "closed forms are known for softmax, not for tanhmax"),
        (
            {"score": "query-key", "value_dim": 4},
            None,
            "closed forms exist only if the vectors themselves",
        ),
    ],
)
def test_every_kind(data, tmp_path, changes, form, reason):
    history = read_history(
        train(data, recipe(epochs=1, **changes), tmp_path / "run", callbacks=[dynamics_callback(PLANTED, 5)])
    )
    assert history.facts["form"] == form
    assert reason is None or history.facts["why_no_form"].startswith(reason)
    assert history.facts["exact"] == (form is not None)
    terms = {name for name in history.quantities() if name.startswith("score ")}
    assert terms == {f"score {name}" for name in history.facts["terms"].get("score", {})}
    assert (len(terms) > 0) == (form is not None)
    assert {"score", "polarity", "weight", "entropy", "loss", "accuracy"} <= set(history.quantities())


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"optimizer": "adam", "learning_rate": 1e-3}, "adam rescales the gradients"),
        ({"dropout": 0.3}, "with dropout 0.3"),
    ],
)
def test_where_terms_are_no_change_nothing_is_added_up(data, tmp_path, changes, reason):
    history = read_history(
        train(data, recipe(epochs=1, **changes), tmp_path / "run", callbacks=[dynamics_callback(PLANTED, 5)])
    )
    assert not history.facts["exact"]
    assert history.facts["why_not_exact"].startswith(reason)
    assert "score E" in history.quantities()
    assert not any(name.startswith("added") for name in history.tokens)


def test_groups_of_other_peoples_words_come_from_their_labels(data, tmp_path):
    history = read_history(
        train(data, recipe(epochs=1), tmp_path / "run", callbacks=[dynamics_callback(None, 5)])
    )
    assert history.facts["grouped_by"] == "γ"
    followed = dict(zip(history.tokens["token"], history.tokens["group"], strict=True))
    told = {group: [word for word, where in followed.items() if where == group] for group in history.groups}
    assert set(told["positive"]) <= {word for word, group in PLANTED.items() if group == "positive"}
    assert len(told["positive"]) >= 3
    assert "[UNK]" not in followed


def test_more_classes_are_seen_each_towards_its_own(tmp_path):
    made = MADE | {"classes": 3}
    data = load("synthetic", LoadOptions(generator=made))
    planted = planted_groups(SyntheticOptions(**made))
    out = train(data, recipe(), tmp_path / "run", callbacks=[dynamics_callback(planted, 10)])
    history = read_history(out)
    names = list(dict.fromkeys(planted.values()))
    assert history.groups == names
    for group in names[:-1]:
        own, others = (history.curve("polarity", each) for each in (group, "neutral"))
        assert own["mean"][-1] - own["std"][-1] > others["mean"][-1] + others["std"][-1]
        assert len(history.curve("VᵀW", group)["mean"]) == 3


@pytest.mark.parametrize("every", [0, -3])
def test_steps_are_counted_from_one_on(every):
    with pytest.raises(InputError, match="`every` must be a number of steps from 1"):
        dynamics_callback(None, every)


def test_ratings_have_no_polarity(tmp_path):
    from kinds import data, recipe

    with pytest.raises(InputError, match="no polarity where ratings are predicted"):
        train(
            data("pooled ratings"),
            recipe("pooled ratings"),
            tmp_path / "run",
            callbacks=[dynamics_callback()],
        )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("damage", ["gone", "cut off"])
def test_a_damaged_history(watched, tmp_path, damage):
    import shutil

    run = shutil.copytree(watched, tmp_path / "run")
    path = run / HISTORY_FOLDER / "tokens.parquet"
    path.unlink() if damage == "gone" else path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(InputError, match="is damaged"):
        read_history(run)


def test_no_history(tmp_path):
    with pytest.raises(InputError, match="was not recorded: train with `DynamicsCallback`"):
        read_history(tmp_path)


def test_signed_scores_are_those_of_the_canonical_gauge(data, tmp_path):
    # The sign that a seed happens to learn is not a finding: positive words end on the positive side in all.
    signs = set()
    for seed in range(6):
        out = tmp_path / str(seed)
        train(data, recipe(attention="tanhmax"), out, seed=seed, callbacks=[dynamics_callback(PLANTED, 20)])
        run, history = load_run(out), read_history(out)
        signs.add(run.model.config.gauge)
        looked_at = history_from_trained_run(run, TensorDataset(*told(run, data["train"])), PLANTED)
        row = looked_at.token("superb")
        e = run.model.embedding.weight[run.tokenizer.convert_tokens_to_ids("superb")].detach()
        with torch.no_grad():
            score = run.model.config.gauge * run.model.pooling.score(e[None, None]).item()
        assert row["score"][0] == pytest.approx(score, rel=1e-4)
        raw = read_raw(out)
        for name in ("score", "polarity", "weight"):
            assert np.array_equal(history.tokens[name], run.model.config.gauge * raw[name].to_numpy())
        for name in ("score", "polarity"):
            curve = history.curve(name, "positive")["mean"][-1]
            mean = history.tokens[name][
                (history.tokens["step"] == 20) & (history.tokens["group"] == "positive")
            ]
            assert curve == pytest.approx(mean.mean(), rel=1e-4)
    assert signs == {1, -1}


def told(run, split):
    """Encoded texts and labels."""
    return encoded_split(run.tokenizer, split), label_tensor(split)


def read_raw(out):
    return pq.read_table(out / HISTORY_FOLDER / "tokens.parquet")


def test_another_distance_between_looks_is_no_resumption(data, tmp_path):
    out = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        train(data, recipe(), out, callbacks=[dynamics_callback(PLANTED, 2), Interrupt(STEPS + 2)])
    with pytest.raises(InputError, match="with `every=2`, not with `every=3`"):
        train(data, recipe(), out, resume=True, callbacks=[dynamics_callback(PLANTED, 3)])
    for look in (partly(out) / HISTORY_FOLDER / "looks").iterdir():
        look.unlink()
    with pytest.raises(InputError, match="are gone; use `overwrite=True`"):
        train(data, recipe(), out, resume=True, callbacks=[dynamics_callback(PLANTED, 2)])


def test_a_watcher_that_nobody_has_told_anything():
    from transformers import TrainerControl, TrainerState, TrainingArguments

    with pytest.raises(InputError, match=r"works in glasshead\.training\.train"):
        dynamics_callback().on_train_begin(
            TrainingArguments(report_to="none"), TrainerState(), TrainerControl(), model=None
        )


class Counting:
    """An observer that counts how often it is asked."""

    def __init__(self, **about):
        self.facts, self.token_facts, self.looks = {"exact": False, "groups": {}}, {}, 0

    def snapshot(self, model):
        self.looks += 1
        return Snapshot([("loss", "", 0.5, float("nan"), 1)])


@pytest.mark.parametrize("first", [True, False])
def test_of_several_processes_only_the_first_looks_and_writes(tmp_path, first):
    from transformers import TrainerControl, TrainerState, TrainingArguments

    watcher, model = DynamicsCallback(Counting, every=2), torch.nn.Linear(1, 1)
    watcher.attach(tmp_path)
    state = TrainerState(max_steps=4, is_world_process_zero=first)
    told = TrainingArguments(report_to="none", output_dir=str(tmp_path)), state, TrainerControl()
    watcher.on_train_begin(*told, model=model)
    for state.global_step in range(1, 5):
        watcher.on_step_end(*told, model=model)
    watcher.on_train_end(*told, model=model)
    assert watcher.observer.looks == (3 if first else 0)
    assert (tmp_path / HISTORY_FOLDER).exists() == first
    if first:
        (tmp_path / "run.json").write_text("{}")
        assert read_history(tmp_path).steps.tolist() == [0, 2, 4]

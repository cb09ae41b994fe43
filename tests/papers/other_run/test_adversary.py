"""Adversaries: their loss by other code, what it does to predictions and maps, and what cannot be one."""

import shutil

import numpy as np
import pytest
import torch
from transformers import TrainerCallback

import kinds
from alike import assert_same_weights
from glasshead.data import LoadOptions, encode, load
from glasshead.errors import InputError
from glasshead.opening import load_run
from glasshead.papers.other_run import adversary_loss
from glasshead.statistics import jensen_shannon, kl_divergence, total_variation
from glasshead.training import TRAINING_PRESETS, train

PLANTED = LoadOptions(generator={"instances": 300})
RECIPE = TRAINING_PRESETS["s4"].with_settings(
    {"embedding_size": 12, "temperature": 1.0, "optimizer": "adam", "learning_rate": 0.05, "epochs": 8}
)


def adversary(run, weight, **settings):
    return RECIPE.with_settings({"attention": f"adversarial:{run}", "adversary_weight": weight} | settings)


def outputs(folder, texts):
    """Weights and probabilities of texts."""
    run = load_run(folder)
    with torch.inference_mode():
        output = run.model(**encode(run.tokenizer, texts).inputs(), output_attentions=True)
    return output.weights.numpy(), output.logits.softmax(dim=-1).numpy()


@pytest.fixture(scope="module")
def data():
    return load("synthetic", PLANTED)


@pytest.fixture(scope="module")
def other(data, tmp_path_factory):
    """The run that adversaries are held against."""
    return train(data, RECIPE, tmp_path_factory.mktemp("adversary") / "other")


@pytest.fixture(scope="module")
def departures(data, other):
    """(encoder, λ) → mean JSD of maps and mean TVD of predictions before the test split."""
    texts = data["test"]["text"][:]
    weights, probabilities = outputs(other, texts)
    found = {}
    for encoder, weight in (("none", 0.0), ("none", 0.03), ("lstm", 0.0), ("lstm", 0.03)):
        size = {"hidden_size": 24, "learning_rate": 0.02, "epochs": 15} if encoder == "lstm" else {}
        recipe = adversary(other, weight, encoder=encoder, **size)
        run = train(data, recipe, other.parent / f"{encoder}-{weight}", seed=1)
        own_weights, own_probabilities = outputs(run, texts)
        found[encoder, weight] = (
            jensen_shannon(own_weights, weights).mean(),
            total_variation(own_probabilities, probabilities).mean(),
        )
    return found


def test_the_loss_by_other_code():
    rng = np.random.default_rng(0)
    y, z = rng.dirichlet(np.ones(3), 5), rng.dirichlet(np.ones(3), 5)
    a, b = rng.dirichlet(np.ones(7), 5), rng.dirichlet(np.ones(7), 5)
    loss = adversary_loss(*map(torch.from_numpy, (y, a, z, b)), 0.3)
    assert loss.numpy() == pytest.approx(total_variation(y, z) - 0.3 * kl_divergence(a, b))


def test_padding_and_empty_texts_count_for_nothing():
    y = torch.tensor([[0.2, 0.8], [0.5, 0.5]])
    a = torch.tensor([[0.25, 0.75, 0.0], [0.0, 0.0, 0.0]], requires_grad=True)
    b = torch.tensor([[0.5, 0.5, 0.0], [0.0, 0.0, 0.0]])
    loss = adversary_loss(y, a, y, b, 1.0)
    assert loss.tolist() == pytest.approx([-kl_divergence([0.25, 0.75], [0.5, 0.5]), 0.0])
    loss.sum().backward()
    assert a.grad.isfinite().all()


def test_without_divergence_it_predicts_as_the_other_does(data, other, departures):
    _, probabilities = outputs(other, data["test"]["text"][:])
    assert total_variation(probabilities, 0.5).mean() > 0.4  # it is sure of itself
    assert departures["none", 0.0][1] < 0.2
    assert departures["lstm", 0.0][1] < 0.2


def test_an_encoder_that_mixes_tokens_departs_at_little_cost(departures):
    """Information about a token is in its neighbours too: other maps, the same predictions."""
    (plain, _), (divergence, distance) = departures["lstm", 0.0], departures["lstm", 0.03]
    assert divergence > plain + 0.1
    assert divergence > 0.5  # of log 2
    assert distance < 0.25


def test_where_weights_decide_it_cannot(departures):
    """Each token knows of itself alone: to attend elsewhere is to lose the prediction."""
    divergence, distance = departures["none", 0.03]
    assert divergence > 0.5
    assert distance > 0.3


def test_labels_are_not_used(data, other, tmp_path):
    """Predictions follow the other run, on whatever labels."""
    wrong = data.map(lambda row: {"label": 1 - row["label"]})
    run = train(wrong, adversary(other, 0.0), tmp_path / "wrong", seed=1)
    texts = data["test"]["text"][:]
    assert total_variation(outputs(run, texts)[1], outputs(other, texts)[1]).mean() < 0.2


class Stop(TrainerCallback):
    """A Ctrl-C in the second epoch."""

    def on_step_end(self, args, state, control, **options):
        if state.global_step == 10:
            raise KeyboardInterrupt


def test_it_is_resumed_against_the_same_weights_alone(data, other, tmp_path):
    """To the same model as one that never stopped; batches are by length, and dropout is drawn."""
    copied = shutil.copytree(other, tmp_path / "other")
    recipe = adversary(copied, 0.01, epochs=3, dropout=0.2, by_length=True)
    whole = train(data, recipe, tmp_path / "whole")
    cut = tmp_path / "cut"
    with pytest.raises(KeyboardInterrupt):
        train(data, recipe, cut, callbacks=[Stop()])
    weights = (copied / "model.safetensors").read_bytes()
    train(data, RECIPE.with_settings({"epochs": 1}), copied, seed=9, overwrite=True)
    with pytest.raises(InputError, match="started with another other_run"):
        train(data, recipe, cut, resume=True)
    (copied / "model.safetensors").write_bytes(weights)
    train(data, recipe, cut, resume=True)
    assert_same_weights(cut, whole)
    assert load_run(cut).record["resumed"]


def test_ratings_have_no_classes_to_keep(tmp_path):
    data = kinds.data("pooled ratings")
    rated = train(data, RECIPE.with_settings({"epochs": 1}), tmp_path / "rated")
    with pytest.raises(InputError, match="predicts ratings"):
        train(data, adversary(rated, 0.1), tmp_path / "out")
    imposed = RECIPE.with_settings({"attention": f"frozen:{rated}", "epochs": 1})
    assert load_run(train(data, imposed, tmp_path / "imposed")).model.attention_source is not None


def test_three_classes(tmp_path):
    data = load("synthetic", LoadOptions(generator={"instances": 300, "classes": 3}))
    base = train(data, RECIPE, tmp_path / "base")
    run = train(data, adversary(base, 0.0), tmp_path / "run", seed=1)
    texts = data["test"]["text"][:]
    distance = total_variation(outputs(run, texts)[1], outputs(base, texts)[1]).mean()
    always = outputs(base, texts)[1]
    assert distance < total_variation(always, always.mean(axis=0)).mean() / 2


@pytest.mark.parametrize("word", ["tanhmax", "relu"])
def test_weights_that_are_no_distribution_are_refused(data, other, tmp_path, word):
    with pytest.raises(InputError, match="not a distribution over tokens"):
        train(data, adversary(other, 0.1, activation=word), tmp_path / "out")
    signed = train(data, RECIPE.with_settings({"attention": word, "epochs": 1}), tmp_path / "signed")
    with pytest.raises(InputError, match="not a distribution over tokens"):
        train(data, adversary(signed, 0.1), tmp_path / "out")


def test_other_classes_are_refused(data, other, tmp_path):
    names = ["bad", "good"]
    renamed = data.cast_column("label", data["train"].features["label"].__class__(names=names))
    with pytest.raises(InputError, match="predicts other classes"):
        train(renamed, adversary(other, 0.1), tmp_path / "out")


@pytest.mark.parametrize("weight", [-1, float("inf"), "much"])
def test_weights_of_the_divergence_that_make_no_sense(weight):
    with pytest.raises(InputError, match="adversary_weight"):
        adversary("x", weight)


def test_it_has_a_loss_of_its_own():
    with pytest.raises(InputError, match="an adversary has its own loss"):
        adversary("runs/other", 0.1, loss="hinge")


def test_a_run_that_is_not_there(data, tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        train(data, adversary(tmp_path / "nowhere", 0.1), tmp_path / "out")

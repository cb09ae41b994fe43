"""What decides a model, as plain data."""

import json

import pytest

from glasshead.errors import InputError
from glasshead.training import OPTIMIZERS, PRESETS, Recipe


def test_presets_know_their_names():
    assert {name: recipe.preset for name, recipe in PRESETS.items()} == {name: name for name in PRESETS}


def test_the_settings_of_the_published_code():
    recipe = PRESETS["s0-code"]
    assert (recipe.embedding_size, recipe.key_size, recipe.value_size, recipe.scale) == (30, 10, 10, 3)
    assert (recipe.max_length, recipe.vocabulary_size) == (30, 8000)
    assert (recipe.optimizer, recipe.learning_rate, recipe.loss_scale) == ("adadelta", 0.5, 100)
    assert recipe.dropout == 0.5


def test_s4_is_plain_gradient_descent():
    recipe = PRESETS["s4"]
    assert (recipe.optimizer, recipe.dropout, recipe.bias, recipe.score) == ("sgd", 0, False, "context")


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_json_and_back(name):
    recipe = PRESETS[name]
    assert Recipe(**json.loads(json.dumps(recipe.as_dict()))) == recipe


def test_changes_leave_the_preset_alone():
    changed = PRESETS["s4"].with_changes(epochs=2, activation=None)
    assert changed.epochs == 2
    assert changed.activation == PRESETS["s4"].activation
    assert PRESETS["s4"].epochs == 30


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"optimizer": "adagrda"}, "did you mean 'adagrad'"),
        ({"dropout": 1.0}, "dropout must be in"),
        ({"dropout": -0.1}, "dropout must be in"),
        ({"dropout": float("nan")}, "dropout must be in"),
        ({"loss_scale": float("inf")}, "loss scale must be a positive number"),
        ({"embedding_size": 0}, "embedding size must be at least 1"),
        ({"value_size": 0}, "value size must be at least 1"),
        ({"initializer_range": -1.0}, "initializer range"),
        ({"encoder": "lstm", "hidden_size": 7}, "even hidden size"),
    ],
)
def test_refused(change, says):
    with pytest.raises(InputError, match=says):
        Recipe(**change)


def test_optimizers():
    assert set(OPTIMIZERS) == {"adam", "adadelta", "adagrad", "sgd"}


@pytest.mark.parametrize(
    ("word", "alone"),
    [("distance-aware", "softmax"), ("tanhmax+distance-aware", "tanhmax"), ("cosformer", "sum")],
)
def test_a_query_at_no_position_has_no_distances(word, alone):
    with pytest.raises(InputError, match=f"stands at no position.*such as '{alone}'") as refused:
        Recipe(activation=word)
    assert "\n" not in str(refused.value)


def test_no_position_may_be_said_in_words():
    assert Recipe(activation="tanhmax+none").activation == "tanhmax+none"


def test_unknown_mechanism():
    with pytest.raises(InputError, match="did you mean 'dot-product'"):
        Recipe(activation="dot-produkt")

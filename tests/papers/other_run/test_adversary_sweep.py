"""A run's adversaries for several λ, and what other maps cost."""

import pytest

from glasshead.data import LoadOptions, load
from glasshead.errors import InputError
from glasshead.opening import load_run
from glasshead.papers.other_run import adversary_curve, train_adversaries
from glasshead.training import TRAINING_PRESETS, train, train_repeats

RECIPE = TRAINING_PRESETS["s4"].with_settings(
    {"embedding_size": 12, "temperature": 1.0, "optimizer": "adam", "learning_rate": 0.05, "epochs": 8}
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("sweep")


@pytest.fixture(scope="module")
def data():
    return load("synthetic", LoadOptions(generator={"instances": 300}))


@pytest.fixture(scope="module")
def adversaries(folder, data):
    train(data, RECIPE, folder / "base")
    recipe = RECIPE.with_settings({"attention": f"adversarial:{folder / 'base'}"})
    return recipe, train_adversaries(data, recipe, folder / "sweep", weights=(0.03, 0.0), seed=1)


def test_a_row_for_every_weight(folder, data, adversaries):
    texts = data["test"]["text"][:]
    repeats = train_repeats(data, RECIPE, folder / "repeats", (5, 6))
    plain, far = adversary_curve(adversaries[1], folder / "base", texts, seeds=[repeats])
    assert (plain.row()["weight"], far.row()["weight"]) == (0.0, 0.03)
    assert far.maps.estimate > plain.maps.estimate
    assert far.predictions.verdict == "farther away than that of another seed"
    row = far.row()
    assert row["maps"] == far.maps.estimate
    assert (row["maps.low"], row["maps.high"]) == far.maps.interval
    assert row["predictions.n"] == len(texts)
    assert row["seeds"] == 2
    assert {"maps.null.uniform", "maps.null.random", "maps.null.seed", "predictions.null.seed"} <= set(row)


def test_what_is_there_is_not_trained_again(folder, data, adversaries):
    recipe, folders = adversaries
    assert set(folders) == {0.03, 0.0}
    before = {weight: (one / "run.json").stat().st_mtime_ns for weight, one in folders.items()}
    again = train_adversaries(data, recipe, folder / "sweep", weights=(0.0, 0.03), seed=1)
    assert {weight: (one / "run.json").stat().st_mtime_ns for weight, one in again.items()} == before
    with pytest.raises(InputError, match="holds another training"):
        train_adversaries(data, recipe, folder / "sweep", weights=(0.0,), seed=2)


def test_each_has_its_weight(adversaries):
    for weight, one in adversaries[1].items():
        assert load_run(one).record["recipe"]["adversary_weight"] == weight


@pytest.mark.parametrize("weights", [(), (0.1, 0.1)])
def test_weights_that_make_no_sweep(data, adversaries, tmp_path, weights):
    with pytest.raises(InputError, match="different numbers"):
        train_adversaries(data, adversaries[0], tmp_path, weights=weights)


def test_a_sweep_needs_a_run(data, tmp_path):
    with pytest.raises(InputError, match="needs a run to start from"):
        train_adversaries(data, RECIPE, tmp_path)

"""A look at a trained model says what a watcher would have seen at that step, as far as it can."""

import json
import shutil

import numpy as np
import pytest

from fake_models import write_model
from glasshead.data import LoadOptions, SyntheticOptions, load, planted_groups
from glasshead.errors import InputError
from glasshead.opening import load_run
from glasshead.papers.dynamics import dynamics_callback
from glasshead.papers.dynamics.post_hoc import config_of, history_from_trained_run, token_score
from glasshead.papers.results import read_history
from glasshead.training import preset_config, train
from glasshead.training.build_model import encoded_split, label_tensor
from glasshead.training.tensor_dataset import TensorDataset
from tolerances import of_size

OPTIONS = {"instances": 200}
WORDS = planted_groups(SyntheticOptions(**OPTIONS))


@pytest.fixture(scope="module")
def data():
    return load("synthetic", LoadOptions(generator=OPTIONS))


@pytest.fixture(
    scope="module",
    params=[("none", "context"), ("affine", "context"), ("none", "additive"), ("lstm", "context")],
)
def watched(request, data, tmp_path_factory):
    """A run of one epoch, whose last step is the one that was kept."""
    encoder, score = request.param
    recipe = preset_config("s4", None).with_changes(encoder=encoder, score=score, epochs=1)
    out = tmp_path_factory.mktemp("run") / "watched"
    train(data, recipe, out, callbacks=[dynamics_callback(WORDS)])
    return out


def rows_of(run, data):
    return TensorDataset(encoded_split(run.tokenizer, data["train"]), label_tensor(data["train"]))


def test_it_is_the_last_look(watched, data):
    run = load_run(watched)
    history, found = read_history(watched), history_from_trained_run(run, rows_of(run, data), WORDS)
    last = history.steps[-1]
    assert history.facts["best_step"] == last
    assert found.steps.tolist() == [0]
    here = history.curves["step"] == last
    for name in ("quantity", "group", "n"):
        assert history.curves[name][here].tolist() == found.curves[name].tolist()
    # A mean of signed numbers may cancel: it is as exact as what was averaged.
    size = np.hypot(history.curves["mean"], np.nan_to_num(history.curves["std"]))[here]
    for name in ("mean", "std"):
        np.testing.assert_allclose(history.curves[name][here] / size, found.curves[name] / size, atol=1e-5)
    there = history.tokens["step"] == last
    assert history.tokens["token"][there].tolist() == found.tokens["token"].tolist()
    scores = history.tokens["score"][there]
    np.testing.assert_allclose(scores, found.tokens["score"], **of_size(scores))
    assert not [name for name in found.tokens if name.startswith("added")]
    assert (
        found.products["pair"].tolist() == history.products["pair"][history.products["step"] == last].tolist()
    )


def test_without_texts_the_parameters_tell_the_same(watched, data):
    run = load_run(watched)
    if run.model.config.encoder == "lstm":
        with pytest.raises(InputError, match="name the data"):
            history_from_trained_run(run, None, WORDS)
        return
    whole, found = (
        history_from_trained_run(run, rows_of(run, data), WORDS),
        history_from_trained_run(run, None, WORDS),
    )
    assert found.tokens["token"].tolist() == whole.tokens["token"].tolist()
    for name in ("score", "polarity"):
        np.testing.assert_allclose(found.tokens[name], whole.tokens[name], **of_size(whole.tokens[name]))
    assert np.isnan(found.tokens["weight"]).all()
    assert {"loss", "entropy", "weight", "score D"}.isdisjoint(found.quantities())
    medians = whole.products["median"]
    np.testing.assert_allclose(found.products["median"], medians, **of_size(medians))


def test_a_token_of_its_own(watched, data):
    run = load_run(watched)
    found = token_score(run.model, run.tokenizer.get_vocab()["superb"])
    if run.model.config.encoder == "lstm":
        assert found is None
        return
    history = history_from_trained_run(run, rows_of(run, data), WORDS)
    rows, whole = history.token("superb"), history.tokens
    score, (polarity,) = found
    np.testing.assert_allclose(score, rows["score"][0], **of_size(whole["score"]))
    np.testing.assert_allclose(polarity, rows["polarity"][0], **of_size(whole["polarity"]))


def test_the_model_is_left_as_it_was(watched, data):
    run = load_run(watched)
    before = {name: each.clone() for name, each in run.model.state_dict().items()}
    run.model.train()
    history_from_trained_run(run, rows_of(run, data))
    assert run.model.training
    assert all(
        each.equal(before[name]) and each.grad is None for name, each in run.model.state_dict().items()
    )


def test_ratings_are_refused(tmp_path):
    run = load_run(write_model(tmp_path / "run", "pooled"))
    run.model.config.problem_type = "regression"
    with pytest.raises(InputError, match="predicts ratings"):
        history_from_trained_run(run, None)


def test_an_encoder_needs_texts(tmp_path):
    run = load_run(write_model(tmp_path / "run"))
    with pytest.raises(InputError, match="depends on texts"):
        history_from_trained_run(run, None)


def test_a_recipe_of_another_version(watched, tmp_path):
    other = shutil.copytree(watched, tmp_path / "other")
    record = json.loads((other / "run.json").read_text())
    record["recipe"]["unheard_of"] = 3
    assert config_of(record) == config_of(load_run(watched).record)

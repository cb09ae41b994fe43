"""Training on logs: the run folder, resuming, planted interests found again."""

import json
import os
import signal
from pathlib import Path

import numpy as np
import pytest
from mind_logs import BEHAVIORS, NEWS, write_logs
from transformers import TrainerCallback

from alike import assert_alike, assert_same_weights
from glasshead.errors import InputError
from glasshead.files import partial_path
from glasshead.papers.recommend.config import NEWS_PRESETS, RecommenderConfig
from glasshead.papers.recommend.evaluate import rank, ranking_estimates
from glasshead.papers.recommend.mind import read_logs
from glasshead.papers.recommend.run import load_recommender
from glasshead.papers.recommend.synthetic_logs import NewsLogOptions, news_logs
from glasshead.papers.recommend.train import clicks_of, train_recommender

TINY = NEWS_PRESETS["small"].with_changes(
    hidden_size=8, num_attention_heads=1, head_dim=4, value_dim=4, epochs=3
)
STEPS = 3  # per epoch: 72 clicks in batches of 32


class Stop(TrainerCallback):
    """A Ctrl-C after so many steps."""

    def __init__(self, step):
        self.step = step

    def on_step_end(self, args, state, control, **kwargs):
        if state.global_step == self.step:
            os.kill(os.getpid(), signal.SIGINT)


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("training")
    news_logs(folder, NewsLogOptions(users=40, news=100))
    return read_logs(folder / "train")


@pytest.fixture(scope="module")
def unbroken(logs, tmp_path_factory):
    return train_recommender(logs, TINY, tmp_path_factory.mktemp("unbroken") / "run", seed=3)


def test_the_run_folder(logs, unbroken):
    assert {path.name for path in unbroken.iterdir()} >= {
        "config.json", "model.safetensors", "tokenizer.json", "clicks.parquet", "metrics.json", "run.json",
    }  # fmt: skip
    record = json.loads((unbroken / "run.json").read_text())
    assert record["what"] == "news recommender"
    assert record["recipe"] == TINY.as_dict()
    assert record["data"]["train"]["fingerprint"] == logs.fingerprint
    assert record["impressions"] == {"train": 72, "dev": 8}
    metrics = json.loads((unbroken / "metrics.json").read_text())
    assert [entry["epoch"] for entry in metrics["epochs"]] == [1, 2, 3]
    assert metrics["dev"]["auc"] == max(entry["auc"] for entry in metrics["epochs"])
    assert sum(load_recommender(unbroken).clicks.values()) == 72


def test_the_best_epoch_on_other_logs(logs, tmp_path):
    run = load_recommender(train_recommender(logs, TINY, tmp_path / "run", dev=logs, seed=1))
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    means, _ = rank(run, logs)
    assert metrics["dev"]["auc"] == pytest.approx(means["model"]["auc"].mean)
    assert run.clicks == clicks_of(logs)


@pytest.mark.parametrize("step", [STEPS + 2, pytest.param(2 * STEPS, marks=pytest.mark.slow)])
def test_goes_on_to_the_same_weights(logs, unbroken, tmp_path, step):
    out = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        train_recommender(logs, TINY, out, seed=3, callbacks=[Stop(step)])
    assert [path.name for path in tmp_path.iterdir()] == ["run.partial"]
    with pytest.raises(InputError, match="started with another seed"):
        train_recommender(logs, TINY, out, seed=4, resume=True)
    train_recommender(logs, TINY, out, seed=3, resume=True)
    assert_same_weights(out, unbroken)
    assert_alike(*(json.loads((run / "metrics.json").read_text()) for run in (out, unbroken)))
    assert not partial_path(out).exists()


def test_before_the_first_epoch_nothing_is_kept(logs, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        train_recommender(logs, TINY, tmp_path / "run", seed=3, callbacks=[Stop(1)])
    assert list(tmp_path.iterdir()) == []


def test_diverging_training_leaves_nothing(logs, tmp_path):
    with pytest.raises(InputError, match="lower `learning_rate`"):
        train_recommender(logs, TINY.with_changes(learning_rate=1e30), tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


def test_word_vectors(logs, tmp_path):
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("goal 1 2 3 4\nstriker 4 3 2 1\n", encoding="utf-8")
    recipe = TINY.with_changes(word_vectors=str(vectors), epochs=1)
    run = load_recommender(train_recommender(logs, recipe, tmp_path / "run"))
    assert run.model.config.hidden_size == 4
    assert run.record["notes"][0].startswith(f"word vectors of {vectors}: 2 of ")
    assert run.record["recipe"] == recipe.with_changes(hidden_size=4).as_dict()
    with pytest.raises(InputError, match="vectors of 4 values, but the embeddings have 8"):
        train_recommender(logs, recipe.with_changes(hidden_size=8), tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_a_size_of_vectors_that_no_model_can_have(logs, tmp_path):
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("goal 1 2 3 4\n", encoding="utf-8")
    recipe = TINY.with_changes(word_vectors=str(vectors), num_attention_heads=3)
    recipe = recipe.with_settings({"head_dim": None})
    with pytest.raises(InputError, match="3 heads do not divide the size 4"):
        train_recommender(logs, recipe, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_words_are_those_that_the_train_impressions_show(tmp_path):
    unseen = "N9\tnews\tnews\tZeppelin lands\t\t\t[]\t[]"
    before = "N8\tnews\tnews\tYodelling ends\t\t\t[]\t[]"
    later = "4\tU4\t11/20/2019 8:36:57 AM\tN1\tN9-1 N4-0"
    first = "5\tU5\t11/10/2019 8:36:57 AM\tN8\tN1-1 N4-0"
    logs = read_logs(write_logs(tmp_path / "logs", (*NEWS, unseen, before), (*BEHAVIORS, later, first)))
    recipe = TINY.with_changes(epochs=1, dev_fraction=0.2)
    run = load_recommender(train_recommender(logs, recipe, tmp_path / "run"))
    assert run.record["impressions"] == {"train": 4, "dev": 1}
    words = run.tokenizer.get_vocab()
    assert {"yodelling", "ends", "soup", "striker", "bakery"} <= set(words)
    assert not {"zeppelin", "lands"} & set(words)


def test_a_reader_without_clicks_is_no_obstacle(tmp_path):
    logs = read_logs(write_logs(tmp_path / "logs", behaviors=BEHAVIORS))
    run = load_recommender(train_recommender(logs, TINY, tmp_path / "run"))
    scores = run.scores(logs)
    assert scores[1].tolist() == [0, 0, 0]
    means, _ = ranking_estimates({"model": scores}, [np.array(each.clicked) for each in logs.impressions])
    assert means["model"]["auc"].n == 3


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"negatives": 0}, "`negatives` must be at least 1"),
        ({"epochs": 0}, "`epochs` must be at least 1"),
        ({"learning_rate": -1.0}, "`learning_rate` must"),
        ({"dev_fraction": 1.0}, "`dev_fraction` must"),
        ({"history_length": 0}, "`history_length` must"),
        ({"attention": "tanmax"}, "did you mean 'tanhmax'"),
        ({"positions": "sinus"}, "positions"),
        ({"head": 2}, "no setting 'head'"),
        ({"num_attention_heads": "two"}, "^`num_attention_heads` must be a whole number, not 'two'$"),
        ({"epochs": 2.0}, "^`epochs` must be a whole number, not 2.0$"),
        ({"negatives": "4"}, "^`negatives` must be a whole number, not '4'$"),
        ({"learning_rate": "fast"}, "^`learning_rate` must be a number, not 'fast'$"),
        ({"word_vectors": 5}, "^`word_vectors` must be a word or null, not 5$"),
        ({"attention": 5}, "^`attention` must be a word or a mapping, not 5$"),
        ({"dropout": float("nan")}, "^`dropout` must be in"),
    ],
)
def test_recipes_that_cannot_be_meant(options, says):
    with pytest.raises(InputError, match=says):
        TINY.with_changes(**options)


def test_whose_size_the_embeddings_have(tmp_path):
    recipe = NEWS_PRESETS["da-transformer"]
    assert recipe.hidden_size == 300
    assert recipe.with_changes(word_vectors="glove.txt").hidden_size is None
    assert recipe.with_changes(word_vectors="glove.txt", hidden_size=50).hidden_size == 50
    assert RecommenderConfig().hidden_size == RecommenderConfig().model_config().hidden_size == 32


def test_a_number_for_a_number():
    assert isinstance(TINY.with_changes(learning_rate=1).learning_rate, float)


def test_positions_are_added_only_where_the_mechanism_knows_none():
    assert RecommenderConfig(attention="distance-aware").model_config().added_positions == "none"
    assert RecommenderConfig(attention="softmax").model_config().added_positions == "sinusoidal"
    assert RecommenderConfig(attention="softmax", positions="none").model_config().added_positions == "none"


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "tokenizer.json", "clicks.parquet"])
def test_a_damaged_run(unbroken, tmp_path, name):
    for path in unbroken.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes() if path.name != name else b"garbage")
    with pytest.raises(InputError, match="damaged run"):
        load_recommender(tmp_path)


def test_what_is_no_run(tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        load_recommender(tmp_path / "nothing")
    (tmp_path / "run.json").write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match=r"not a run of `glasshead\.papers\.recommend\.train_recommender`"):
        load_recommender(tmp_path)
    (tmp_path / "run.json").write_text('{"what": "news recommender"}', encoding="utf-8")
    with pytest.raises(InputError, match=r"is damaged .*is missing"):
        load_recommender(tmp_path)
    partial_path(Path(tmp_path / "run")).mkdir()
    with pytest.raises(InputError, match="`resume=True`"):
        load_recommender(tmp_path / "run")


@pytest.mark.slow
@pytest.mark.parametrize(("interest", "sign"), [("short", -1), ("long", 1)])
def test_planted_interests_are_found_and_w_takes_their_sign(tmp_path, interest, sign):
    folder = tmp_path / "logs"
    folder.mkdir()
    news_logs(folder, NewsLogOptions(interest=interest, seed=7))
    recipe = NEWS_PRESETS["small"].with_changes(num_attention_heads=1, epochs=16)
    run = load_recommender(train_recommender(read_logs(folder / "train"), recipe, tmp_path / "run", seed=7))
    means, differences = rank(run, read_logs(folder / "dev"))
    assert differences["popularity"]["auc"].low > 0.1
    assert differences["random"]["auc"].low > 0.2
    # Who counts the clicks of each topic cannot tell burst from thread: four of eight distractors tie.
    assert means["model"]["auc"].low > 0.75
    w = run.model.clicks.layers[0].attention.mechanism.position.w.item()
    assert sign * w > 0.05

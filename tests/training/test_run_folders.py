"""The run folder of every kind of model: what is in it, and that Hugging Face's own tools read it."""

import json
import shutil
import subprocess
import sys

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import accuracy_score, f1_score, mean_absolute_error, root_mean_squared_error
from transformers import AutoModelForSequenceClassification, AutoTokenizer, pipeline

from glasshead.data import encode
from glasshead.errors import InputError
from glasshead.huggingface import class_names
from glasshead.models import MODELS
from glasshead.opening import load_run
from glasshead.training import train
from glasshead.training.baselines import constant_guess, floor_metrics, only_class
from glasshead.training.build_model import (
    build_classifier,
    encoded_split,
    identifiable_length,
    longest_sequence,
)
from kinds import KINDS, PAIRS, data, recipe, saved
from slow_cases import slow_but

AUTO = "AutoModelForSequenceClassification"
every_kind = pytest.mark.parametrize("kind", slow_but("pooled", "encoder", "ratings", of=KINDS))


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Trained when first asked for, once each."""
    place = tmp_path_factory.mktemp("kinds")
    made = {}

    def folder(kind):
        if kind not in made:
            pretrained = saved(place / "bert") if kind.startswith("tuned") else None
            with torch.enable_grad():  # some tests ask without
                made[kind] = train(
                    data(kind), recipe(kind, pretrained), place / kind.replace(" ", "-"), seed=1
                )
        return made[kind]

    return folder


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def given(kind, split, row):
    """An example as `pipeline` takes it."""
    example = data(kind)[split][row]
    return {name: example[name] for name in ("text", "text_pair") if name in example}


def encoded(tokenizer, example):
    """One text or pair, as a model reads it."""
    pair = example.get("text_pair")
    return encode(tokenizer, [example["text"]], None if pair is None else [pair]).inputs()


@every_kind
def test_it_learns(kind, folders):
    metrics = read(folders(kind) / "metrics.json")
    if "ratings" in kind:
        spread = np.std(data(kind)["test"]["label"][:])
        assert metrics["test"]["rmse"] < 0.95 * spread  # what the mean rating gives is 1
    elif kind not in PAIRS:  # agreement takes longer than a test may
        assert metrics["test"]["accuracy"] > 0.7


@every_kind
@torch.no_grad()
def test_transformers_reads_it(kind, folders):
    folder = folders(kind)
    run = load_run(folder)
    assert not run.model.training
    if kind == "tuned distances":  # what a position has learned, only glasshead.load can read
        model = run.model
        classify = pipeline("text-classification", model=model, tokenizer=run.tokenizer, device="cpu")
    else:
        model = AutoModelForSequenceClassification.from_pretrained(folder)
        classify = pipeline("text-classification", model=str(folder), device="cpu")
    assert type(model) is type(run.model)
    options = {"function_to_apply": "none"} if "ratings" in kind else {}
    for row in range(3):
        example = given(kind, "test", row)
        logits = run.model(**encoded(run.tokenizer, example)).logits[0]
        (told,) = classify([example], **options)
        if "ratings" in kind:
            assert told == {"label": "rating", "score": pytest.approx(float(logits), abs=1e-5)}
        else:
            best = int(logits.argmax())
            expected = float(logits.softmax(-1)[best])
            assert told == {"label": class_names(model)[best], "score": pytest.approx(expected, abs=1e-5)}


@every_kind
@torch.no_grad()
def test_predictions_are_those_of_the_examples(kind, folders):
    """One by one, without padding: so batches, order and cutting left no trace."""
    folder = folders(kind)
    run, table = load_run(folder), pq.read_table(folder / "predictions.parquet")
    assert table.column_names == ["split", "index", "label", "predicted", "probability"]
    assert [str(each) for each in table.schema.types] == (
        ["string", "int64", "double", "double", "double"]
        if "ratings" in kind
        else ["string", "int64", "string", "string", "double"]
    )
    rows = table.to_pylist()
    places = [("dev", index) for index in range(20)] + [("test", index) for index in range(23)]
    assert [(row["split"], row["index"]) for row in rows] == places
    for row in rows[::7]:
        split = data(kind)[row["split"]]
        example = split[row["index"]]
        logits = run.model(**encoded(run.tokenizer, example)).logits[0]
        if "ratings" in kind:
            assert (row["label"], row["probability"]) == (example["label"], None)
            assert row["predicted"] == pytest.approx(float(logits), abs=1e-4)
        else:
            assert row["label"] == split.features["label"].int2str(example["label"])
            assert row["predicted"] == run.labels[int(logits.argmax())]
            assert row["probability"] == pytest.approx(float(logits.softmax(-1).max()), abs=1e-4)


@every_kind
def test_metrics_are_those_of_the_predictions(kind, folders):
    folder = folders(kind)
    metrics, table = read(folder / "metrics.json"), pq.read_table(folder / "predictions.parquet").to_pandas()
    assert set(metrics) == {"dev", "test", "epochs"}
    for split in ("dev", "test"):
        part = table[table["split"] == split]
        labels, predicted = part["label"], part["predicted"]
        if "ratings" in kind:
            expected = {
                "rmse": root_mean_squared_error(labels, predicted),
                "mae": mean_absolute_error(labels, predicted),
                "loss": ((labels - predicted) ** 2).mean(),
            }
        else:
            right = np.where(labels == predicted, part["probability"], 1 - part["probability"])
            expected = {
                "accuracy": accuracy_score(labels, predicted),
                "macro_f1": f1_score(labels, predicted, average="macro"),
                "loss": -np.log(right).mean(),
            }
        assert metrics[split] == pytest.approx(expected, rel=1e-5)
    first = metrics["epochs"][0]
    assert set(first) == {*metrics["dev"], "epoch"}
    best = min if "ratings" in kind else max
    main = "rmse" if "ratings" in kind else "accuracy"
    assert metrics["dev"][main] == pytest.approx(best(each[main] for each in metrics["epochs"]), rel=1e-4)


@every_kind
def test_the_record_holds_the_floor(kind, folders):
    """Always guessing the commonest class of train, or its mean rating, as scikit-learn's dummies do."""
    folder = folders(kind)
    record, table = read(folder / "run.json"), pq.read_table(folder / "predictions.parquet").to_pandas()
    train_labels = data(kind)["train"]["label"][:]
    dummy = DummyRegressor() if "ratings" in kind else DummyClassifier(strategy="most_frequent")
    (guess,) = dummy.fit(np.zeros((len(train_labels), 1)), train_labels).predict(np.zeros((1, 1)))
    guess = guess if "ratings" in kind else data(kind)["train"].features["label"].int2str(int(guess))
    assert record["floor"]["guess"] == (pytest.approx(guess) if "ratings" in kind else guess)
    for split in ("dev", "test"):
        part = table[table["split"] == split]
        constant = np.full(len(part), guess)
        if "ratings" in kind:
            expected = {
                "rmse": root_mean_squared_error(part["label"], constant),
                "mae": mean_absolute_error(part["label"], constant),
            }
        else:
            expected = {
                "accuracy": accuracy_score(part["label"], constant),
                "macro_f1": f1_score(part["label"], constant, average="macro"),
            }
        assert record["floor"][split] == pytest.approx(expected)
        classes = set(part["predicted"])
        collapsed = "ratings" not in kind and len(classes) == 1
        assert record["only_class"][split] == (classes.pop() if collapsed else None)


def test_one_class_and_the_lack_of_classes():
    assert only_class(np.array(["a", "a"], dtype=object)) == "a"
    assert only_class(np.array(["a", "b"], dtype=object)) is None
    assert only_class(np.array([2.0, 2.0])) is None
    assert constant_guess({"classes": {"train": {"a": 2, "b": 5}}}) == "b"
    assert floor_metrics("b", np.array(["a", "b", "b", "b"])) == pytest.approx(
        {"accuracy": 0.75, "macro_f1": 3 / 7}
    )
    for broken in (
        {},
        {"classes": None},
        {"classes": {"train": ["a"]}},
        {"ratings": {"train": {"mean": "3"}}},
    ):
        with pytest.raises(InputError, match="neither classes nor ratings"):
            constant_guess(broken)


@pytest.mark.parametrize("kind", ["encoder", "ratings", "pooled ratings"])
def test_a_training_that_diverges_is_refused(kind, tmp_path):
    settings = recipe(kind).with_changes(learning_rate=1e30, epochs=2)
    with pytest.raises(InputError, match="lower `learning_rate`"):
        train(data(kind), settings, tmp_path / "new" / "run")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["hierarchical", "pair-encoder"])
def test_the_longest_sequence_is_what_heads_read(kind):
    """Sentences of a document, texts of a pair: shorter than what stands in a row."""
    built = build_classifier(recipe(kind).with_changes(head_combination="add", value_dim=8), data(kind))
    encoded = encoded_split(built.tokenizer, data(kind)["train"])
    longest = longest_sequence(built.model, encoded)
    texts = data(kind)["train"]["text"][:]
    if kind == "hierarchical":
        expected = max(
            len(sentence.split()) + 1 for text in texts for sentence in text.split(" .") if sentence
        )
    else:
        pairs = data(kind)["train"]["text_pair"][:]
        expected = max(len(text.split()) + 1 for text in [*texts, *pairs])  # with its [CLS]
    assert longest == expected < int(encoded.mask.sum(dim=1).max())
    (said,) = identifiable_length(built.model, [encoded]) or [""]
    assert said.endswith(f"from the output of each head: the longest sequence here has {longest}") == (
        longest > 8
    )


def test_learned_parameters_of_a_plugged_model_come_back(folders):
    from safetensors.torch import load_file

    folder = folders("tuned distances")
    stored = load_file(folder / "model.safetensors")
    learned = {name: value for name, value in stored.items() if name.endswith(("position.w", "position.v"))}
    assert len(learned) == 4  # two layers
    model = load_run(folder).model
    for name, value in learned.items():
        torch.testing.assert_close(model.get_parameter(name).detach(), value, rtol=0, atol=0)


OURS = "import glasshead.models"


@pytest.mark.slow
def test_one_import_is_enough(folders):
    """Between two of Transformers; before and after them, tests/test_import_effects.py."""
    program = f"""
import sys
from transformers import pipeline
{OURS}
from transformers import {AUTO}
for folder in sys.argv[1:]:
    model = AutoModelForSequenceClassification.from_pretrained(folder)
    (told,) = pipeline("text-classification", model=folder, device="cpu")(["the film was good ."])
    print(type(model).__name__, type(told["score"]).__name__)
"""
    kinds = ("pooled", "encoder", "hierarchical", "tuned")
    command = [sys.executable, "-W", "error", "-c", program, *(str(folders(kind)) for kind in kinds)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    names = [MODELS[kind].__name__ for kind in kinds[:3]] + ["BertForSequenceClassification"]
    assert printed == [word for name in names for word in (name, "float")]


def test_a_tokenizer_and_its_model_agree(folders):
    for kind in ("encoder", "pair-encoder", "hierarchical"):
        tokenizer = AutoTokenizer.from_pretrained(folders(kind))
        assert tokenizer.model_max_length == 24
        assert ("token_type_ids" in tokenizer.model_input_names) == (kind == "pair-encoder")


@pytest.mark.parametrize(
    ("kind", "change"),
    [("pooled", {"gauge": []}), ("hierarchical", {"gauge": [[1]]}), ("hierarchical", {"sentence_length": 0})],
)
def test_a_configuration_that_was_edited_into_something_impossible_is_refused(
    folders, tmp_path, kind, change
):
    shutil.copytree(folders(kind), tmp_path / "run")
    config = tmp_path / "run" / "config.json"
    config.write_text(json.dumps(read(config) | change))
    with pytest.raises(InputError, match="is a damaged run"):
        load_run(tmp_path / "run")

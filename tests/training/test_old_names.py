"""Folders that were written before settings had Transformers' names, and the names that people still type."""

import json

import pytest
import torch

from fake_models import write_model
from glasshead.data import LoadOptions
from glasshead.dynamics import config_of
from glasshead.errors import InputError
from glasshead.models import NewsRecommenderConfig
from glasshead.opening import load_run, read_record
from glasshead.recommend import NEWS_PRESETS
from glasshead.training import TRAINING_PRESETS

OF_ENCODERS = {
    "hidden_size": "embedding_size",
    "num_hidden_layers": "layers",
    "num_attention_heads": "heads",
    "head_dim": "key_size",
    "value_dim": "value_size",
    "head_combination": "combine",
    "intermediate_size": "feed_forward_size",
}
OF_POOLED = {"head_dim": "key_size", "value_dim": "value_size", "temperature": "scale"}
OF_RECIPES = {"vocab_size": "vocabulary_size", "min_freq": "minimum_frequency", "word_vectors": "vectors"}
OLD_RECIPE = {
    "preset": "da-transformer-small", "model": "encoder", "max_length": 512, "vocabulary_size": 700,
    "minimum_frequency": 3, "vectors": "glove.txt", "dev_fraction": 0.1,
    "architecture": {
        "embedding_size": 64, "heads": 4, "layers": 2, "key_size": 8, "value_size": 8, "combine": "concat",
        "feed_forward_size": 128, "dropout": 0.2, "attention": "distance-aware",
    },
    "optimizer": "adam", "learning_rate": 0.001, "batch_size": 64, "epochs": 10, "loss_scale": 1.0,
    "by_length": True, "compile": False,
}  # fmt: skip


def as_before(path, names):
    """Give the fields of a config.json the names that they had."""
    config = json.loads(path.read_text())
    assert not set(names.values()) & set(config)
    path.write_text(json.dumps({names.get(name, name): value for name, value in config.items()}))


@pytest.mark.parametrize(
    ("family", "names", "options"),
    [
        ("encoder", OF_ENCODERS, {"num_hidden_layers": 2, "attention": "tanhmax+distance-aware"}),
        ("encoder", OF_ENCODERS, {"head_combination": "add", "value_dim": None}),
        ("hierarchical", OF_ENCODERS, {}),
        ("pooled", OF_POOLED, {"head_dim": 7, "value_dim": 3, "temperature": 4.0, "score": "query-key"}),
    ],
)
@torch.no_grad()
def test_a_model_of_then_loads_and_predicts_the_same(family, names, options, tmp_path):
    folder = write_model(tmp_path / "run", family, **options)
    run = load_run(folder)
    texts = run.tokenizer(["a warm film . the end"], return_tensors="pt")
    expected = run.model(**texts).logits
    as_before(folder / "config.json", names)
    again = load_run(folder).model
    assert again.config.to_dict() == run.model.config.to_dict()
    torch.testing.assert_close(again(**texts).logits, expected)


def test_data_options_of_then_have_the_names_of_now(tmp_path):
    folder = write_model(tmp_path / "run")
    record = json.loads((folder / "run.json").read_text())
    options = {"text_column": None, "labels": 3, "rows": 50}
    (folder / "run.json").write_text(json.dumps(record | {"data": record["data"] | {"options": options}}))
    options = LoadOptions(**read_record(folder)["data"]["options"])
    assert options == LoadOptions(labels=3, max_examples=50)


def test_a_record_of_then_has_the_names_of_now(tmp_path):
    folder = write_model(tmp_path / "run")
    record = json.loads((folder / "run.json").read_text()) | {"recipe": OLD_RECIPE}
    (folder / "run.json").write_text(json.dumps(record))
    recipe = config_of(read_record(folder))
    assert (recipe.vocab_size, recipe.min_freq, recipe.word_vectors) == (700, 3, "glove.txt")
    config = recipe.model_config()
    assert (config.num_attention_heads, config.num_hidden_layers, config.hidden_size) == (4, 2, 64)
    assert not set(recipe.architecture) & set(OF_ENCODERS.values())


@pytest.mark.parametrize("preset", ["da-transformer-small", "s4"])
def test_settings_may_be_typed_as_before(preset):
    recipe = TRAINING_PRESETS[preset]
    names = OF_RECIPES | (OF_POOLED if recipe.model == "pooled" else OF_ENCODERS)
    values = {"vectors": "glove.txt", "combine": "add", "value_size": None, "scale": 3.0}
    for now, then in names.items():
        value = values.get(then, 8)
        change = {} if then != "combine" else {"value_dim": None}
        assert recipe.with_settings({then: value} | change) == recipe.with_settings({now: value} | change)
    with pytest.raises(InputError, match="'head_dim' and 'key_size' are one option"):
        recipe.with_settings({"head_dim": 8, "key_size": 8})


def test_recommenders_too():
    recipe = NEWS_PRESETS["small"]
    for now, then in (OF_RECIPES | OF_ENCODERS).items():
        if now != "head_combination":
            value = "glove.txt" if then == "vectors" else 4
            assert recipe.with_settings({then: value}) == recipe.with_settings({now: value})
    config = NewsRecommenderConfig(embedding_size=8, heads=2, key_size=3)
    assert (config.hidden_size, config.num_attention_heads, config.head_dim) == (8, 2, 3)
    with pytest.raises(InputError, match="'num_attention_heads' and 'heads' are one option"):
        recipe.with_settings({"num_attention_heads": 2, "heads": 2})

"""Folders that were written before settings had Transformers' names, and the names that people still type."""

import json

import pytest
import torch

from fake_models import write_model
from glasshead.errors import InputError
from glasshead.models import NewsRecommenderConfig
from glasshead.opening import load_run
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

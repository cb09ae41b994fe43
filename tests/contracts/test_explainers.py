"""Every registered explainer keeps the promises of its kind."""

import copy

import numpy as np
import pytest
import torch

from glasshead.explain import EXPLAINERS, TARGETS
from small import TEXTS, planted_model, random_model, tokenizer
from tolerances import ONE_MODEL

every_explainer = pytest.mark.parametrize("name", list(EXPLAINERS))
MODELS = {
    "softmax": {"activation": "softmax"},
    "tanhmax": {"activation": "tanhmax", "score": "query-key", "value_size": 4},
    "lstm": {"activation": "softmax", "encoder": "lstm"},
    "three classes": {"activation": "tanhmax", "encoder": "affine", "classes": 3},
}
every_model = pytest.mark.parametrize("model", list(MODELS))


def explain(name, model, texts=TEXTS, **options):
    return EXPLAINERS[name](model, tokenizer(), list(texts), **options)


@every_explainer
@every_model
def test_deterministic_and_batched_equals_one_by_one(name, model):
    model = random_model(**MODELS[model])
    together = explain(name, model)
    again = explain(name, model)
    for index, (attribution, same) in enumerate(zip(together, again, strict=True)):
        assert attribution == same
        (alone,) = explain(name, model, TEXTS[index : index + 1])
        assert (alone.tokens, alone.target, alone.predicted) == (
            attribution.tokens,
            attribution.target,
            attribution.predicted,
        )
        np.testing.assert_allclose(alone.scores, attribution.scores, **ONE_MODEL)


@every_explainer
def test_the_model_is_left_as_it_was(name):
    model = random_model(activation="tanhmax")
    before = copy.deepcopy(model.state_dict())
    model.train()
    explain(name, model)
    assert model.training
    for key, value in model.state_dict().items():
        assert torch.equal(value, before[key])
    assert all(parameter.grad is None for parameter in model.parameters())
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())


@every_explainer
def test_one_number_per_token_and_offsets_into_the_text(name):
    model = random_model(activation="softmax")
    for text, attribution in zip(TEXTS, explain(name, model), strict=True):
        assert attribution.text == text
        assert attribution.method == name
        assert len(attribution.scores) == len(attribution.tokens) == len(attribution.offsets)
        assert np.isfinite(attribution.scores).all()
        for token, (start, end) in zip(attribution.tokens, attribution.offsets, strict=True):
            assert token == "[UNK]" or text[start:end] == token
    assert explain(name, model, []) == []


@every_explainer
def test_it_says_what_it_is(name):
    assert EXPLAINERS[name].description
    assert EXPLAINERS[name].citation


@every_explainer
@pytest.mark.parametrize("activation", ["softmax", "tanhmax"])
def test_planted_truth(name, activation):
    """The decision rests on ``good``: every method must put it first, and the random one must not."""
    model = planted_model(activation)
    texts = [
        "the film was good and the plot was long",
        "good music and a long scene",
        "the end was good",
        "was the plot and the film good",
        "scene film good end",
    ]
    first = [
        attribution.tokens[int(np.argmax(np.abs(attribution.scores)))] == "good"
        for attribution in explain(name, model, texts)
    ]
    assert all(first) == (name != "random")


def test_a_class_is_known_by_its_name_before_its_number():
    model = planted_model("softmax")
    model.config.id2label = {0: "1", 1: "0"}
    targets = {each: explain("erasure", model, TEXTS[:1], target=each)[0].target for each in ("0", "1", 0, 1)}
    assert targets == {"0": "0", "1": "1", 0: "1", 1: "0"}


@pytest.mark.parametrize("of", list(TARGETS))
def test_targets_agree_on_the_sign(of):
    model = planted_model("softmax")
    (attribution,) = explain("erasure", model, ["the film was good"], of=of)
    assert attribution.scores[-1] > 0
    (other,) = explain("erasure", model, ["the film was good"], of=of, target="negative")
    if of != "logit":  # the logit of class 0 is 0 by definition, whatever is erased
        assert other.scores[-1] < 0
    assert other.target == "negative"

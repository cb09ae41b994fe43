"""The pass that predicts serves whatever is read of a single text: with the same numbers as passes of their
own, and nothing of it is left in the model."""

import numpy as np
import pytest
import torch
import transformers as hf

import glasshead
import readable
from classifier_families import word_tokenizer
from glasshead.data import encode
from glasshead.explainers import EXPLAINERS
from glasshead.explainers import explanation_context as contexts
from glasshead.explainers.first_pass import first_pass
from glasshead.trace import AttentionSelector
from tolerances import ALL_LAYERS

TEXT = "the film was good"


@pytest.fixture(scope="module")
def bert():
    kind = readable.bert()
    return kind.model, kind.tokenizer


def hooks(model):
    """How many functions are called at each module."""
    return [
        (name, len(module._forward_hooks), len(module._forward_pre_hooks))
        for name, module in model.named_modules()
    ]


@pytest.mark.parametrize(
    "selector", [AttentionSelector(), AttentionSelector(layer=0), AttentionSelector(layer=0, head=1)]
)
@pytest.mark.parametrize(
    "method", ["attention", "contribution", "gradient-attention", "value-norm", "rollout"]
)
def test_numbers_are_those_of_passes_of_their_own(bert, monkeypatch, method, selector):
    model, tokenizer = bert
    before, passes = hooks(model), []

    def kept(*arguments):
        passes.append(first_pass(*arguments))
        return passes[-1]

    def explain():
        return EXPLAINERS[method](model, tokenizer, [TEXT], attention_selector=selector)

    monkeypatch.setattr(contexts, "first_pass", kept)
    (once,) = explain()
    assert [each is not None for each in passes] == [True]  # it was kept
    assert hooks(model) == before
    monkeypatch.setattr(contexts, "first_pass", lambda *_: None)
    (own,) = explain()
    np.testing.assert_allclose(once.scores, own.scores, **ALL_LAYERS)
    np.testing.assert_allclose(once.prediction, own.prediction, **ALL_LAYERS)
    if once.contributions is not None:
        np.testing.assert_allclose(once.contributions, own.contributions, **ALL_LAYERS)
    assert (once.target, once.reading, once.tokens) == (own.target, own.reading, own.tokens)


@pytest.mark.parametrize("layer", [None, 0, 1])
def test_the_pass_is_that_of_the_model_and_can_be_differentiated_from_one_layer_on(bert, layer):
    model, tokenizer = bert
    encoded = encode(tokenizer, [TEXT])
    model.eval()
    kept = first_pass(model, encoded, layer)
    assert kept.layer == (1 if layer is None else layer)
    with torch.no_grad():
        logits = model(**encoded.inputs(slice(0, 1))).logits
    np.testing.assert_allclose(kept.logits.detach(), logits, **ALL_LAYERS)
    weights = kept.calls[kept.layer].weights
    (slopes,) = torch.autograd.grad(kept.logits[0, 0], weights)
    assert slopes.shape == weights.shape
    assert slopes.abs().max() > 0
    assert [call.weights.requires_grad for call in kept.calls] == [
        call.layer == kept.layer for call in kept.calls
    ]


def test_it_is_not_kept_of_several_texts(bert):
    model, tokenizer = bert
    assert first_pass(model, encode(tokenizer, [TEXT, TEXT])) is None


@pytest.mark.parametrize("method", ["attention", "contribution", "rollout", "value-norm"])
@pytest.mark.parametrize("layer", [None, 0, 1])
def test_one_text_is_one_pass(bert, method, layer):
    model, tokenizer = bert
    passes = []
    with model.register_forward_hook(lambda *_: passes.append(1)):
        EXPLAINERS[method](model, tokenizer, [TEXT], attention_selector=AttentionSelector(layer=layer))
    assert len(passes) == 1


def test_a_module_that_is_called_for_every_layer_is_seen_in_the_pass():
    model, tokenizer = albert()
    encoded = encode(tokenizer, [TEXT])
    kept = first_pass(model, encoded)
    assert (kept.layer, len(kept.calls)) == (2, 3)
    assert kept.calls[2].weights.requires_grad


def albert():
    """One module with its weights, for three layers."""
    torch.manual_seed(0)
    tokenizer = word_tokenizer()
    sizes = {"hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 16, "embedding_size": 8}
    config = hf.AlbertConfig(vocab_size=len(tokenizer), num_hidden_layers=3, **sizes)
    subject = glasshead.open(hf.AlbertForSequenceClassification(config), tokenizer)
    return subject.model, subject.tokenizer

"""The pass that predicts serves whatever is read of a single text: with the same numbers as passes of their
own, and nothing of it is left in the model."""

import numpy as np
import pytest
import torch

import readable
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


def test_the_pass_is_that_of_the_model_and_can_be_differentiated(bert):
    model, tokenizer = bert
    encoded = encode(tokenizer, [TEXT])
    model.eval()
    found = first_pass(model, encoded)
    with torch.no_grad():
        logits = model(**encoded.inputs(slice(0, 1))).logits
    np.testing.assert_allclose(found.logits.detach(), logits, **ALL_LAYERS)
    weights = found.calls[0].weights
    (slopes,) = torch.autograd.grad(found.logits[0, 0], weights)
    assert slopes.shape == weights.shape
    assert slopes.abs().max() > 0


def test_it_is_not_kept_of_several_texts_or_a_long_one(bert, monkeypatch):
    """A map is a number for each pair of tokens, in each head of each layer."""
    model, tokenizer = bert
    assert first_pass(model, encode(tokenizer, [TEXT, TEXT])) is None
    encoded = encode(tokenizer, [TEXT])
    pairs = 2 * 2 * int(encoded.mask.sum()) ** 2
    for room, is_kept in ((pairs, True), (pairs - 1, False)):
        monkeypatch.setattr("glasshead.explainers.first_pass.PAIRS", room)
        assert (first_pass(model, encoded) is not None) == is_kept

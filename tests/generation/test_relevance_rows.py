"""Relevance of what an answer was written from: it adds up, and finds what an answer was copied from."""

import numpy as np
import pytest
import torch

import glasshead
from glasshead.generation import METHODS, generate
from glasshead.generation.target import AnswerTarget
from glasshead.trace import slopes_of
from librarian import librarian
from writers import PROMPT, small_writer


@pytest.mark.parametrize("target", ["logit", "log-probability"])
def test_relevance_adds_up(target):
    """With attention held, tokens, places and biases have Σ_v (∂y/∂z_v) z_v of each value."""
    model, tokenizer = small_writer()
    text = generate(model, PROMPT, tokenizer=tokenizer, tokens=4).read_text()
    asked = AnswerTarget(target, text.answer)
    values, leaves, others = METHODS["cp-lrp"].run(text, asked)
    logits = text.logits().detach().requires_grad_()
    plain = asked(logits)[0]
    np.testing.assert_allclose(values.detach(), plain.detach(), rtol=1e-4, atol=1e-5)
    for value, own in zip(values, plain, strict=True):
        *words, places, biases = slopes_of(
            text.model, value, [*leaves, *others], retain_graph=True, materialize_grads=True
        )
        found = sum((vectors.detach() * slope).sum() for vectors, slope in zip(leaves, words, strict=True))
        (slope,) = torch.autograd.grad(own, logits, retain_graph=True)
        expected = (slope * logits.detach()).sum()
        np.testing.assert_allclose(float(found + places + biases), float(expected), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("method", ["attn-lrp", "cp-lrp"])
def test_it_finds_the_passage_that_holds_the_answer(method):
    model, words = librarian()
    passages = ["Name1 value2 filler0", "Name3 value4 filler1", "Name5 value6"]
    asked = {"tokenizer": words, "split": "whole", "neutral": "nothing nothing", "beside": (method,)}
    for place, name, value in ((0, "Name1", "value2"), (1, "Name3", "value4"), (2, "Name5", "value6")):
        cited = glasshead.cite(model, passages, name, answer=value, **asked)
        assert np.argmax(cited.whole.maps[method]) == place

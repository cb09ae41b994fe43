"""Attention that a model computes itself: read, differentiated and replaced on its way."""

import threading

import pytest
import torch

from auto_classes import build
from classifier_families import FAMILIES
from glasshead.errors import InputError
from glasshead.huggingface import caught_softmax, isolated_copy, readable_copy
from glasshead.trace import intervene, record
from tolerances import EXACT_MATHS

CAUGHT = [name for name, family in FAMILIES.items() if "values" in family.lacks and len(family.lacks) == 1]
IDS = torch.tensor([[3, 7, 8, 9, 10, 11, 4], [3, 9, 12, 4, 0, 0, 0]])
INPUTS = {"input_ids": IDS, "attention_mask": (IDS != 0).long()}


def built(name):
    """The model that attends eagerly, so that it says itself what its weights are, and its readable copy."""
    model = FAMILIES[name].build(attn_implementation="eager", pad_token_id=0).double()
    return model, readable_copy(model)


@pytest.mark.parametrize("name", CAUGHT)
def test_the_weights_are_those_of_the_model(name):
    model, copied = built(name)
    expected = model(**INPUTS, output_attentions=True)
    with torch.no_grad(), record(copied) as trace:
        logits = copied(**INPUTS).logits
    torch.testing.assert_close(logits, expected.logits, rtol=1e-5, atol=2e-6)  # some weigh in float32
    assert len(trace.only) == len(expected.attentions)
    for layer, attentions in zip(trace.only, expected.attentions, strict=True):
        real = INPUTS["attention_mask"].bool()[:, None, :, None].expand_as(attentions)
        torch.testing.assert_close(layer.weights[real], attentions[real].double(), rtol=1e-5, atol=1e-6)
        assert layer.call.mask.causal == (FAMILIES[name].marks == "")
        again = layer.call.mechanism.weights(layer.call, layer.scores)
        torch.testing.assert_close(again[real], layer.weights[real], **EXACT_MATHS)


@pytest.mark.parametrize("name", CAUGHT)
def test_gradients_are_the_differences_that_edits_make(name):
    _, copied = built(name)
    with record(copied, keep_graph=True) as trace:
        value = copied(**INPUTS).logits[:, 0].sum()
    weights = trace.only[0].weights
    (slope,) = torch.autograd.grad(value, weights)
    allowed = trace.only[0].allowed
    direction = torch.randn(weights.shape, dtype=torch.float64) * allowed

    def along(step):
        with torch.no_grad(), intervene(copied, lambda _, w, call: w + step * direction, [0]):
            return copied(**INPUTS).logits[:, 0].sum()

    step = 1e-3  # some of these models go through float32 on their way
    measured = (along(step) - along(-step)) / (2 * step)
    torch.testing.assert_close((slope * direction).sum(), measured, rtol=5e-3, atol=1e-3)


def test_heads_that_a_model_folds_into_its_batch_are_told_apart():
    model = build("classes", "mvp")
    ids = torch.tensor([[7, 8, 9, 10, 1], [9, 12, 1, 0, 0]])
    inputs = {"input_ids": ids, "attention_mask": (ids != 0).long()}
    copied = readable_copy(model)
    with torch.no_grad(), record(copied) as trace:
        logits = copied(**inputs).logits
        expected = model(**inputs, output_attentions=True)
    assert torch.equal(logits, expected.logits)
    crossed = zip(expected.decoder_attentions, expected.cross_attentions, strict=True)
    own = [*expected.encoder_attentions, *(each for layer in crossed for each in layer)]
    assert len(trace.only) == len(own) == 6
    for layer, weights in zip(trace.only, own, strict=True):
        torch.testing.assert_close(layer.weights, weights)
    with torch.no_grad(), intervene(copied, lambda _, w, call: torch.zeros_like(w), [0]):
        assert not torch.allclose(copied(**inputs).logits, logits)


def test_capped_scores_are_honoured():
    def weights(cap):
        model = FAMILIES["Gemma2"].build(pad_token_id=0, attn_logit_softcapping=cap)
        copied = readable_copy(model)
        with torch.no_grad(), record(copied) as trace:
            logits = copied(**INPUTS).logits
        torch.testing.assert_close(logits, model(**INPUTS).logits, rtol=1e-4, atol=1e-5)
        return trace.only[0]

    capped, free = weights(0.5), weights(None)
    allowed = capped.allowed
    assert capped.scores[allowed].abs().max() <= 0.5
    assert free.scores[allowed].abs().max() > 0.5


def test_without_values_there_are_none():
    _, copied = built("MPNet")
    with torch.no_grad(), record(copied) as trace:
        copied(**INPUTS)
    with pytest.raises(InputError, match="not queries, keys and values"):
        _ = trace.only[0].v


@pytest.mark.parametrize("name", CAUGHT)
def test_rows_of_padding_are_numbers_in_double_precision(name):
    model = FAMILIES[name].build(pad_token_id=0)
    copied = isolated_copy(readable_copy(model), torch.float64)
    ids = torch.tensor([[3, 7, 8, 9, 10, 11, 12, 13, 4], [3, 4, 0, 0, 0, 0, 0, 0, 0]])
    with torch.no_grad():
        inputs = {"input_ids": ids, "attention_mask": (ids != 0).long()}
        padded, plain = copied(**inputs).logits, model(**inputs).logits
    torch.testing.assert_close(padded.float(), plain, rtol=1e-4, atol=1e-5)


def test_only_what_looks_sees_and_only_in_its_thread():
    model, copied = built("MPNet")
    expected = model(**INPUTS).logits
    results = {}
    with torch.no_grad(), intervene(copied, lambda _, w, call: torch.zeros_like(w)):
        other = threading.Thread(target=lambda: results.update(logits=copied(**INPUTS).logits))
        other.start()
        other.join()
        changed = copied(**INPUTS).logits
    torch.testing.assert_close(results["logits"], expected)
    assert (changed - expected).abs().max() > 1e-3
    torch.testing.assert_close(copied(**INPUTS).logits, expected)


def test_an_exception_leaves_softmax_alone():
    _, copied = built("MPNet")

    def broken(layer, weights, call):
        raise RuntimeError("on purpose")

    with pytest.raises(RuntimeError, match="on purpose"), intervene(copied, broken):
        copied(**INPUTS)
    calls = []
    with torch.no_grad(), intervene(copied, lambda layer, w, call: calls.append(layer) or w):
        scores = torch.softmax(torch.zeros(1, 2, 3, 3), dim=-1)
        assert not calls
        copied(**INPUTS)
    assert calls == [0, 1]
    assert float(scores.sum()) == pytest.approx(6.0)


def test_masks_are_worked_out_only_where_somebody_looks(monkeypatch):
    _, copied = built("MPNet")
    calls, call_of = [], caught_softmax.call_of
    monkeypatch.setattr(caught_softmax, "call_of", lambda *call: calls.append(1) or call_of(*call))
    with torch.no_grad():
        copied(**INPUTS)
        assert not calls
        with record(copied, layers=[1]) as trace:
            copied(**INPUTS)
    assert len(calls) == 1
    assert trace.only[1].weights.shape == (2, 2, 7, 7)

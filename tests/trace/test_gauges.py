"""The canonical sign of every head."""

import pytest
import torch
from transformers import AutoConfig

from glasshead.data import encode
from glasshead.models import default_target, target_polarity, target_score
from glasshead.trace import head_gauges, record
from readable import KINDS, family


def inputs(kind):
    return encode(kind.tokenizer, kind.texts, kind.pairs).inputs()


def test_unsigned_weights_have_none():
    for name in ("encoder", "pair-encoder", "bert"):
        kind = KINDS[name]()
        assert head_gauges(kind.model, [inputs(kind)]) is None


@pytest.mark.parametrize("classes", [2, 3])
def test_it_is_the_sum_of_weights_times_slopes(classes):
    kind = family("encoder", layers=2, pooling="attention", attention="tanhmax", classes=classes)
    batch = inputs(kind)
    found = head_gauges(kind.model, [batch])
    with record(kind.model, keep_graph=True) as trace:
        logits = kind.model(**batch).logits
    value = target_score(logits, default_target(logits)).sum()
    for layer, seen in enumerate(trace.only):
        (slopes,) = torch.autograd.grad(value, seen.weights, retain_graph=True)
        pull = (seen.weights.abs() * slopes).detach()
        for head in range(pull.shape[1]):
            total, mass = pull[:, head].sum(), pull[:, head].abs().sum()
            sign = -1 if total < 0 and seen.call.mechanism.signed else 1
            assert found["signs"][layer][head] == sign
            assert found["margins"][layer][head] == pytest.approx(float(total.abs() / mass), rel=1e-4)
            assert found["masses"][layer][head] == pytest.approx(float(mass), rel=1e-4)
    assert found["signs"][2] == [1]  # the pooling is a softmax


def test_batches_and_labels_make_no_difference_and_the_mode_stays():
    kind = family("encoder", pooling="first", attention="tanhmax")
    kind.model.train()
    whole = inputs(kind)
    halves = [{name: each[rows] for name, each in whole.items()} for rows in (slice(0, 3), slice(3, None))]
    halves[0]["labels"] = torch.zeros(3, dtype=torch.long)
    one, other = head_gauges(kind.model, [whole]), head_gauges(kind.model, halves)
    assert one["signs"] == other["signs"]
    assert one["margins"][0] == pytest.approx(other["margins"][0], abs=1e-5)
    assert kind.model.training
    assert all(parameter.grad is None for parameter in kind.model.parameters())


def test_the_score_of_a_target():
    logits = torch.tensor([[0.0, 2.0], [1.0, -1.0]])
    target = torch.tensor([1, 0])
    assert target_score(logits, target).tolist() == [2.0, 2.0]
    assert target_score(logits[:, 1:], target).tolist() == [2.0, -1.0]
    three = torch.tensor([[3.0, 0.0, 0.0]])
    assert target_score(three, torch.tensor([0])).tolist() == [2.0]
    # The same as of polarities, whose sum a score is.
    assert target_polarity(three[:, None], torch.tensor([0])).tolist() == [[2.0]]


@pytest.mark.parametrize("name", ["encoder first", "bert"])
def test_the_signs_are_saved_with_the_model(name, tmp_path):
    model = KINDS[name]().model
    model.config.gauge = [[1, -1], [-1, -1]]
    model.config.save_pretrained(tmp_path)
    assert AutoConfig.from_pretrained(tmp_path).gauge == [[1, -1], [-1, -1]]

"""The canonical sign of every head."""

import pytest
import torch
from transformers import AutoConfig

from glasshead.data import encode
from glasshead.errors import InputError
from glasshead.results import ONE_SIGN, SIGN_IN_WEIGHTS, UNDECIDED
from glasshead.trace import default_target, head_gauges, record, target_polarity, target_score
from readable import KINDS, family, planted
from small import planted_texts


def inputs(kind):
    batch = encode(kind.tokenizer, kind.texts, kind.pairs).inputs()
    return batch | {"labels": torch.arange(len(kind.texts)) % 2}


def test_unsigned_weights_have_none():
    for name in ("encoder", "pair-encoder", "bert"):
        kind = KINDS[name]()
        assert head_gauges(kind.model, [inputs(kind)]) is None


@pytest.mark.parametrize("classes", [2, 3])
def test_it_is_the_mean_over_classes_of_weights_times_slopes(classes):
    kind = family("encoder", num_hidden_layers=2, pooling="attention", attention="tanhmax", classes=classes)
    batch = inputs(kind)
    labels = batch["labels"]
    found = head_gauges(kind.model, [batch])
    with record(kind.model, keep_graph=True) as trace:
        logits = kind.model(**batch).logits
    value = target_score(logits, default_target(logits)).sum()
    for layer, seen in enumerate(trace.only):
        (slopes,) = torch.autograd.grad(value, seen.weights, retain_graph=True)
        pull = (seen.weights.abs() * slopes).detach()
        for head in range(pull.shape[1]):
            mine = [pull[labels == k, head] for k in (0, 1)]
            lean = sum(float(each.sum() / each.abs().sum()) for each in mine) / 2
            sign = found["signs"][layer][head]
            if found["kinds"][layer][head] == UNDECIDED and seen.call.mechanism.signed:
                assert sign == (-1 if lean < 0 else 1)
            assert found["margins"][layer][head] == pytest.approx(abs(lean), rel=1e-3, abs=1e-5)
            assert found["masses"][layer][head] == pytest.approx(float(pull[:, head].abs().sum()), rel=1e-4)
            ranges = [one["lean"][0] for one in found["classes"][layer][head]]
            expected = [sign * float(each.sum() / each.abs().sum()) for each in mine]
            assert ranges == pytest.approx(expected, rel=1e-3, abs=1e-5)
    assert (found["signs"][2], found["kinds"][2]) == ([1], [ONE_SIGN])  # the pooling is a softmax


def test_batches_and_labels_make_no_difference_and_the_mode_stays():
    kind = family("encoder", pooling="first", attention="tanhmax")
    kind.model.train()
    whole = inputs(kind)
    halves = [{name: each[rows] for name, each in whole.items()} for rows in (slice(0, 3), slice(3, None))]
    one, other = head_gauges(kind.model, [whole]), head_gauges(kind.model, halves)
    assert one["signs"] == other["signs"]
    assert one["kinds"] == other["kinds"]
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


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("counts", [(40, 120), (120, 40), (35, 300)])
@pytest.mark.parametrize("truth", ["weights", "values"])
def test_planted_heads_are_told_apart_whatever_the_sizes_of_the_classes(truth, counts, turned):
    kind = planted("first", "tanhmax", truth)
    texts, labels = planted_texts(counts=counts)
    if turned:
        attention = kind.model.encoder.layers[0].attention
        with torch.no_grad():
            for parameter in (*attention.key.parameters(), *attention.value.parameters()):
                parameter.neg_()
    batch = encode(kind.tokenizer, texts).inputs() | {"labels": torch.tensor(labels)}
    found = head_gauges(kind.model, [batch])
    assert found["kinds"][0] == [SIGN_IN_WEIGHTS if truth == "weights" else ONE_SIGN]
    assert found["signs"][0] == [-1 if turned else 1]


@pytest.mark.parametrize("name", ["pair-encoder", "hierarchical"])
def test_rows_of_segments_are_counted_with_their_text(name):
    """A batch of one text after the other has the sums of a batch of all."""
    kind = family(name, pooling="first", attention="tanhmax")
    whole = inputs(kind)
    single = [{key: each[[i]] for key, each in whole.items()} for i in range(len(kind.texts))]
    one, other = head_gauges(kind.model, [whole]), head_gauges(kind.model, single)
    for layer, expected in zip(one["classes"], other["classes"], strict=True):
        for ours, theirs in zip(layer, expected, strict=True):
            for first, second in zip(ours, theirs, strict=True):
                assert first["texts"] == second["texts"] == 3
                for part in ("positive", "lean"):
                    assert first[part] == pytest.approx(second[part], rel=1e-3, abs=1e-4)


def test_batches_without_labels_are_refused():
    kind = family("encoder", pooling="first", attention="tanhmax")
    with pytest.raises(InputError, match="needs classes"):
        head_gauges(kind.model, [encode(kind.tokenizer, kind.texts).inputs()])


@pytest.mark.parametrize("name", ["encoder first", "bert"])
def test_the_signs_are_saved_with_the_model(name, tmp_path):
    model = KINDS[name]().model
    model.config.gauge = [[1, -1], [-1, -1]]
    model.config.save_pretrained(tmp_path)
    assert AutoConfig.from_pretrained(tmp_path).gauge == [[1, -1], [-1, -1]]

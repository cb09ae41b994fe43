"""Edited weights are the ones that a model attends with."""

import pytest
import torch
from hypothesis import given as drawn
from hypothesis import strategies as st
from trace_stack import Stack, hooks, padding, plugged, sequence

from families import FAMILIES
from glasshead.attention import ACTIVE_HOOKS, MultiHeadAttention
from glasshead.attention.compile_guard import COMPILE_GUARD
from glasshead.errors import InputError
from glasshead.trace import intervene, permute, record, replace, uniform, zero_heads
from tolerances import ALL_LAYERS, EXACT_MATHS, ONE_MODEL


def own(layer, weights, call):
    return weights


@pytest.mark.parametrize("name", FAMILIES)
@torch.no_grad()
def test_the_recorded_weights_change_nothing(name):
    model, given = plugged(name, "tanhmax"), FAMILIES[name].inputs([5, 8, 3])
    with record(model) as trace:
        expected = model(**given)[0]
    with intervene(model, replace({seen.layer: seen.weights for seen in trace})):
        found = model(**given)[0]
    torch.testing.assert_close(found, expected, **ALL_LAYERS)
    with intervene(model, uniform):
        assert (model(**given)[0] - expected).abs().max() > 1e-3
    torch.testing.assert_close(model(**given)[0], expected, **ONE_MODEL)


def test_uniform_weights_by_hand():
    model, x, mask = Stack("softmax").double(), sequence().double(), padding()
    with intervene(model, uniform):
        found = model(x, mask, is_causal=True)
    layer, expected = model.layers[0], torch.empty_like(x)
    v = layer.value(x)
    for text, real in enumerate((7, 4)):
        for query in range(7):
            expected[text, query] = layer.output(v[text, : min(query + 1, real)].mean(dim=0))
    torch.testing.assert_close(found, torch.tanh(x + expected), **EXACT_MATHS)


@torch.no_grad()
def test_only_later_layers_change():
    model, x = Stack("tanhmax", "softmax", "shaw"), sequence()
    with record(model) as before:
        model(x, padding())
    with intervene(model, uniform, layers=[1]), record(model) as after:
        model(x, padding())
    for name in ("q", "k", "v", "scores", "weights", "output"):
        torch.testing.assert_close(getattr(after[0], name), getattr(before[0], name), **ONE_MODEL)
        same = torch.allclose(getattr(after[1], name), getattr(before[1], name), **ONE_MODEL)
        assert same == (name in ("q", "k", "v", "scores"))
        assert not torch.allclose(getattr(after[2], name), getattr(before[2], name), **ONE_MODEL)
    torch.testing.assert_close(after[1].weights[1], torch.where(padding()[1], 0.25, 0.0).expand(3, 7, 7))


@pytest.mark.parametrize("mechanism", ["softmax", "shaw", "transformer-xl", "distance-aware"])
def test_the_output_is_that_of_the_mechanism(mechanism):
    # Shaw adds relative values: the weights of the edit meet them too.
    model, x = Stack(mechanism).double(), sequence().double()
    with record(model, keep_graph=True) as trace:
        expected = model(x)
    with intervene(model, lambda layer, weights, call: trace[0].weights):
        torch.testing.assert_close(model(x), expected, **EXACT_MATHS)


def test_gradients_flow_through_edited_weights():
    model, x = Stack("softmax", "tanhmax").double(), sequence().double()
    share = torch.tensor(0.3, dtype=torch.float64, requires_grad=True)

    def mixed(layer, weights, call):
        return (1 - share) * weights + share * uniform(layer, weights, call)

    def loss():
        with intervene(model, mixed, layers=[0]):
            return model(x).square().sum()

    (found,) = torch.autograd.grad(loss(), share)
    step = 1e-6
    with torch.no_grad():
        share += step
        above = loss()
        share -= 2 * step
        below = loss()
    torch.testing.assert_close(found, (above - below) / (2 * step), rtol=1e-6, atol=1e-6)
    assert found.abs() > 1e-3


@pytest.mark.parametrize("record_first", [True, False])
@pytest.mark.parametrize("options", [{}, {"heads": [2], "rows": [0, -1]}, {"keep_graph": True}])
def test_a_record_sees_the_edited_weights(record_first, options):
    model, x = Stack("softmax", "tanhmax"), sequence()
    blocks = [record(model, **options), intervene(model, uniform, layers=[1])]
    first, second = blocks if record_first else blocks[::-1]
    with first as one, second as other:
        output = model(x, padding())
    trace = one if record_first else other
    expected = torch.where(padding()[:, None, None], 1 / padding().sum(-1)[:, None, None, None], 0.0)
    torch.testing.assert_close(trace[1].weights, expected.expand_as(trace[1].weights))
    assert not torch.allclose(trace[0].weights, expected.expand_as(trace[0].weights), **ALL_LAYERS)
    assert trace[1].scores.std() > 0.1
    if "keep_graph" in options:
        gradients = torch.autograd.grad(output.sum(), [seen.weights for seen in trace])
        assert all(each.abs().max() > 0 for each in gradients)
    else:
        with intervene(model, uniform, layers=[1]):
            torch.testing.assert_close(model(x, padding()), output, **ONE_MODEL)


def test_edits_nest_in_order():
    model, x, seen = Stack("softmax"), sequence(), []

    def spy(layer, weights, call):
        seen.append(weights.clone())
        return weights

    with intervene(model, uniform), intervene(model, zero_heads(0)), intervene(model, spy):
        model(x)
    (weights,) = seen
    assert weights[:, 0].count_nonzero() == 0
    torch.testing.assert_close(weights[:, 1:], torch.full((2, 2, 7, 7), 1 / 7))


def test_the_edit_knows_its_layer_and_call():
    model, x, seen = Stack("softmax", "tanhmax", "relu"), sequence(), []

    def spy(layer, weights, call):
        seen.append((layer, call.mechanism.name, tuple(call.v.shape), tuple(weights.shape)))
        return weights

    with intervene(model, spy, layers=range(1, 3)):
        model(x)
        model(x)
    shapes = ((2, 3, 7, 4), (2, 3, 7, 7))
    assert seen == [(1, "tanhmax", *shapes), (2, "relu", *shapes)] * 2


def test_other_layers_keep_their_kernels():
    model, x = Stack("softmax", "softmax"), sequence()
    expected = model.layers[0](x).output
    made = []
    model.layers[0].register_forward_hook(lambda layer, given, output: made.append(output.output))
    with intervene(model, uniform, layers=[1]), record(model) as trace:
        model(x)
    torch.testing.assert_close(made[0], expected, **ONE_MODEL)
    assert (trace[0].scores_and_weights, trace[1].scores_and_weights is None) == (None, False)


@drawn(st.integers(0, 2**31), st.booleans())
def test_permuted_weights_are_the_same_numbers_elsewhere(seed, causal):
    layer, x = MultiHeadAttention(12, 3), sequence()
    with record(layer) as before:
        layer(x, mask=padding(), is_causal=causal)
    with intervene(layer, permute(torch.Generator().manual_seed(seed))), record(layer) as after:
        layer(x, mask=padding(), is_causal=causal)
    old, new = before[0].weights, after[0].weights
    torch.testing.assert_close(old.sort(dim=-1).values, new.sort(dim=-1).values, **ONE_MODEL)
    assert not torch.allclose(old, new, **ALL_LAYERS)
    assert new.masked_fill(before[0].allowed, 0.0).count_nonzero() == 0
    with intervene(layer, permute(torch.Generator().manual_seed(seed))), record(layer) as again:
        layer(x, mask=padding(), is_causal=causal)
    assert torch.equal(again[0].weights, new)


def test_every_permutation_is_equally_likely():
    layer, x = MultiHeadAttention(12, 1), sequence(3)
    with record(layer) as before:
        layer(x)
    row, counts = before[0].weights[0, 0, 0], {}
    edit = permute(torch.Generator().manual_seed(0))
    with intervene(layer, edit), record(layer) as trace:
        for _ in range(600):
            layer(x)
    for each in trace.passes:
        order = tuple((each[0].weights[0, 0, 0][:, None] == row).int().argmax(dim=1).tolist())
        counts[order] = counts.get(order, 0) + 1
    assert len(counts) == 6
    assert min(counts.values()) > 60


def test_rows_without_keys_stay_without_weight():
    layer, x = MultiHeadAttention(12, 3), sequence()
    nothing = padding(real=(7, 0))
    for edit in (uniform, permute(torch.Generator()), zero_heads(1)):
        with intervene(layer, edit), record(layer) as trace:
            output = layer(x, mask=nothing).output
        assert trace[0].weights[1].count_nonzero() == 0
        assert output.isfinite().all()


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda layer, weights, call: None, "returned NoneType: return the weights"),
        (lambda layer, weights, call: weights[:, :1], r"shape \[2, 1, 7, 7\], not \[2, 3, 7, 7\]"),
        (lambda layer, weights, call: weights.double(), "dtype torch.float64, not torch.float32"),
        (lambda layer, weights, call: weights.to("meta"), "device meta, not cpu"),
        (lambda layer, weights, call: weights / 0, "not finite"),
        (lambda layer, weights, call: weights + 0.1, "keys that the mask forbids"),
        (zero_heads(3), "there is no head 3"),
    ],
)
def test_what_an_edit_must_not_return(edit, said):
    model, x = Stack("softmax"), sequence()
    with pytest.raises(InputError, match=said), intervene(model, edit):
        model(x, padding())
    assert hooks(model) == 0
    assert ACTIVE_HOOKS.get() == ()
    assert (COMPILE_GUARD.blocks, COMPILE_GUARD.kernels) == (0, 0)


def test_wrong_use():
    model, x = Stack("softmax"), sequence()
    with pytest.raises(InputError, match="no attention of Stack ran in the block"), intervene(model, own):
        pass
    with pytest.raises(InputError, match="no attention layer 1: "), intervene(model, own, layers=[1]):
        model(x)
    plugged_model = plugged("bert").train()
    plugged_model.activation_checkpointing_enable()
    with pytest.raises(InputError, match="runs every layer twice"), intervene(plugged_model, own):
        plugged_model(**FAMILIES["bert"].inputs([4]))
    with pytest.raises(KeyboardInterrupt), intervene(model, own):
        raise KeyboardInterrupt
    assert hooks(model) == 0


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@torch.no_grad()
def test_half_precision(dtype):
    model, x = Stack("tanhmax"), sequence()
    expected = model(x)
    with intervene(model.to(dtype), own):
        found = model(x.to(dtype))
    assert found.dtype == dtype
    torch.testing.assert_close(found.float(), expected, rtol=0, atol=8 * torch.finfo(dtype).eps)


@torch.no_grad()
def test_weights_that_a_model_hands_on_are_the_edited_ones():
    model, given = plugged("bert"), FAMILIES["bert"].inputs([5, 8])
    with intervene(model, uniform, layers=[0]):
        attentions = model(**given, output_attentions=True).attentions
    torch.testing.assert_close(attentions[0][0, :, :, :5], torch.full((2, 8, 5), 0.2))
    torch.testing.assert_close(attentions[1].sum(-1), torch.ones(2, 2, 8), **ONE_MODEL)
    assert attentions[1].std() > 0.01


@torch.no_grad()
def test_generation_with_a_cache():
    model, ids = plugged("gpt2"), torch.tensor([[5, 9, 12, 7]])
    options = {"attention_mask": torch.ones_like(ids), "max_new_tokens": 4, "do_sample": False}
    with intervene(model, uniform):
        cached = model.generate(ids, **options)
        recomputed = model.generate(ids, **options, use_cache=False)
    assert torch.equal(cached, recomputed)

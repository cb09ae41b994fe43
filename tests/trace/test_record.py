"""A trace says what attention was made of, and leaves no mark on the model."""

import copy
import gc
import threading
import weakref

import pytest
import torch
from torch._dynamo import eval_frame
from torch.utils._python_dispatch import TorchDispatchMode
from trace_stack import Stack, hooks, padding, plugged, sequence

from families import FAMILIES
from glasshead.attention import ACTIVATIONS, ACTIVE_HOOKS, Mechanism, MultiHeadAttention, Position
from glasshead.attention import hooks as attention_hooks
from glasshead.attention.compile_guard import COMPILE_GUARD
from glasshead.errors import InputError
from glasshead.trace import record
from tolerances import EXACT_MATHS, ONE_MODEL

MECHANISMS = ("softmax", "tanhmax", "distance-aware", "shaw", "transformer-xl", "tanhmax+tener", "cosformer")


def formula(call):
    """Scores and weights in float64, whichever kernel served the call."""
    scores = call.mechanism.scores(call)
    return scores, call.mechanism.weights(call, scores)


@pytest.mark.parametrize("name", ["bert", "t5", "vit", "llama"])
@torch.no_grad()
def test_weights_are_those_of_transformers(name):
    family = FAMILIES[name]
    model, given = plugged(name), family.inputs([5, 8, 3])
    with record(model) as trace:
        model(**given)
    made = family.build("eager")(**given, output_attentions=True)
    expected = made.attentions if name != "t5" else made.encoder_attentions
    if name == "t5":  # in the order of the calls: self, cross, self, cross
        pairs = zip(made.decoder_attentions, made.cross_attentions, strict=True)
        expected += tuple(each for pair in pairs for each in pair)
    assert len(trace) == len(expected)
    real = given.get("attention_mask", torch.ones(1, 1)).bool()
    for seen, weights in zip(trace, expected, strict=True):
        whole = real.shape[1] != weights.shape[2]  # the decoder's texts have no padding
        rows = torch.ones(1).bool() if whole else real[:, None, :, None]
        assert torch.where(rows, seen.weights - weights, 0.0).abs().max() < 1e-6


@pytest.mark.parametrize("name", FAMILIES)
@torch.no_grad()
def test_the_model_computes_what_it_did(name):
    model, given = plugged(name, "tanhmax"), FAMILIES[name].inputs([5, 8, 3])
    before = copy.deepcopy(given), hooks(model)
    expected = model(**given).to_tuple()
    with record(model) as trace:
        found = model(**given).to_tuple()
    assert len(trace.passes) == 1
    for one, other in zip(found, expected, strict=True):
        if isinstance(one, torch.Tensor):
            torch.testing.assert_close(one, other, **ONE_MODEL)
    assert all(torch.equal(given[key], before[0][key]) for key in given)
    assert hooks(model) == before[1]
    assert ACTIVE_HOOKS.get() == ()


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_every_tensor_of_a_call(mechanism):
    model, x, mask = Stack(mechanism, mechanism, kv_heads=1).double(), sequence().double(), padding()
    with record(model) as trace:
        output = model(x, mask, is_causal=True)
    for number, layer in enumerate(model.layers):
        seen = trace[number]
        q = layer.query(x).unflatten(2, (3, 4)).transpose(1, 2)
        k, v = (
            each(x).unflatten(2, (1, 4)).transpose(1, 2).expand(-1, 3, -1, -1)
            for each in (layer.key, layer.value)
        )
        for found, expected in ((seen.q, q), (seen.k, k), (seen.v, v)):
            torch.testing.assert_close(found, expected)
            assert not found.requires_grad
        attended = layer(x, mask=mask, is_causal=True, need_weights=True)
        torch.testing.assert_close(seen.weights, attended.weights.detach())
        scores, weights = formula(seen.call)
        torch.testing.assert_close(seen.scores, scores, **EXACT_MATHS)
        torch.testing.assert_close(seen.weights, weights, **EXACT_MATHS)
        assert seen.weights.masked_fill(seen.allowed, 0.0).count_nonzero() == 0
        assert seen.allowed.sum() == 3 * (28 + (1 + 2 + 3 + 4 + 4 * 3))
        joined = seen.output.transpose(1, 2).flatten(2)
        torch.testing.assert_close(layer.output(joined), attended.output)
        x = torch.tanh(x + attended.output)
    torch.testing.assert_close(output, x)
    assert [(seen.layer, seen.name, seen.mechanism) for seen in trace] == [
        (0, "layers.0", mechanism),
        (1, "layers.1", mechanism),
    ]


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_chosen_layers_heads_and_rows(mechanism):
    model, x = Stack(mechanism, mechanism, mechanism, size=16, heads=4, kv_heads=2), sequence(size=16)
    with record(model) as whole:
        model(x, padding(), is_causal=True)
    with record(model, layers=[1], heads=[-1, 1], rows=[0, -2]) as trace:
        model(x, padding(), is_causal=True)
    (seen,) = trace
    assert (seen.layer, seen.heads, seen.rows) == (1, (3, 1), (0, 5))
    full = whole[1]
    for name in ("q", "scores", "weights", "output", "allowed"):
        expected = getattr(full, name)[:, [3, 1]][:, :, [0, 5]]
        torch.testing.assert_close(getattr(seen, name), expected, msg=name, **ONE_MODEL)
    for name in ("k", "v", "projected_values"):
        torch.testing.assert_close(getattr(seen, name), getattr(full, name)[:, [3, 1]], **ONE_MODEL)
    assert torch.equal(seen.projection, full.projection[[3, 1]])
    with pytest.raises(InputError, match="layer 2 was not recorded, only 1"):
        trace[2]


class Slopes(Position):
    """No parameters, and yet every head is another (Press et al. 2022)."""

    def scores(self, q, k, scale, places):
        slopes = 0.5 ** torch.arange(q.shape[1])[:, None, None]
        return q @ k.transpose(-1, -2) * scale - slopes * places.offsets().abs()


def test_heads_that_differ_without_parameters():
    model, x = Stack(Mechanism(ACTIVATIONS["softmax"](), Slopes(), {})), sequence()
    with record(model) as whole:
        model(x)
    with record(model, heads=[2]) as trace:
        model(x)
    torch.testing.assert_close(trace[0].weights, whole[0].weights[:, [2]], **ONE_MODEL)


class Largest(TorchDispatchMode):
    """The number of elements of the largest tensor that anything makes."""

    size = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        made = function(*args, **kwargs or {})
        if isinstance(made, torch.Tensor):
            self.size = max(self.size, made.numel())
        return made


@pytest.mark.parametrize("mechanism", ["softmax", "tanhmax+distance-aware"])
def test_chosen_rows_cost_only_themselves(mechanism):
    model, x = Stack(mechanism, size=8, heads=2), sequence(600, 8, batch=1)
    with torch.no_grad(), record(model, heads=[1], rows=[0]) as trace:
        model(x)
    with Largest() as largest:
        weights = trace[0].weights
    assert weights.shape == (1, 1, 1, 600)
    assert largest.size <= 2 * 4 * 600
    assert trace[0].call.q.untyped_storage().nbytes() <= 2 * 4 * 4


def test_nothing_quadratic_is_made_until_asked(monkeypatch):
    monkeypatch.setattr(
        attention_hooks, "run_kernel", lambda call, kernel: call.v * 1.0
    )  # a kernel that certainly makes no weights
    model, x = Stack("softmax", size=8, heads=2), sequence(600, 8, batch=1)
    with torch.no_grad(), Largest() as largest, record(model) as trace:
        model(x)
    assert largest.size == 600 * 8
    assert trace[0].weights is trace[0].weights
    assert trace[0].weights.shape == (1, 2, 600, 600)


def test_later_changes_reach_no_record():
    spec = {"activation": "tanhmax", "position": "distance-aware"}
    model, x, mask = Stack(spec), sequence(), padding()
    with record(model) as one:
        model(x, mask)
    expected = {name: getattr(one[0], name).clone() for name in ("weights", "projected_values", "projection")}
    with record(model) as trace:
        model(x, mask)
    with torch.no_grad():
        x.zero_()
        mask.fill_(True)
        for parameter in model.parameters():
            parameter.data.mul_(-3)
    for name, tensor in expected.items():
        torch.testing.assert_close(getattr(trace[0], name), tensor, **ONE_MODEL)
    with record(model) as after:
        model(x, mask)
    assert not torch.equal(after[0].projection, expected["projection"])


def test_parameters_that_stay_are_kept_once():
    model, x = Stack("shaw"), sequence()
    with record(model) as trace:
        model(x)
        model(x)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.add_(1.0)
        model(x)
    one, two, three = (each[0] for each in trace.passes)
    assert one.projection.data_ptr() == two.projection.data_ptr() != three.projection.data_ptr()
    tables = [next(each.call.mechanism.parameters()) for each in (one, two, three)]
    assert tables[0].data_ptr() == tables[1].data_ptr()
    assert torch.equal(tables[2], tables[0] + 1.0)
    assert not any(each.requires_grad for each in tables)


@pytest.mark.slow
def test_a_trace_does_not_hold_the_model():
    model = Stack("shaw", "softmax")
    with record(model) as trace:
        model(sequence())
    gone = weakref.ref(model.layers[0])
    del model
    gc.collect()
    assert gone() is None
    assert trace[0].weights.shape == (2, 3, 7, 7)


def test_inference_mode():
    model, x = Stack("shaw", "tanhmax"), sequence()
    with record(model) as expected:
        model(x, padding())
    with torch.inference_mode(), record(model, heads=[1]) as trace:
        model(x, padding())
    for seen, other in zip(trace, expected, strict=True):
        assert not any(each.is_inference() for each in (seen.q, seen.weights, seen.projection, seen.output))
        torch.testing.assert_close(seen.weights, other.weights[:, [1]])
        assert torch.equal(seen.projection, other.projection[[1]])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_weighed_in_float32(dtype):
    model = Stack("softmax").to(dtype)
    with torch.no_grad(), record(model) as trace:
        model(sequence().to(dtype))
    assert trace[0].q.dtype == trace[0].output.dtype == trace[0].projection.dtype == dtype
    assert trace[0].weights.dtype == trace[0].projected_values.dtype == torch.float32
    torch.testing.assert_close(trace[0].weights.sum(-1), torch.ones(2, 3, 7))


def test_dropout_and_its_random_numbers_stay():
    model, x = Stack("softmax", "tanhmax", dropout=0.5).train(), sequence()
    torch.manual_seed(3)
    expected = model(x)
    torch.manual_seed(3)
    with record(model) as trace:
        found = model(x)
    torch.testing.assert_close(found, expected, **ONE_MODEL)
    torch.testing.assert_close(trace[0].weights.sum(-1), torch.ones(2, 3, 7))


def test_one_module_called_many_times():
    model, given = plugged("albert", num_hidden_layers=3), FAMILIES["albert"].inputs([5, 8])
    with torch.no_grad(), record(model) as trace:
        model(**given)
    assert [seen.layer for seen in trace] == [0, 1, 2]
    assert len({seen.name for seen in trace}) == 1
    assert not torch.allclose(trace[0].weights, trace[2].weights, **ONE_MODEL)


def test_encoder_and_decoder_in_the_order_of_their_calls():
    model, given = plugged("t5"), FAMILIES["t5"].inputs([5, 8])
    with torch.no_grad(), record(model) as trace:
        model(**given)
    kinds = [seen.name.split(".")[0] + "." + seen.name.rsplit(".", 1)[1] for seen in trace]
    assert kinds == ["encoder.SelfAttention"] * 2 + ["decoder.SelfAttention", "decoder.EncDecAttention"] * 2
    assert [tuple(seen.weights.shape[2:]) for seen in trace] == [(8, 8)] * 2 + [(5, 5), (5, 8)] * 2


@pytest.mark.parametrize("name", ["gpt2", "llama"])
@torch.no_grad()
def test_generation_is_one_pass_per_token(name):
    model, ids = plugged(name, "tanhmax"), torch.tensor([[5, 9, 12, 7]])
    options = {"max_new_tokens": 3, "do_sample": False, "eos_token_id": None}
    with record(model, rows=[-1]) as trace:
        tokens = model.generate(ids, attention_mask=torch.ones_like(ids), **options)
    with pytest.raises(InputError, match=r"ran 3 times in the block: choose one, as in trace\.passes\[0\]"):
        trace[1]
    assert [each[1].weights.shape[-1] for each in trace.passes] == [4, 5, 6]
    with record(model, rows=[-1]) as whole:
        model(tokens[:, :-1])
    torch.testing.assert_close(trace.passes[2][1].weights, whole[1].weights, **ONE_MODEL)


@torch.no_grad()
def test_a_cache_that_fills_up_changes_no_record():
    model, ids = plugged("llama"), torch.tensor([[5, 9, 12, 7]])
    options = {"attention_mask": torch.ones_like(ids), "max_new_tokens": 3, "do_sample": False}
    with record(model) as growing:
        model.generate(ids, **options)
    with record(model) as static:
        model.generate(ids, **options, cache_implementation="static")
    for one, other in zip(growing.passes, static.passes, strict=True):
        real = one[1].k.shape[2]
        assert other[1].k.shape[2] > 4
        torch.testing.assert_close(other[1].weights[..., :real], one[1].weights, **ONE_MODEL)
        torch.testing.assert_close(other[1].k[:, :, :real], one[1].k, **ONE_MODEL)
        assert other[1].k[:, :, real:].count_nonzero() == 0
        assert other[1].weights[..., real:].count_nonzero() == 0


@torch.no_grad()
def test_an_encoder_called_alone_is_a_pass():
    model, ids = plugged("t5"), torch.tensor([[5, 9, 12, 7]])
    with record(model) as trace:
        for _ in range(2):
            model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=2, do_sample=False)
    assert [len(each) for each in trace.passes] == [2, 4, 4] * 2
    assert [each[0].name.split(".")[0] for each in trace.passes] == ["encoder", "decoder", "decoder"] * 2


def test_other_models_go_by_unseen():
    model, other, x = Stack("softmax"), Stack("tanhmax", "tanhmax"), sequence()
    with record(model) as trace, record(other) as others:
        other(x)
        model(x)
        other(x)
    assert [seen.mechanism for seen in trace] == ["softmax"]
    assert [len(each) for each in others.passes] == [2, 2]


def test_a_part_of_a_model_can_be_recorded():
    model, x = Stack("softmax", "tanhmax"), sequence()
    with record(model.layers[1]) as trace, record(model) as whole:
        model(x)
    assert (trace[0].layer, trace[0].name, trace[0].mechanism) == (0, "MultiHeadAttention", "tanhmax")
    torch.testing.assert_close(trace[0].weights, whole[1].weights, **ONE_MODEL)


def test_threads_do_not_mix():
    models = [Stack("softmax", "softmax"), Stack("tanhmax", "tanhmax", "tanhmax"), None]
    models[2] = models[0]  # one model in two threads
    found, barrier = {}, threading.Barrier(3)

    def work(number):
        x = sequence(batch=number + 1)
        barrier.wait()
        with record(models[number]) as trace:
            for _ in range(20):
                models[number](x)
        found[number] = trace

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    for number, layers in enumerate((2, 3, 2)):
        assert [len(each) for each in found[number].passes] == [layers] * 20
        assert {len(seen.q) for each in found[number].passes for seen in each} == {number + 1}
        torch.testing.assert_close(
            found[number].passes[7][1].projection,
            models[number].layers[1].output.weight.T.unflatten(0, (3, 4)).detach(),
        )
    assert (COMPILE_GUARD.blocks, COMPILE_GUARD.kernels) == (0, 0)
    assert all(hooks(each) == 0 for each in models)


@pytest.mark.slow
@pytest.mark.compiled
def test_compiled_models_run_as_written_in_the_block():
    model, x = Stack("softmax", "shaw"), sequence()
    compiled = torch.compile(model, backend="eager")
    expected = compiled(x)
    torch.testing.assert_close(torch.compile(model, backend="eager", fullgraph=True)(x), expected)
    with record(compiled) as trace:
        found = compiled(x)
    torch.testing.assert_close(found, expected)
    assert [seen.name for seen in trace] == ["_orig_mod.layers.0", "_orig_mod.layers.1"]
    assert trace[1].projection is not None
    assert eval_frame._stance.stance == "default"


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_nothing_is_left_after_an_exception(error):
    model, x = Stack("softmax"), sequence()

    def fail(*_):
        raise error

    handle = model.layers[0].output.register_forward_hook(fail)
    with pytest.raises(error), record(model) as trace:
        model(x)
    handle.remove()
    assert hooks(model) == 0
    assert ACTIVE_HOOKS.get() == ()
    assert (COMPILE_GUARD.blocks, COMPILE_GUARD.kernels) == (0, 0)
    assert trace[0].weights.shape == (2, 3, 7, 7)
    with record(model) as trace:
        model(x)
    assert len(trace) == 1


def test_a_pass_that_failed_does_not_swallow_the_next():
    model, x = Stack("softmax", "softmax"), sequence()
    with record(model) as trace:
        with pytest.raises(InputError, match="x must be"):
            model(x[..., :5])
        model(x)
    assert [len(each) for each in trace.passes] == [2]


def test_the_graph_can_be_kept():
    model, x = Stack("tanhmax", "softmax").double(), sequence().double()
    model.requires_grad_(False)  # nothing else would need gradients
    with record(model, keep_graph=True) as trace:
        loss = model(x, padding()).square().sum()
    weights = [seen.weights for seen in trace]
    found = torch.autograd.grad(loss, weights)
    # By hand for the second layer: ∂L/∂A = ∂L/∂O Vᵀ.
    last = model.layers[1]
    before = torch.tanh(x + last_input(model.layers[0], x, weights[0]))
    free = weights[1].detach().requires_grad_()
    output = last.output((free @ trace[1].v).transpose(1, 2).flatten(2))
    again = torch.tanh(before.detach() + output).square().sum()
    torch.testing.assert_close(again, loss)
    torch.testing.assert_close(torch.autograd.grad(again, free)[0], found[1])
    assert found[0].abs().max() > 0


def last_input(layer, x, weights):
    """The output of a layer from given weights."""
    v = layer.value(x).unflatten(2, (3, 4)).transpose(1, 2)
    return layer.output((weights @ v).transpose(1, 2).flatten(2))


def test_a_kept_graph_reaches_queries_scores_and_parameters():
    model, x = Stack("softmax"), sequence()
    with record(model, keep_graph=True) as trace:
        loss = model(x).sum()
    seen = trace[0]
    gradients = torch.autograd.grad(
        loss, [seen.q, seen.scores, seen.weights, seen.output, *model.parameters()]
    )
    assert all(each.isfinite().all() for each in gradients)
    assert all(each.abs().max() > 0 for each in gradients[:4])
    torch.testing.assert_close(gradients[2], gradients[3] @ seen.v.transpose(-1, -2))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"layers": [0, 2]}, "no attention layer 2: they are numbered 0 to 1"),
        ({"heads": [3]}, "there is no head 3: there are 3 heads"),
        ({"rows": [-8]}, "there is no row -8: there are 7 rows"),
        ({"heads": 3}, "heads must be whole numbers"),
        *(({"layers": each}, "list of numbers from 0") for each in ([-1], [], "12", 3, ["0"])),
        ({"rows": [0], "keep_graph": True}, "leave heads and rows out"),
        ({"keep_graph": True}, "no graph to keep"),
    ],
)
@torch.no_grad()
@pytest.mark.wrong_types
def test_wrong_use(options, said):
    model = Stack("softmax", "softmax")
    with pytest.raises(InputError, match=said), record(model, **options):
        model(sequence())
    assert hooks(model) == 0
    assert (COMPILE_GUARD.blocks, COMPILE_GUARD.kernels) == (0, 0)


def test_nothing_to_see():
    model, x = Stack("softmax"), sequence()
    with (
        pytest.raises(InputError, match=r"no attention of Stack ran in the block: call plug\(model"),
        record(model),
    ):
        pass
    with record(model) as trace:
        with pytest.raises(InputError, match="nothing has been recorded yet"):
            trace[0]
        model(x)


def test_an_unplugged_model_is_refused():
    model = FAMILIES["bert"].build()
    with pytest.raises(InputError, match="no attention of BertModel ran in the block"), record(model):
        model(**FAMILIES["bert"].inputs([4]))


def test_gradient_checkpointing_is_refused_in_training():
    model, given = plugged("bert"), FAMILIES["bert"].inputs([4])
    model.activation_checkpointing_enable()
    with record(model) as trace:
        model(**given)
    assert len(trace) == 2
    model.train()
    with pytest.raises(InputError, match="activation_checkpointing_disable"), record(model):
        model(**given)


def test_nested_records_see_the_same():
    model, x = Stack("softmax"), sequence()
    with record(model) as outer:
        with record(model, rows=[1]) as inner:
            model(x)
        model(x)
    assert len(outer.passes) == 2
    torch.testing.assert_close(inner[0].weights, outer.passes[0][0].weights[:, :, [1]], **ONE_MODEL)


def test_weights_handed_on_are_recorded_too():
    layer, x = MultiHeadAttention(12, 3), sequence()
    with record(layer) as trace:
        given = layer(x, need_weights=True).weights
    torch.testing.assert_close(trace[0].weights, given.detach())


def test_kernels_that_are_compiled_stay_so_in_the_block(monkeypatch):
    model, x, stances = Stack("softmax"), sequence(), []

    def kernel(call, kernel):
        stances.append(eval_frame._stance.stance)
        return call.v * 1.0

    monkeypatch.setattr(attention_hooks, "run_kernel", kernel)
    with record(model):
        stances.append(eval_frame._stance.stance)
        model(x)
        stances.append(eval_frame._stance.stance)
    assert [*stances, eval_frame._stance.stance] == ["force_eager", "default", "force_eager", "default"]


def test_the_stance_goes_with_the_last_block():
    # Blocks of two threads need not close in the order of a stack.
    first, second = COMPILE_GUARD.eager(), COMPILE_GUARD.eager()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert eval_frame._stance.stance == "force_eager"
    second.__exit__(None, None, None)
    assert eval_frame._stance.stance == "default"

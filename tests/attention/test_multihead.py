"""The multi-head layer against its formulas, written out token by token."""

import math

import pytest
import torch

from glasshead.attention import ACTIVE_HOOKS, Mask, MultiHeadAttention, mechanism
from glasshead.errors import InputError
from glasshead.trace import intervene, record, uniform
from tolerances import EXACT_MATHS

BATCH, LENGTH, SIZE = 2, 5, 6


def layer(heads=3, *arguments, **options):
    torch.manual_seed(heads)
    made = MultiHeadAttention(SIZE, heads, *arguments, **options).double().eval()
    with torch.no_grad():
        for linear in (made.query, made.key, made.value, made.output):
            if linear.bias is not None:
                linear.bias.normal_()
    return made


def sequence(length=LENGTH, size=SIZE, seed=0):
    return torch.randn(
        BATCH, length, size, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)
    )


def by_loops(made, x, z, may_attend=lambda s, t: True):
    """q_s = W_q e_s + b_q and so on; A_st = exp(q_s·k_t / √d) / Σ_u exp(q_s·k_u / √d); ṽ_s = Σ_t A_st v_t."""

    def projected(linear, e, head, heads):
        size = linear.out_features // heads
        rows = slice(head * size, (head + 1) * size)
        return linear.weight[rows] @ e + linear.bias[rows]

    output = torch.zeros(*x.shape[:2], SIZE, dtype=torch.float64)
    share = made.num_heads // made.kv_heads
    for b in range(x.shape[0]):
        for s in range(x.shape[1]):
            joined = []
            for head in range(made.num_heads):
                q = projected(made.query, x[b, s], head, made.num_heads)
                scores = {}
                for t in range(z.shape[1]):
                    if may_attend(s, t):
                        k = projected(made.key, z[b, t], head // share, made.kv_heads)
                        scores[t] = torch.exp(sum(q * k) / math.sqrt(made.head_dim))
                total = sum(scores.values())
                joined.append(
                    sum(
                        score / total * projected(made.value, z[b, t], head // share, made.kv_heads)
                        for t, score in scores.items()
                    )
                )
            heads = sum(joined) if made.head_combination == "add" else torch.cat(joined)
            output[b, s] = made.output.weight @ heads + made.output.bias
    return output.detach()


SHAPES = {
    "d_k = d_v = d_e / H": {},
    "small keys": {"head_dim": 1},
    "large keys and values": {"head_dim": 7, "value_dim": 9},
    "added": {"head_combination": "add"},
    "added, small keys": {"head_combination": "add", "head_dim": 1},
    "one key head": {"kv_heads": 1},
    "one key head, added": {"kv_heads": 1, "head_combination": "add"},
}
every_shape = pytest.mark.parametrize("options", SHAPES.values(), ids=SHAPES)


@every_shape
def test_self_attention_by_loops(options):
    made, x = layer(**options), sequence()
    torch.testing.assert_close(made(x).output, by_loops(made, x, x), **EXACT_MATHS)


@every_shape
def test_masked_self_attention_by_loops(options):
    """Causal: token s reads tokens t ≤ s, itself included."""
    made, x = layer(**options), sequence()
    expected = by_loops(made, x, x, lambda s, t: t <= s)
    torch.testing.assert_close(made(x, is_causal=True).output, expected, **EXACT_MATHS)


@every_shape
@pytest.mark.parametrize("length", [1, 3, LENGTH])
def test_cross_attention_by_loops(options, length):
    made, x, context = layer(context_size=4, **options), sequence(), sequence(length, 4, seed=1)
    torch.testing.assert_close(made(x, context).output, by_loops(made, x, context), **EXACT_MATHS)


def test_the_first_token_of_a_causal_layer_attends_to_itself():
    weights = layer()(sequence(), is_causal=True, need_weights=True).weights
    assert (weights[:, :, 0, 0] == 1).all()
    assert (weights[:, :, 0, 1:] == 0).all()
    assert (weights.diagonal(dim1=-2, dim2=-1) > 0).all()


def test_concatenation_with_a_projection_is_a_sum_over_heads():
    """[A_1 V_1 … A_H V_H] D = Σ_h A_h V_h D_h (Bhardwaj et al. 2021, section 2.2)."""
    made, x = layer(value_dim=4), sequence()
    attended = made(x, need_weights=True)
    values = made.value(x).unflatten(2, (3, 4)).transpose(1, 2)
    total = made.output.bias.expand(BATCH, LENGTH, SIZE)
    for head in range(3):
        projection = made.output.weight[:, 4 * head : 4 * (head + 1)].T
        total = total + attended.weights[:, head] @ (values[:, head] @ projection)
    torch.testing.assert_close(attended.output, total, **EXACT_MATHS)


def test_added_heads_are_concatenated_heads_with_the_projection_in_their_values():
    """(Σ_h A_h V_h) D with V_h := V'_h D'_h and D := 1: addition loses nothing that a D_h each can do."""
    concat, x = layer(), sequence()
    added = layer(head_combination="add")
    with torch.no_grad():
        for linear, source in ((added.query, concat.query), (added.key, concat.key)):
            linear.load_state_dict(source.state_dict())
        for head in range(3):
            rows, wide = slice(2 * head, 2 * (head + 1)), slice(SIZE * head, SIZE * (head + 1))
            projection = concat.output.weight[:, rows]
            added.value.weight[wide] = projection @ concat.value.weight[rows]
            added.value.bias[wide] = projection @ concat.value.bias[rows]
        added.output.weight.copy_(torch.eye(SIZE))
        added.output.bias.copy_(concat.output.bias)
    torch.testing.assert_close(added(x).output, concat(x).output, **EXACT_MATHS)


def test_sizes():
    """Summed heads have d_v = d_e and one D of d_e × d_e; d_k is d_e / H and free."""
    added = MultiHeadAttention(12, 3, head_combination="sum")
    assert (added.head_dim, added.value_dim) == (4, 12)
    assert added.value.weight.shape == (36, 12)
    assert added.output.weight.shape == (12, 12)
    free = MultiHeadAttention(10, 3, head_dim=2, value_dim=5, bias=False)
    assert free.output.weight.shape == (10, 15)
    assert [name for name, _ in free.named_parameters() if name.endswith("bias")] == []
    grouped = MultiHeadAttention(12, 6, kv_heads=2)
    assert grouped.key.weight.shape == grouped.value.weight.shape == (4, 12)
    assert str(grouped).startswith("MultiHeadAttention(\n  num_heads=6, d_k=2, d_v=2, dropout=0.0")


def test_initial_values():
    """Glorot-uniform: |w| ≤ √(6 / (fan_in + fan_out)), and reset_parameters draws again."""
    made = MultiHeadAttention(30, 3)
    before = made.value.weight.clone()
    made.reset_parameters()
    for linear in (made.query, made.key, made.value, made.output):
        bound = math.sqrt(6 / 60)
        assert float(linear.weight.detach().abs().max()) <= bound
        assert float(linear.weight.detach().std()) == pytest.approx(bound / math.sqrt(3), rel=0.05)
        assert linear.bias.count_nonzero() == 0
    assert not torch.equal(before, made.value.weight)


@pytest.mark.parametrize("spec", ["softmax", "tanhmax"])
@pytest.mark.parametrize("head_combination", ["concat", "add"])
def test_padding_never_matters(spec, head_combination):
    """What stands behind the padding changes nothing, and gets weight 0."""
    made, x = layer(3, spec, head_combination=head_combination), sequence()
    real = torch.tensor([[True] * 5, [True, True, True, False, False]])
    poisoned = torch.where(real[:, :, None], x, 1e6)
    clean, other = (made(each, mask=real, need_weights=True) for each in (x, poisoned))
    torch.testing.assert_close(clean.output[real], other.output[real], **EXACT_MATHS)
    assert clean.weights.transpose(1, 3)[~real].count_nonzero() == 0
    alone = made(x[1:, :3]).output
    torch.testing.assert_close(clean.output[1:, :3], alone, **EXACT_MATHS)


def test_padding_in_a_batch_of_as_many_sequences_as_tokens():
    """[B, K] with B = Q looks like [Q, K]; a layer takes it for padding, whatever the batch."""
    made, x = layer(), sequence()[:, :BATCH]
    real = torch.tensor([[True, False], [True, True]])
    found = made(x, mask=real, need_weights=True).weights
    assert found[0, :, :, 1].count_nonzero() == 0
    assert found[1, :, :, 1].count_nonzero() == found[1, :, :, 1].numel()


def test_any_mechanism_changes_the_weights():
    made, x = layer(3, "tanhmax"), sequence()
    found = made(x, need_weights=True)
    q, k = (each(x).unflatten(2, (3, 2)).transpose(1, 2) for each in (made.query, made.key))
    scores = q @ k.transpose(2, 3) / math.sqrt(2)
    total = 2 * scores.cosh().sum(dim=-1, keepdim=True)
    torch.testing.assert_close(found.weights, 2 * scores.sinh() / total, **EXACT_MATHS)
    assert (found.weights < 0).any()


def test_a_built_mechanism_is_taken_as_it_is():
    built = mechanism("tanhmax")
    assert layer(3, built).mechanism is built
    assert layer(3, {"activation": "tanhmax"}).mechanism.name == "tanhmax"


def test_dropout_only_in_training():
    torch.manual_seed(0)
    made, x = layer(dropout=0.5), sequence()[:1].expand(4000, -1, -1)
    expected = layer()(x).output
    torch.testing.assert_close(made(x).output, expected, **EXACT_MATHS)
    draws = made.train()(x).output
    assert not torch.allclose(draws[0], draws[1])
    # Its mean is the value without dropout.
    error = draws.std(dim=0) / math.sqrt(len(draws))
    assert ((draws.mean(dim=0) - expected[0]).abs() < 5 * error).all()


def test_weights_are_those_before_dropout():
    made, x = layer(dropout=0.9).train(), sequence()
    weights = made(x, need_weights=True).weights
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones_like(weights[..., 0]), **EXACT_MATHS)


class Halved:
    """A hook that halves the weights and remembers what it saw."""

    def before(self, flow):
        self.module = flow.module
        flow.weights = flow.compute_weights() / 2

    def after(self, flow, output):
        self.make_record = output


@pytest.mark.parametrize("need_weights", [False, True])
def test_calls_go_through_the_taps(need_weights):
    made, x, hook = layer(), sequence(), Halved()
    plain = made(x, need_weights=True)
    token = ACTIVE_HOOKS.set((hook,))
    try:
        found = made(x, need_weights=need_weights)
    finally:
        ACTIVE_HOOKS.reset(token)
    assert hook.module is made
    assert hook.make_record.shape == (BATCH, 3, LENGTH, 2)
    bias = made.output.bias
    torch.testing.assert_close(found.output - bias, (plain.output - bias) / 2, **EXACT_MATHS)
    if need_weights:
        torch.testing.assert_close(found.weights, plain.weights / 2, **EXACT_MATHS)


@pytest.mark.parametrize("rows", [slice(None), slice(1, 3)])
@pytest.mark.parametrize("spec", ["softmax", "tanhmax", "distance-aware"])
@pytest.mark.parametrize(
    "options", [{"value_dim": 4}, {"head_combination": "add"}, {"head_combination": "add", "kv_heads": 1}]
)
def test_a_layer_can_be_recorded(options, spec, rows):
    """Σ_h A_h T_h + b is the output, with T_h = V_h D_h; summed heads share D. Recording changes nothing."""
    made, x = layer(3, spec, **options), sequence()
    real = torch.tensor([[True] * 5, [True, True, False, True, False]])
    plain = made(x, mask=real, rows=rows).output
    with record(made) as trace:
        output = made(x, mask=real, rows=rows).output
    torch.testing.assert_close(output, plain, **EXACT_MATHS)
    heads = trace[0]
    assert heads.projection.shape == (3, made.value_dim, SIZE)
    summed = (heads.weights @ heads.projected_values).sum(dim=1)
    torch.testing.assert_close(output, summed + made.output.bias, **EXACT_MATHS)


@pytest.mark.parametrize("rows", [slice(None), slice(0, 1)])
def test_edited_weights_of_added_heads_make_the_output(rows):
    made, x = layer(head_combination="add"), sequence()
    with intervene(made, uniform), record(made) as trace:
        found = made(x, rows=rows).output
    mean = made.value(x).unflatten(2, (3, SIZE)).mean(dim=1).sum(dim=1)
    torch.testing.assert_close(found, made.output(mean)[:, None].expand_as(found), **EXACT_MATHS)
    torch.testing.assert_close(
        found, (trace[0].weights @ trace[0].projected_values).sum(dim=1) + made.output.bias, **EXACT_MATHS
    )


@pytest.mark.parametrize("length", [0, 4])
@pytest.mark.parametrize("keys", [0, 3])
def test_empty_sequences(length, keys):
    made, x, context = layer(), sequence(length), sequence(keys)
    found = made(x, context, need_weights=True)
    assert found.output.shape == (BATCH, length, SIZE)
    assert found.weights.shape == (BATCH, 3, length, keys)
    if keys == 0:
        torch.testing.assert_close(found.output, made.output.bias.expand_as(found.output))


@pytest.mark.parametrize("options", [{}, {"head_combination": "add", "head_dim": 2, "kv_heads": 1}])
def test_gradcheck(options):
    made, x = layer(3, "tanhmax", **options), sequence(3)[:1].requires_grad_()
    assert torch.autograd.gradcheck(lambda each: made(each, is_causal=True).output, x)


def test_half_precision_and_autocast():
    made, x = layer().float(), sequence().float()
    expected = made(x).output
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = made(x, need_weights=True)
    assert found.output.dtype == found.weights.dtype == torch.bfloat16
    torch.testing.assert_close(found.output.float(), expected, rtol=0.05, atol=0.05)
    torch.testing.assert_close(made.bfloat16()(x.bfloat16()).output.float(), expected, rtol=0.05, atol=0.05)


def test_a_layer_saves_and_loads():
    one = layer()
    other = MultiHeadAttention(SIZE, 3).double()
    other.load_state_dict(one.state_dict())
    torch.testing.assert_close(one(sequence()).output, other(sequence()).output, **EXACT_MATHS)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"head_combination": "add", "value_dim": 2},
            r"summed heads have the size 6 of the layer, not 2: leave `value_dim` out",
        ),
        ({"head_combination": "mean"}, "`head_combination` must be concat or sum, not 'mean'"),
        ({"num_heads": 4}, "4 heads do not divide the size 6: give `head_dim`"),
        ({"num_heads": 4, "head_dim": 2}, "4 heads do not divide the size 6: give `value_dim`"),
        ({"kv_heads": 2}, "3 query heads cannot share 2 key heads"),
        ({"kv_heads": 0}, "3 query heads cannot share 0 key heads"),
        ({"num_heads": 0}, "0 query heads cannot share 0 key heads"),
        ({"head_dim": 0}, "`head_dim` must be at least 1, not 0"),
        ({"dropout": 1.0}, r"`dropout` must be a probability in \[0, 1\), not 1.0"),
        ({"mechanism": "tanhmx"}, "did you mean 'tanhmax'"),
    ],
)
@pytest.mark.wrong_types
def test_wrong_sizes(arguments, message):
    with pytest.raises(InputError, match=message):
        MultiHeadAttention(**{"size": 6, "num_heads": 3} | arguments)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda made: made(sequence(size=4)), r"x must be \[batch, length, 6\], not \[2, 5, 4\]"),
        (lambda made: made(sequence()[0]), r"x must be \[batch, length, 6\], not \[5, 6\]"),
        (lambda made: made(sequence(), sequence(size=4)), r"context must be \[batch, length, 6\]"),
        (lambda made: made(sequence(), sequence()[:1]), "q, k and v must have one batch size"),
        (
            lambda made: made(sequence(), mask=torch.ones(5, 5, dtype=torch.bool)),
            r"padding \[batch, keys\] = \[2, 5\], not \[5, 5\]: give pairs .* as mask\[None, None\]",
        ),
        (lambda made: made(sequence(), mask=torch.ones(2, 5)), "boolean tensor"),
        (lambda made: made(sequence(), sequence(), is_causal=True), "no meaning across two sequences"),
    ],
)
@pytest.mark.wrong_types
def test_wrong_calls(call, message):
    with pytest.raises(InputError, match=message):
        call(layer())


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["softmax", "tanhmax", "distance-aware"])
@torch.no_grad()
def test_a_compiled_layer_reads_texts_of_any_length(spec):
    """The second length makes lengths unknown numbers to the compiler, which then reads no range."""
    torch._dynamo.reset()
    made = layer(3, spec)
    compiled = torch.compile(made, backend="eager")
    for length in (5, 3):
        x, real = sequence(length), torch.arange(length) < torch.tensor([[length], [2]])
        # The rows of padding mean nothing, and where positions are counted, as when compiled, they move.
        for options, rows in (({"is_causal": True}, torch.ones_like(real)), ({"mask": real}, real)):
            found, expected = compiled(x, **options).output, made(x, **options).output
            torch.testing.assert_close(found[rows], expected[rows])


def test_a_layer_for_another_width_needs_its_context():
    with pytest.raises(InputError, match=r"reads a context \[batch, length, 4\]: give it one"):
        layer(context_size=4)(sequence())


def test_a_mask_may_say_where_the_queries_of_another_tensor_stand():
    """Decoding: the queries are the last tokens of the context."""
    made, x = layer(), sequence()
    whole = made(x, is_causal=True).output
    last = made(x[:, 3:], x, mask=Mask(2, 5, causal=True, query_positions=range(3, 5))).output
    torch.testing.assert_close(last, whole[:, 3:], **EXACT_MATHS)

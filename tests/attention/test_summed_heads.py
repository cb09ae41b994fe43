"""Summed heads, and chosen rows, against heads one by one: values and gradients."""

import pytest
import torch

from glasshead.attention import Mask, MultiHeadAttention
from glasshead.attention.kernels import blockwise
from glasshead.attention.kernels import summed_heads as ways
from tolerances import EXACT_MATHS, ONE_FORMULA

BATCH, LENGTH, SIZE = 3, 7, 12
MECHANISMS = (
    "softmax",
    "tanhmax",
    "relu",
    "cosformer",
    "distance-aware",
    "tanhmax+distance-aware",
    "shaw",
    "transformer-xl",
    "tener",
    {"position": {"name": "distance-aware", "adjust": "late-multiply"}},
    {"position": {"name": "distance-aware", "adjust": "late-add"}},
)
every_mechanism = pytest.mark.parametrize("spec", MECHANISMS, ids=str)
REAL = torch.tensor(
    [[True] * 7, [True, True, False, True, True, False, False], [False, False, True, True, True, True, False]]
)
MASKS = {
    "all": {},
    "padding with holes": {"mask": REAL},
    "causal": {"is_causal": True},
    "causal and padded": {"mask": REAL, "is_causal": True},
    "pairs": {"mask": torch.rand(BATCH, 4, LENGTH, LENGTH, generator=torch.Generator().manual_seed(3)) > 0.4},
}
every_mask = pytest.mark.parametrize("options", MASKS.values(), ids=MASKS)


def layer(spec="softmax", **options):
    torch.manual_seed(0)
    made = MultiHeadAttention(SIZE, 4, spec, **{"head_combination": "add", "head_dim": 4, **options}).double()
    with torch.no_grad():
        for each in made.parameters():
            each.copy_(torch.randn_like(each) / 2)
    return made


def sequence(length=LENGTH, batch=BATCH, seed=1):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(batch, length, SIZE, dtype=torch.float64, generator=generator).requires_grad_()


def one_by_one(made, x, context=None, **options):
    """The slow twin: weights, values and outputs of every head, their sum, D."""
    weights = made(x, context, need_weights=True, **options).weights
    source = x if context is None else context
    output = 0
    for head in range(made.num_heads):
        group = head // (made.num_heads // made.kv_heads)
        rows = slice(group * SIZE, (group + 1) * SIZE)
        values = source @ made.value.weight[rows].T + made.value.bias[rows]
        output = output + weights[:, head] @ values
    return made.output(output)


def gradients(output, made, *inputs):
    along = torch.randn(output.shape, dtype=output.dtype, generator=torch.Generator().manual_seed(5))
    parameters = dict(made.named_parameters()) | {f"input {n}": each for n, each in enumerate(inputs)}
    found = torch.autograd.grad(output, list(parameters.values()), along, allow_unused=True)
    return {
        name: torch.zeros_like(each) if one is None else one
        for (name, each), one in zip(parameters.items(), found, strict=True)
    }


def same(found, expected, made, *inputs):
    torch.testing.assert_close(found, expected, **EXACT_MATHS)
    torch.testing.assert_close(
        gradients(found, made, *inputs), gradients(expected, made, *inputs), **ONE_FORMULA
    )


def blocks_of(monkeypatch, rows):
    """So few rows at a time, as if texts were long."""
    monkeypatch.setattr(ways, "is_small", lambda call: False)
    monkeypatch.setattr(ways, "block_rows", lambda call: rows)
    assert blockwise.blockwise_rows is not ways.block_rows


@every_mask
@pytest.mark.parametrize("spec", [each for each in MECHANISMS if each != "shaw"], ids=str)
def test_added_heads_are_the_heads_one_by_one(spec, options):
    made, x = layer(spec), sequence()
    same(made(x, **options).output, one_by_one(made, x, **options), made, x)


def test_relative_values_are_added_for_every_head():
    made, x = layer("shaw"), sequence()
    same(
        made(x, mask=REAL).output,
        made(x, mask=REAL, need_weights=True).output,
        made,
        x,
    )
    without = one_by_one(made, x, mask=REAL)
    assert (made(x, mask=REAL).output - without).abs().max() > 0.1


@pytest.mark.parametrize("kv_heads", [1, 2, 4])
@pytest.mark.parametrize("rows", [slice(None), slice(1, 3)])
def test_heads_that_share_values(kv_heads, rows):
    made, x = layer(kv_heads=kv_heads), sequence()
    same(made(x, mask=REAL, rows=rows).output, one_by_one(made, x, mask=REAL)[:, rows], made, x)


@pytest.mark.parametrize("keys", [3, 5, 9, 15])
@pytest.mark.parametrize("queries", [1, 5])
def test_across_two_sequences_of_any_length(queries, keys):
    """15 keys are more than the 12 value numbers: heads go one by one."""
    made, x, context = layer(), sequence(queries), sequence(keys, seed=2)
    same(made(x, context).output, one_by_one(made, x, context), made, x, context)


@every_mask
@pytest.mark.parametrize("spec", ["softmax", "tanhmax", "distance-aware"])
@pytest.mark.parametrize("rows", [slice(None), slice(2, 7)])
def test_blocks_of_rows_change_nothing(monkeypatch, spec, options, rows):
    made, x = layer(spec), sequence()
    expected = one_by_one(made, x, **options)[:, rows]
    blocks_of(monkeypatch, 2)
    same(made(x, rows=rows, **options).output, expected, made, x)
    with torch.no_grad():
        torch.testing.assert_close(made(x, rows=rows, **options).output, expected, **EXACT_MATHS)


def test_long_texts_hold_no_matrix(monkeypatch):
    """Beyond the value size by a kernel, below it in blocks: never the whole matrix of weights."""
    blocks_of(monkeypatch, 2)
    seen = []
    for name in ("sum_heads_block", "project_block"):
        compute = getattr(ways, name)

        def watched(call, *others, compute=compute):
            seen.append(call.q.shape[2])
            return compute(call, *others)

        monkeypatch.setattr(ways, name, watched)
    made, x = layer(), sequence()
    made(x).output.sum().backward()
    made(x, rows=slice(0, 5)).output.sum().backward()
    assert seen
    assert max(seen) == 2


@pytest.mark.parametrize("rows", [slice(None), slice(0, 2)])
def test_dropout_is_that_of_the_weights(rows):
    """The same random numbers drop the same weights, whichever way the sum is computed."""
    made, x = layer(dropout=0.5).train(), sequence()
    torch.manual_seed(4)
    found = made(x, mask=REAL, rows=rows).output
    torch.manual_seed(4)
    expected = made(x, mask=REAL, rows=rows, need_weights=True).output
    same(found, expected, made, x)
    assert not torch.equal(found, made(x, mask=REAL, rows=rows).output)


ROWS = (slice(0, 1), slice(-2, None), slice(1, None, 3))


@pytest.mark.parametrize(
    ("spec", "options", "head_combination", "rows"),
    [
        (spec, options, combination, ROWS[(10 * number + 2 * place + added) % 3])
        for number, spec in enumerate(MECHANISMS)
        for place, options in enumerate(MASKS.values())
        for added, combination in enumerate(("concat", "add"))
    ],
    ids=str,
)
def test_chosen_rows_are_rows_of_the_whole(spec, options, head_combination, rows):
    made, x = layer(spec, head_combination=head_combination), sequence()
    whole, some = made(x, need_weights=True, **options), made(x, rows=rows, need_weights=True, **options)
    torch.testing.assert_close(some.output, whole.output[:, rows], **EXACT_MATHS)
    torch.testing.assert_close(some.weights, whole.weights[:, :, rows], **EXACT_MATHS)
    torch.testing.assert_close(made(x, rows=rows, **options).output, whole.output[:, rows], **EXACT_MATHS)


@pytest.mark.parametrize("head_combination", ["add", "concat"])
@every_mechanism
def test_gradients_through_chosen_rows(spec, head_combination):
    made, x = layer(spec, head_combination=head_combination), sequence()
    rows = slice(0, 1)
    same(made(x, mask=REAL, rows=rows).output, made(x, mask=REAL).output[:, rows], made, x)


def test_only_the_chosen_queries_are_made():
    made, seen = layer(), {}
    for name in ("query", "key", "value", "output"):
        getattr(made, name).register_forward_hook(
            lambda module, given, output, name=name: seen.update({name: output.shape[1]})
        )
    made(sequence(), rows=slice(0, 1))
    # Whom somebody listens to is called; else one query asks tokens, not keys, and reads them, not values.
    assert seen == {"query": 1, "key": 7, "value": 7, "output": 1}


def test_rows_of_a_mask_that_says_where_they_stand():
    """Decoding: the queries are the last tokens of the context, of which one is wanted."""
    made, x = layer("distance-aware"), sequence()
    mask = Mask(3, LENGTH, causal=True, query_positions=range(4, 7))
    last = made(x[:, 4:], x, mask=mask, rows=slice(2, 3)).output
    torch.testing.assert_close(last, made(x, is_causal=True).output[:, 6:], **EXACT_MATHS)


@pytest.mark.parametrize("rows", [slice(None), slice(0, 1)])
def test_half_precision_and_autocast(rows):
    made, x = layer().float(), sequence().detach().float()
    expected = made(x, rows=rows).output
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = made(x, rows=rows).output
    assert found.dtype == torch.bfloat16
    size = expected.abs().max()
    assert (found.float() - expected).abs().max() < 0.03 * size
    assert (made.bfloat16()(x.bfloat16(), rows=rows).output.float() - expected).abs().max() < 0.03 * size


def test_no_tokens_at_all():
    made = layer()
    assert made(sequence(), rows=slice(3, 3)).output.shape == (BATCH, 0, SIZE)
    assert made(sequence(0)).output.shape == (BATCH, 0, SIZE)
    nothing = made(sequence(2), sequence(0)).output
    torch.testing.assert_close(nothing, made.output.bias.expand_as(nothing))

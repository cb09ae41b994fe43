"""Our multi-head layer against `torch.nn.MultiheadAttention` with the same weights."""

import pytest
import torch

from glasshead.attention import MultiHeadAttention
from tolerances import EXACT_MATHS

SIZE, HEADS, BATCH, LENGTH = 12, 3, 4, 7


def twins(context_size=SIZE, bias=True):
    """Torch's layer and ours, in float64, with copied weights."""
    torch.manual_seed(0)
    torchs = torch.nn.MultiheadAttention(
        SIZE, HEADS, bias=bias, kdim=context_size, vdim=context_size, batch_first=True, dtype=torch.float64
    )
    ours = MultiHeadAttention(SIZE, HEADS, context_size=context_size, bias=bias).double()
    if torchs.in_proj_weight is None:
        weights = (torchs.q_proj_weight, torchs.k_proj_weight, torchs.v_proj_weight)
    else:
        weights = torchs.in_proj_weight.chunk(3)
    with torch.no_grad():
        for linear, weight in zip((ours.query, ours.key, ours.value), weights, strict=True):
            linear.weight.copy_(weight)
        ours.output.weight.copy_(torchs.out_proj.weight)
        if bias:  # torch starts them at 0, which would hide a mix-up
            torchs.in_proj_bias.normal_()
            torchs.out_proj.bias.normal_()
            biases = torchs.in_proj_bias.chunk(3)
            for linear, values in zip((ours.query, ours.key, ours.value), biases, strict=True):
                linear.bias.copy_(values)
            ours.output.bias.copy_(torchs.out_proj.bias)
    return torchs, ours


def sequence(length=LENGTH, size=SIZE):
    return torch.randn(BATCH, length, size, dtype=torch.float64, requires_grad=True)


def padding(length=LENGTH):
    lengths = torch.tensor([length, length - 1, 3, 1])
    return torch.arange(length) < lengths[:, None]


MASKS = {
    "everything": ({}, {}),
    "padding": ({"mask": padding()}, {"key_padding_mask": ~padding()}),
    "causal": (
        {"is_causal": True},
        {"attn_mask": torch.ones(LENGTH, LENGTH, dtype=torch.bool).triu(1)},
    ),
    "both": (
        {"mask": padding(), "is_causal": True},
        {
            "key_padding_mask": ~padding(),
            "attn_mask": torch.ones(LENGTH, LENGTH, dtype=torch.bool).triu(1),
        },
    ),
    "pairs": (
        {"mask": torch.eye(LENGTH, dtype=torch.bool).roll(1, 0)[None, None]},
        {"attn_mask": ~torch.eye(LENGTH, dtype=torch.bool).roll(1, 0)},
    ),
}


@pytest.mark.parametrize("bias", [True, False], ids=["bias", "no bias"])
@pytest.mark.parametrize("mask", MASKS)
def test_self_attention(mask, bias):
    torchs, ours = twins(bias=bias)
    x = sequence()
    given, torch_given = MASKS[mask]
    expected, expected_weights = torchs(x, x, x, average_attn_weights=False, **torch_given)
    found = ours(x, need_weights=True, **given)
    torch.testing.assert_close(found.output, expected, **EXACT_MATHS)
    torch.testing.assert_close(found.weights, expected_weights, **EXACT_MATHS)
    torch.testing.assert_close(ours(x, **given).output, expected, **EXACT_MATHS)


def test_gradients_of_everything():
    torchs, ours = twins()
    x = sequence()
    given, torch_given = MASKS["both"]
    upstream = torch.randn(BATCH, LENGTH, SIZE, dtype=torch.float64)
    theirs = [x, torchs.in_proj_weight, torchs.in_proj_bias, torchs.out_proj.weight, torchs.out_proj.bias]
    expected = torch.autograd.grad((torchs(x, x, x, **torch_given)[0] * upstream).sum(), theirs)
    maps = (ours.query, ours.key, ours.value)
    mine = [x, *(each.weight for each in maps), *(each.bias for each in maps), *ours.output.parameters()]
    found = torch.autograd.grad((ours(x, **given).output * upstream).sum(), mine)
    joined = [found[0], torch.cat(found[1:4]), torch.cat(found[4:7]), *found[7:]]
    for one, other in zip(joined, expected, strict=True):
        torch.testing.assert_close(one, other, **EXACT_MATHS)


@pytest.mark.parametrize("context_size", [SIZE, 5])
@pytest.mark.parametrize("queries", [LENGTH, 2])
def test_cross_attention(context_size, queries):
    torchs, ours = twins(context_size)
    x, context = sequence(queries), sequence(size=context_size)
    expected, weights = torchs(x, context, context, key_padding_mask=~padding(), average_attn_weights=False)
    found = ours(x, context, mask=padding(), need_weights=True)
    torch.testing.assert_close(found.output, expected, **EXACT_MATHS)
    torch.testing.assert_close(found.weights, weights, **EXACT_MATHS)

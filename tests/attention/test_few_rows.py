"""Few queries ask tokens without keys and values of them: the numbers are those with both."""

from unittest.mock import patch

import pytest
import torch
from torch.nn.utils.parametrize import register_parametrization

from glasshead.attention import MECHANISM_PRESETS, MultiHeadAttention
from glasshead.attention.kernels.few_rows import pays
from glasshead.trace import record
from tolerances import EXACT_MATHS

REAL = torch.ones(3, 20, dtype=torch.bool).index_fill(1, torch.arange(12, 20), False)
REAL[0] = True
MASKS = {"all": {}, "padded": {"mask": REAL}, "causal": {"is_causal": True}}


def layer(attention="softmax", combination="concat", kv_heads=8, dropout=0.0):
    torch.manual_seed(0)
    sizes = {"head_dim": 24, "value_dim": None if combination == "add" else 12, "kv_heads": kv_heads}
    made = MultiHeadAttention(
        64, 8, attention, head_combination=combination, dropout=dropout, **sizes
    ).double()
    for parameter in made.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    return made


def outputs(made, few, rows=slice(0, 1), **options):
    """Output and gradients, by few rows or not."""
    torch.manual_seed(1)
    x = torch.randn(3, 20, 64, dtype=torch.float64, requires_grad=True)
    with patch.object(MultiHeadAttention, "asks_few_rows", lambda self, q, source: few):
        output = made(x, rows=rows, **options).output
    gradients = torch.autograd.grad(output.square().sum(), [x, *made.parameters()])
    return [output, *gradients]


@pytest.mark.parametrize("attention", ["softmax", "tanhmax", "relu"])
@pytest.mark.parametrize("combination", ["concat", "add"])
@pytest.mark.parametrize("kv_heads", [8, 2])
@pytest.mark.parametrize(
    "options", [{}, {"mask": REAL}, {"is_causal": True}], ids=["all", "padded", "causal"]
)
def test_few_rows_have_the_output_and_the_gradients_of_keys_and_values(
    attention, combination, kv_heads, options
):
    made, rows = layer(attention, combination, kv_heads), slice(4, 6)
    ours, usual = (outputs(made, few, rows, **options) for few in (True, False))
    torch.testing.assert_close(ours[0], usual[0], **EXACT_MATHS)
    # That of the bias of softmax keys is zero but for rounding.
    size = max(float(gradient.abs().max()) for gradient in usual[1:])
    for one, other in zip(ours[1:], usual[1:], strict=True):
        assert float((one - other).abs().max()) < 1e-12 * size


def test_weights_are_dropped_as_they_are_otherwise():
    made = layer(dropout=0.5).train()
    results = []
    for few in (True, False):
        torch.manual_seed(5)
        with patch.object(MultiHeadAttention, "asks_few_rows", lambda self, q, source, few=few: few):
            x = torch.randn(3, 20, 64, dtype=torch.float64)
            results.append(made(x, rows=slice(0, 1)).output)
    torch.testing.assert_close(*results, **EXACT_MATHS)


def test_what_is_no_number_behind_the_mask_reaches_nothing():
    made = layer()
    x = torch.randn(3, 20, 64, dtype=torch.float64)
    clean = made(x, mask=REAL, rows=slice(0, 1)).output
    x[1, 15] = torch.nan
    torch.testing.assert_close(made(x, mask=REAL, rows=slice(0, 1)).output, clean, **EXACT_MATHS)


def test_it_is_taken_for_few_rows_of_plain_scores_alone_and_never_while_somebody_records():
    asked = []

    def attend(*arguments, **options):
        asked.append(arguments[1].shape[2])
        return original(*arguments, **options)

    from glasshead.attention import multihead

    original = multihead.attend_few_rows
    x = torch.randn(3, 20, 64, dtype=torch.float64)
    with patch.object(multihead, "attend_few_rows", attend):
        layer()(x, rows=slice(0, 1))
        layer()(x)
        layer("shaw")(x, rows=slice(0, 1))
        layer()(x, rows=slice(0, 1), need_weights=True)
        made = layer()
        with record(made):
            made(x, rows=slice(0, 1))
    assert asked == [1]


@pytest.mark.parametrize("preset", MECHANISM_PRESETS)
def test_a_row_is_what_it_is_among_all_rows(preset):
    made = layer(preset).eval()
    x = torch.randn(3, 20, 64, dtype=torch.float64)
    alone, among = made(x, mask=REAL, rows=slice(4, 5)).output, made(x, mask=REAL).output[:, 4:5]
    torch.testing.assert_close(alone, among, **EXACT_MATHS)


class Scaled(torch.nn.Module):
    """A parametrization."""

    def forward(self, weight):
        return 3 * weight


class Adapted(torch.nn.Linear):
    """A layer that does something beside its weights, as adapters do."""

    def forward(self, input):
        return super().forward(input).square()


def adapt(made, name):
    old = getattr(made, name)
    setattr(made, name, Adapted(old.in_features, old.out_features).double())


def forward_anew(made, name):
    linear = getattr(made, name)
    linear.forward = torch.nn.Linear(linear.in_features, linear.out_features).double().forward


CHANGES = {
    "adapter": adapt,
    "forward hook": lambda made, name: getattr(made, name).register_forward_hook(lambda m, i, o: 2 * o),
    "input hook": lambda made, name: getattr(made, name).register_forward_pre_hook(lambda m, i: (2 * i[0],)),
    "forward of its own": forward_anew,
    "parametrization": lambda made, name: register_parametrization(getattr(made, name), "weight", Scaled()),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", ["key", "value"])
@pytest.mark.parametrize("combination", ["concat", "add"])
def test_what_else_a_projection_does_is_not_passed_over(change, name, combination):
    made = layer(combination=combination)
    x = torch.randn(3, 20, 64, dtype=torch.float64)
    before = made(x, rows=slice(4, 5)).output
    CHANGES[change](made, name)
    alone, among = made(x, rows=slice(4, 5)).output, made(x).output[:, 4:5]
    torch.testing.assert_close(alone, among, **EXACT_MATHS)
    assert float((alone - before).detach().abs().max()) > 1e-3


def test_one_row_pays_and_all_rows_do_not():
    assert pays(1, 128, 64)
    assert not pays(128, 128, 64)
    assert not pays(1, 128, 1)

"""Distance-aware attention in tiles: the formula in output and gradients, and what it leaves to others."""

from dataclasses import replace

import pytest
import torch

from glasshead.attention import KERNELS, AttentionInputs, Mask, mechanism
from glasshead.attention.attend import run_kernel, select_kernel
from glasshead.attention.kernels import cpu_tiled as tiles
from glasshead.errors import InputError
from tolerances import EXACT_MATHS, ONE_FORMULA, ONE_FORMULA_SINGLE

BATCH, HEADS, SIZE = 4, 4, 5
ENDS = [[0, 40], [7, 40], [0, 21], [11, 12]]
EMPTY = [[0, 40], [0, 0], [3, 9], [0, 0]]


def real(ends, keys=40):
    positions = torch.arange(keys)
    return torch.stack([(positions >= first) & (positions < last) for first, last in ends])


def call_of(spec="distance-aware", length=40, dtype=torch.float64, groups=HEADS, value_dim=SIZE, **options):
    torch.manual_seed(length)
    made = mechanism(spec, num_heads=HEADS, head_dim=SIZE, value_dim=value_dim).to(dtype)
    with torch.no_grad():
        for each in made.parameters():
            each.add_(torch.randn_like(each) / 20)
    q, k, v = (
        torch.randn(BATCH, heads, length, size, dtype=dtype).requires_grad_()
        for heads, size in ((HEADS, SIZE), (groups, SIZE), (groups, value_dim))
    )
    return AttentionInputs.of(made, q, k, v, **options)


def same(call, **tolerance):
    found, expected = KERNELS["tiles"](call), call.mechanism(call)[0]
    torch.testing.assert_close(found, expected, **tolerance)
    inputs = [call.q, call.k, call.v, *call.mechanism.parameters()]
    along = torch.randn_like(expected)
    pairs = zip(*(torch.autograd.grad(each, inputs, along) for each in (found, expected)), strict=True)
    for ours, theirs in pairs:
        torch.testing.assert_close(ours, theirs, **tolerance)


@pytest.mark.parametrize("tile", [1, 100, 2**17])
@pytest.mark.parametrize("ends", [None, ENDS, EMPTY], ids=["all", "ends", "empty texts"])
def test_it_is_the_formula(monkeypatch, tile, ends):
    monkeypatch.setattr(tiles, "TILE", tile)
    same(call_of(mask=None if ends is None else real(ends)), **EXACT_MATHS)


@pytest.mark.parametrize("mapping", ["clip", "linear", "exponent", "sigmoid", "learnable-sigmoid"])
def test_every_mapping(mapping):
    same(
        call_of({"position": {"name": "distance-aware", "mapping": mapping}}, mask=real(ENDS)), **EXACT_MATHS
    )


@pytest.mark.parametrize(("groups", "value_dim"), [(1, 5), (2, 9), (4, 2)])
def test_shared_heads_and_other_values(groups, value_dim):
    same(call_of(groups=groups, value_dim=value_dim, mask=real(ENDS)), **EXACT_MATHS)


def test_rows_of_a_longer_text():
    same(call_of(mask=real(ENDS)).rows(slice(4, 17)), **EXACT_MATHS)


def test_single_precision_and_half():
    same(call_of(dtype=torch.float32, mask=real(ENDS)), **ONE_FORMULA_SINGLE)
    call = call_of(dtype=torch.bfloat16, mask=real(ENDS))
    found = KERNELS["tiles"](call)
    assert found.dtype == torch.bfloat16
    torch.testing.assert_close(found, call.mechanism(call)[0], rtol=0.02, atol=0.02)


def test_parameters_that_are_not_trained_cost_no_gradient():
    call = call_of()
    call.mechanism.requires_grad_(False)
    (found,) = torch.autograd.grad(KERNELS["tiles"](call).sum(), call.q)
    (expected,) = torch.autograd.grad(call.mechanism(call)[0].sum(), call.q)
    torch.testing.assert_close(found, expected, **EXACT_MATHS)


@pytest.mark.parametrize("ends", [ENDS, EMPTY])
def test_a_second_derivative_is_that_of_the_formula(ends):
    call = call_of(mask=real(ends))
    inputs = [call.q, call.k, call.v, *call.mechanism.parameters()]
    found = []
    for output in (KERNELS["tiles"](call), call.mechanism(call)[0]):
        first = torch.autograd.grad((output**2).sum(), inputs, create_graph=True)
        found.append(torch.autograd.grad(sum((each**2).sum() for each in first), inputs))
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs, **ONE_FORMULA)


HOLES = real(ENDS)
HOLES[0, 5] = False
REFUSED = {
    "holes": ({"mask": HOLES}, "no gaps"),
    "causal": ({"is_causal": True}, "no causal mask"),
    "pairs": ({"mask": torch.ones(1, HEADS, 40, 40, dtype=torch.bool)}, "no masks of pairs"),
    "dropout": ({"dropout": 0.5}, "set dropout=0"),
    "tanhmax": ({"spec": "tanhmax+distance-aware"}, "not a softmax"),
    "another position": ({"spec": "shaw"}, "after the activation"),
    "late": (
        {"spec": {"position": {"name": "distance-aware", "adjust": "late-add"}}},
        "after the activation",
    ),
    "signed": (
        {"spec": {"position": {"name": "distance-aware", "adjust": "signed-multiply"}}},
        "of a distance",
    ),
    "scattered": ({"mask": Mask(40, 40, query_positions=range(39, -1, -1))}, "queries must be consecutive"),
}


@pytest.mark.parametrize(("options", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_it_refuses(options, reason):
    call = call_of(**options)
    assert reason in KERNELS["tiles"].unsupported_reason(call)
    assert select_kernel(call) != "tiles"
    with pytest.raises(InputError, match="the tiles kernel cannot serve"):
        run_kernel(call, "tiles")


def test_it_is_chosen_where_its_coefficients_may_be_held(monkeypatch):
    call = call_of()
    assert select_kernel(call) == "tiles"
    assert select_kernel(call_of(length=20)) != "tiles"
    monkeypatch.setattr(tiles, "COEFFICIENTS", HEADS * 40 * 40 - 1)
    assert select_kernel(call) != "tiles"
    assert select_kernel(replace(call, dropout=0.1)) != "tiles"

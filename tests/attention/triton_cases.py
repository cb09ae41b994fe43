"""What the triton kernel owes to the formula; run by test_triton.py, natively or by Triton's interpreter."""

from typing import NamedTuple

import pytest
import torch

from glasshead.attention import Mask, attend, mechanism
from tolerances import ONE_KERNEL

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
TYPES = [torch.float32, torch.float16]
if DEVICE == "cuda":
    TYPES.append(torch.bfloat16)  # the interpreter's products of bfloat16 tiles are wrong


class Case(NamedTuple):
    """Sizes [batch, heads, key heads, queries, keys, d_k, d_v], causality and padding (left, right)."""

    sizes: tuple[int, int, int, int, int, int, int]
    causal: bool = False
    padding: tuple[int, int] | None = None

    def mask(self):
        batch, _, _, queries, keys, _, _ = self.sizes
        padding = None
        if self.padding is not None:
            left, right = self.padding
            padding = torch.ones(batch, keys, dtype=torch.bool, device=DEVICE)
            padding[0, :left] = False
            padding[-1, keys - right :] = False
        return Mask(queries, keys, padding, causal=self.causal, query_positions=range(keys - queries, keys))

    def tensors(self, dtype, gain=1.0):
        batch, heads, groups, queries, keys, d, d_v = self.sizes
        generator = torch.Generator().manual_seed(1)
        shapes = ((batch, heads, queries, d), (batch, groups, keys, d), (batch, groups, keys, d_v))
        made = [torch.randn(shape, generator=generator) * gain for shape in shapes]
        return [each.to(DEVICE, dtype).requires_grad_() for each in made]


QUICK = {
    "one token": Case((1, 1, 1, 1, 1, 8, 8)),
    "all at once": Case((2, 2, 1, 66, 70, 12, 20), causal=True, padding=(9, 3)),
    "one query of a cache": Case((1, 2, 1, 1, 66, 16, 16), causal=True),
}
SLOW = {
    f"{n} {name}": Case(
        sizes=(2, 4 if "grouped" in name else 2, 2, n, n, 16, 24),
        causal="causal" in name,
        padding=(n // 3, n // 5) if "padded" in name else None,
    )
    for n, names in (
        (1, ("plain", "causal padded grouped")),
        (63, ("plain", "causal padded grouped")),
        (64, ("causal", "padded grouped")),
    )
    for name in names
} | {
    "cache": Case((1, 4, 1, 130, 257, 16, 40), causal=True, padding=(70, 0)),
    "more keys than queries": Case((1, 2, 2, 65, 200, 40, 16), padding=(0, 100)),
    "wide": Case((1, 1, 1, 40, 70, 200, 130)),
}
if DEVICE == "cuda":  # long enough for the tilings to be tried against one another
    SLOW["long"] = Case((2, 4, 2, 1100, 1500, 64, 64), causal=True, padding=(300, 200))


def outcome(using, tensors, mask, kernel, dtype=None):
    """Output and gradients of everything that learns, under one fixed cotangent."""
    leaves = [each.detach().to(dtype or each.dtype).requires_grad_() for each in tensors]
    output = attend(using, *leaves, mask=mask, kernel=kernel).output
    cotangent = torch.randn(output.shape, generator=torch.Generator().manual_seed(2)).to(DEVICE)
    learned = list(using.parameters())
    gradients = torch.autograd.grad((output.double() * cotangent).sum(), [*leaves, *learned])
    return [output.detach(), *gradients]


def assert_near(found, expected, tolerance):
    names = ["output", "dq", "dk", "dv", *["learned"] * (len(expected) - 4)]
    for name, each, right in zip(names, found, expected, strict=True):
        error = (each.double() - right.double()).abs().max() / right.double().abs().max().clamp(min=1e-30)
        assert float(error) < tolerance, f"{name}: {float(error):.1e}"


def check(case, dtype, using="tanhmax", gain=1.0):
    using = mechanism(using, num_heads=case.sizes[1], head_dim=case.sizes[5], value_dim=case.sizes[6]).to(
        DEVICE
    )
    tensors = case.tensors(dtype, gain)
    found = outcome(using, tensors, case.mask(), "triton")
    expected = outcome(using.double(), tensors, case.mask(), "reference", torch.float64)
    assert len(found) == len(expected)
    assert found[0].dtype == dtype
    assert_near(found, expected, ONE_KERNEL[str(dtype)])


@pytest.mark.parametrize("case", QUICK.values(), ids=QUICK)
def test_values_and_gradients(case):
    check(case, torch.float32)


def test_half_precision():
    check(Case((1, 2, 1, 40, 40, 12, 20), causal=True), torch.float16)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        (name, dtype)
        for name in SLOW
        for dtype in TYPES
        # The interpreter takes seconds for each: half precision at one tile, beyond it and with a cache.
        if DEVICE == "cuda" or dtype == torch.float32 or name in ("64 causal", "cache")
    ],
    ids=str,
)
def test_values_and_gradients_at_every_length(name, dtype):
    check(SLOW[name], dtype)


@pytest.mark.slow
@pytest.mark.parametrize("choice", range(4))
def test_every_tiling_gives_the_same(choice, monkeypatch):
    from glasshead.attention.kernels.triton_programs import launch

    for tuned in (launch.attend_paired, launch.attend_queries, launch.attend_keys):
        monkeypatch.setattr(tuned, "configs", [tuned.configs[choice]])
    check(Case((1, 2, 1, 130, 290, 16, 24), causal=True, padding=(70, 9)), torch.float32)


def test_tiny_scores_keep_their_digits():
    """φ ≈ s / n: a difference of exponentials of scores around 1e-6 has one digit in single precision."""
    check(Case((1, 1, 1, 20, 20, 16, 16)), torch.float32, gain=1e-3)


def test_scores_of_ten_thousand_stay_finite():
    case = Case((1, 1, 1, 20, 20, 16, 16))
    for each in outcome(mechanism("tanhmax"), case.tensors(torch.float16, gain=60.0), case.mask(), "triton"):
        assert bool(each.isfinite().all())


def test_a_product_that_overflows_half_precision_does_not():
    q, k, v = (torch.full((1, 1, 1, 16), 250.0, dtype=torch.float16, device=DEVICE) for _ in range(3))
    assert float(q[0, 0, 0] @ k[0, 0, 0]) == float("inf")
    torch.testing.assert_close(attend("tanhmax", q, k, v, kernel="triton").output, v)


def test_rows_without_keys_are_zeros_and_have_no_gradients():
    case = Case((2, 1, 1, 20, 20, 16, 16), causal=True, padding=(7, 20))
    output, *gradients = outcome(mechanism("tanhmax"), case.tensors(torch.float32), case.mask(), "triton")
    assert not output[0, :, :7].any()
    assert output[0, :, 7:].any()
    assert not output[1].any()
    dq, dk, dv = gradients
    for each in (dq[0, :, :7], dk[0, :, :7], dv[0, :, :7], dq[1], dk[1], dv[1]):
        assert not each.any()


@pytest.mark.filterwarnings("ignore:(overflow|invalid value) encountered:RuntimeWarning")
def test_masked_keys_and_values_do_not_matter_however_large():
    case = Case((2, 1, 1, 8, 20, 16, 16), padding=(7, 9))
    q, k, v = case.tensors(torch.float32)
    hidden = ~case.mask().padding[:, None, :, None]
    large = q, k.detach().masked_fill(hidden, 1e8), v.detach().masked_fill(hidden, -1e30)
    found, expected = (
        outcome(mechanism("tanhmax"), each, case.mask(), "triton") for each in (large, (q, k, v))
    )
    assert_near(found, expected, ONE_KERNEL["torch.float32"])


def test_any_layout_is_read_as_it_lies():
    case = Case((1, 2, 2, 20, 20, 16, 16))
    plain = outcome(mechanism("tanhmax"), case.tensors(torch.float32), case.mask(), "triton")
    leaves = case.tensors(torch.float32)
    views = [
        leaves[0].transpose(1, 2).contiguous().transpose(1, 2),  # as models lay it out
        leaves[1].transpose(2, 3).contiguous().transpose(2, 3),  # rows in pieces
        torch.stack([leaves[2], leaves[2]], dim=3).flatten(2, 3)[:, :, ::2],
    ]
    output = attend("tanhmax", *views, kernel="triton").output
    gradients = torch.autograd.grad(output.sum(), leaves)  # a cotangent of stride 0
    expected = torch.autograd.grad(attend("tanhmax", *leaves, kernel="reference").output.sum(), leaves)
    assert_near([output.detach(), *gradients], [plain[0], *expected], ONE_KERNEL["torch.float32"])


def test_a_second_run_gives_the_same_bits():
    case = Case((1, 1, 1, 20, 20, 16, 16), causal=True)
    first, second = (
        outcome(mechanism("tanhmax"), case.tensors(torch.float16), case.mask(), "triton") for _ in range(2)
    )
    for each, again in zip(first, second, strict=True):
        assert torch.equal(each, again)


@pytest.mark.parametrize("position", ["transformer-xl", pytest.param("tener", marks=pytest.mark.slow)])
def test_positions_that_are_dot_products_learn(position):
    check(Case((1, 2, 1, 33, 40, 16, 8), causal=True, padding=(5, 3)), torch.float32, f"tanhmax+{position}")


@pytest.mark.slow
def test_the_operator_keeps_the_promises_of_torch():
    """Schema, shapes without data, autograd registration and tracing, checked by torch itself."""
    from glasshead.attention.kernels.triton_programs.launch import attend_pairs

    case = Case((1, 2, 1, 5, 7, 16, 8), padding=(2, 0))
    torch.library.opcheck(attend_pairs, (*case.tensors(torch.float32), case.mask().padding, 0.25, None))


def test_nothing_is_launched_for_nothing():
    q, k, v = (torch.zeros(1, 1, n, 16, device=DEVICE, requires_grad=True) for n in (3, 0, 0))
    output = attend("tanhmax", q, k, v, kernel="triton").output
    assert not output.any()
    assert not torch.autograd.grad(output.sum(), q)[0].any()

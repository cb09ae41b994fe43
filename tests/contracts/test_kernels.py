"""Every kernel equals the formula, in output and gradients, for every mechanism that it does not refuse.

The cases are a cover of all pairs, not a full product: `test_the_cases_cover_all_pairs` holds them to it.
What masked keys and values hold never matters, whether it is large or no number at all.
"""

import itertools
from dataclasses import replace

import pytest
import torch

from benchmarks.measuring import peak_bytes
from glasshead.attention import (
    ACTIVATIONS,
    KERNELS,
    MECHANISM_PRESETS,
    POSITIONS,
    AttentionInputs,
    Mask,
    mechanism,
)
from glasshead.attention.attend import run_kernel
from glasshead.attention.kernels import blockwise, native, sdpa
from glasshead.attention.kernels.blocking import in_groups
from glasshead.errors import InputError
from tolerances import ONE_FORMULA, ONE_FORMULA_HALF, ONE_FORMULA_SINGLE

BATCH, HEADS, SIZE = 4, 4, 8
MECHANISMS = [
    *ACTIVATIONS,
    *POSITIONS,
    *MECHANISM_PRESETS,
    *(f"tanhmax+{position}" for position in POSITIONS),
    *(f"dot-product+{position}" for position in POSITIONS),
]
LENGTHS = (1, 63, 64, 129)
MASKS = ("none", "padding", "causal", "causal+padding", "pairs")
SHAPES = {"plain": (HEADS, SIZE), "grouped": (2, SIZE), "narrow values": (HEADS, 6), "wide values": (2, 18)}


def padding(keys):
    """Padding at the right, at the left, in the middle, and everywhere."""
    real = torch.ones(BATCH, keys, dtype=torch.bool)
    real[0, keys - keys // 3 :] = False
    real[1, : keys // 3] = False
    real[2, keys // 3 : keys // 2] = False
    real[3] = False
    return real


def mask_of(kind, keys):
    pairs = None
    if kind == "pairs":
        pairs = torch.rand(1, HEADS, keys, keys, generator=torch.Generator().manual_seed(keys)) < 0.4
        pairs[:, 1, keys // 2] = False
    return Mask(
        keys,
        keys,
        padding=padding(keys) if "padding" in kind else None,
        attn_mask=pairs,
        causal="causal" in kind,
        query_positions=range(keys),
    )


def call_of(name, length=64, mask="none", shape="plain", dtype=torch.float64, **options):
    """A call with gradients, and parameters far from where they start."""
    key_heads, value_dim = SHAPES[shape]
    torch.manual_seed(length)
    made = mechanism(name, num_heads=HEADS, head_dim=SIZE, value_dim=value_dim).to(dtype)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.05)
    q, k, v = (
        torch.randn(BATCH, heads, length, size, dtype=dtype).requires_grad_()
        for heads, size in ((HEADS, SIZE), (key_heads, SIZE), (key_heads, value_dim))
    )
    return AttentionInputs.of(made, q, k, v, mask=mask_of(mask, length), **options)


def first_only(call):
    """The call for the first sequence of the batch."""
    q, k, v = (each[:1].detach().requires_grad_() for each in (call.q, call.k, call.v))
    real = call.mask.padding
    return replace(call, q=q, k=k, v=v, mask=replace(call.mask, padding=None if real is None else real[:1]))


def gradients(call, output):
    """∂/∂(q, k, v, parameters) of a fixed random sum."""
    along = torch.randn(output.shape, generator=torch.Generator().manual_seed(1)).to(output.dtype)
    inputs = [call.q, call.k, call.v, *call.mechanism.parameters()]
    return torch.autograd.grad(output, inputs, along, allow_unused=True, materialize_grads=True)


def assert_same(call, kernel, **tolerance):
    output, expected = KERNELS[kernel](call), call.mechanism(call)[0]
    torch.testing.assert_close(output, expected, **tolerance)
    for found, known in zip(gradients(call, output), gradients(call, expected), strict=True):
        torch.testing.assert_close(found, known, **tolerance)


def reason(kernel, call):
    """Why a kernel cannot serve; the native one is compiled for its tests, which are slow (see conftest)."""
    return native.missing_feature(call) if kernel == "native" else KERNELS[kernel].unsupported_reason(call)


PAIRS = [
    (kernel, name)
    for kernel in KERNELS
    for name in MECHANISMS
    if kernel not in ("reference", "tiles") and reason(kernel, call_of(name)) is None
]
"""Those that serve the CPU forward and backward, with any mask (tiles, which do not: test_tiles.py)."""


def cover():
    """For each kernel and mechanism every mask, with lengths and shapes that go round."""
    shapes = list(SHAPES)
    for number, (kernel, name) in enumerate(PAIRS):
        for place, mask in enumerate(MASKS):
            length = LENGTHS[(number + place) % len(LENGTHS)]
            shape = shapes[(number // len(LENGTHS) + number + 3 * place) % len(shapes)]
            if reason(kernel, call_of(name, length, mask, shape)) is None:
                yield kernel, name, length, mask, shape


CASES = list(cover())


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of 16 rows, so that even short sequences make several."""
    monkeypatch.setattr(blockwise, "BLOCK_SCORES", 1)
    monkeypatch.setattr(sdpa, "SDPA_BLOCK", 1)


def test_the_cases_cover_all_pairs():
    assert {"blockwise", "sdpa", "linear", "native"} <= {kernel for kernel, _ in PAIRS}
    assert {name for kernel, name in PAIRS if kernel == "blockwise"} == set(MECHANISMS)
    columns = list(zip(*CASES, strict=True))
    for one, other in itertools.combinations((0, 2, 3, 4), 2):
        met = set(zip(columns[one], columns[other], strict=True))
        wanted = set(itertools.product(set(columns[one]), set(columns[other]))) - {("linear", "pairs")}
        assert met >= wanted, wanted - met


@pytest.mark.parametrize(("kernel", "name", "length", "mask", "shape"), CASES)
def test_it_equals_the_formula(kernel, name, length, mask, shape, small_blocks):
    assert_same(call_of(name, length, mask, shape), kernel, **ONE_FORMULA)


@pytest.mark.parametrize(("kernel", "name"), PAIRS)
def test_in_single_precision_and_one_block(kernel, name):
    assert_same(call_of(name, 63, "causal+padding", dtype=torch.float32), kernel, **ONE_FORMULA_SINGLE)


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("shape", ["plain", "grouped"])
@pytest.mark.parametrize("name", ["tanhmax", "tener", "tanhmax+transformer-xl", "cosine"])
def test_heads_one_after_the_other(name, shape, mask, monkeypatch):
    """Without gradients the sdpa kernel makes keys and features for some heads at a time."""
    monkeypatch.setattr(sdpa, "MADE", 1)
    with torch.no_grad():
        call = call_of(name, 63, mask, shape)
        call = replace(call, **{each: getattr(call, each).detach() for each in "qkv"})
        call.mechanism.requires_grad_(False)
        assert sdpa.heads_per_block(call) == 1
        torch.testing.assert_close(KERNELS["sdpa"](call), call.mechanism(call)[0], **ONE_FORMULA)


@pytest.mark.parametrize("name", [name for name in POSITIONS if POSITIONS[name].learned])
def test_heads_are_cut_where_that_is_promised(name):
    """Each head by a position of its own; the gradient reaches the parameters of the whole."""
    position = call_of(name).mechanism.position
    if not position.per_head:
        with pytest.raises(TypeError, match="is not per_head"):
            position.of_heads(slice(0, 1))
        return
    call = call_of(name, 9, "causal")
    whole = position.scores(call.q, call.k, call.scale, call.token_positions())
    parts = [
        position.of_heads(slice(head, head + 1)).scores(
            call.q[:, head : head + 1], call.k[:, head : head + 1], call.scale, call.token_positions()
        )
        for head in range(HEADS)
    ]
    torch.testing.assert_close(torch.cat(parts, dim=1), whole, **ONE_FORMULA)
    parameters = list(position.parameters())
    along = torch.randn_like(whole)
    found = torch.autograd.grad(torch.cat(parts, dim=1), parameters, along, allow_unused=True)
    known = torch.autograd.grad(whole, parameters, along, allow_unused=True)
    for one, other in zip(found, known, strict=True):
        torch.testing.assert_close(one, other, **ONE_FORMULA)


@pytest.mark.parametrize(("kernel", "name"), PAIRS)
def test_with_a_cache(kernel, name, small_blocks):
    """The last queries of a longer sequence: one, and many."""
    for queries in (1, 40):
        whole = call_of(name, 63, "causal+padding", "grouped")
        call = whole.rows(slice(63 - queries, 63))
        assert KERNELS[kernel].unsupported_reason(call) is None
        assert_same(call, kernel, **ONE_FORMULA)
        torch.testing.assert_close(
            KERNELS[kernel](call), KERNELS[kernel](whole)[:, :, 63 - queries :], **ONE_FORMULA
        )


@pytest.mark.parametrize(("kernel", "name"), PAIRS)
def test_chosen_rows_in_any_order(kernel, name, small_blocks):
    call = call_of(name, 40, "padding").rows(torch.tensor([39, 0, 7, 7]))
    assert_same(call, kernel, **ONE_FORMULA)


@pytest.mark.parametrize(("kernel", "name"), PAIRS)
def test_rows_without_a_key_are_zero_with_zero_gradients(kernel, name, small_blocks):
    call = call_of(name, 40, "causal+padding")
    output = KERNELS[kernel](call)
    assert (output[3] == 0).all()  # nothing but padding
    assert (output[1, :, : 40 // 3] == 0).all()  # padding at the left
    found = gradients(call, output)
    assert all(each.isfinite().all() for each in found)
    assert all((each[3] == 0).all() for each in found[:3])
    assert (found[0][1, :, : 40 // 3] == 0).all()


@pytest.mark.parametrize(("kernel", "name"), PAIRS)
def test_masked_keys_and_values_do_not_matter_however_large(kernel, name, small_blocks):
    call = call_of(name, 40, "padding")
    hidden = ~call.mask.padding[:, None, :, None]
    large = replace(call, k=call.k.masked_fill(hidden, 1e8), v=call.v.masked_fill(hidden, -1e30))
    torch.testing.assert_close(KERNELS[kernel](large), KERNELS[kernel](call), **ONE_FORMULA)
    for found, known in zip(
        gradients(call, KERNELS[kernel](large)), gradients(call, KERNELS[kernel](call)), strict=True
    ):
        torch.testing.assert_close(found, known, **ONE_FORMULA)


def poisoned(call, keys, number):
    """The call with a number at these [B, K] keys and values, and which queries may attend to one of them."""
    k, v = (
        each.detach().masked_fill(keys[:, None, :, None], number).requires_grad_()
        for each in (call.k, call.v)
    )
    sees = (call.mask.allowed(call.q.device) & keys[:, None, None, :]).any(dim=-1)
    return (
        AttentionInputs.of(call.mechanism, call.q, k, v, mask=call.mask),
        (k, v),
        sees.expand(call.q.shape[:3]),
    )


POISONED = [
    (kernel, name, mask)
    for kernel in KERNELS
    for number, name in enumerate((*ACTIVATIONS, "cosformer", "distance-aware", "shaw", "tanhmax+tener"))
    for mask in (("padding", "pairs"), ("causal", "causal+padding"))[number % 2]
    if kernel == "reference" or (kernel, name) in PAIRS
    if reason(kernel, call_of(name, 40, mask)) is None
]


@pytest.mark.parametrize(
    ("kernel", "name", "mask", "number"),
    [(*case, (torch.nan, torch.inf)[(place + place // 2) % 2]) for place, case in enumerate(POISONED)],
)
def test_a_masked_key_that_is_no_number_reaches_nothing(kernel, name, mask, number, small_blocks):
    """A query that sees it is NaN throughout; to the others and their gradients it is not there."""
    call = call_of(name, 40, mask)
    never = ~call.mask.allowed(call.q.device).any(dim=1).any(dim=1).expand(BATCH, -1)
    for keys in (never, torch.arange(40).expand(BATCH, -1) == 29):
        bad, leaves, sees = poisoned(call, keys, number)
        output, clean = KERNELS[kernel](bad), KERNELS[kernel](call)
        assert output[sees].isnan().all()
        torch.testing.assert_close(output[~sees], clean[~sees], **ONE_FORMULA)
        along = torch.randn_like(clean[~sees])
        found = torch.autograd.grad(output[~sees], [call.q, *leaves], along)
        known = torch.autograd.grad(clean[~sees], [call.q, call.k, call.v], along)
        torch.testing.assert_close(found[0][~sees], known[0][~sees], **ONE_FORMULA)
        if not sees.any():
            for one, other in zip(found, known, strict=True):
                torch.testing.assert_close(one, other, **ONE_FORMULA)


@pytest.mark.parametrize("kernel", ["reference", "tiles"])
def test_padding_that_is_no_number_reaches_nothing_in_tiles_nor_in_weights(kernel):
    call = call_of("distance-aware", 40)
    ends = torch.arange(40).expand(BATCH, -1) < torch.tensor([[40], [31], [7], [12]])
    call = replace(call, mask=Mask(40, 40, padding=ends, query_positions=range(40)))
    bad, leaves, _ = poisoned(call, ~ends, torch.nan)
    assert KERNELS[kernel].unsupported_reason(bad) is None
    output, clean = KERNELS[kernel](bad), KERNELS[kernel](call)
    torch.testing.assert_close(output, clean, **ONE_FORMULA)
    for one, other in zip(
        torch.autograd.grad(output.sum(), leaves),
        torch.autograd.grad(clean.sum(), [call.k, call.v]),
        strict=True,
    ):
        torch.testing.assert_close(one, other, **ONE_FORMULA)
    assert (call.mechanism.compute_weights(bad).masked_select(~ends[:, None, None]) == 0).all()


@pytest.mark.parametrize(("kernel", "name"), PAIRS)
def test_float16_scores_beyond_its_range_are_right(kernel, name):
    """q·k reaches a million where float16 ends at 65,504; only outputs beyond that are infinite."""
    call = call_of(name, 40, "causal+padding", dtype=torch.float16, scale=1.0)
    q, k = ((each * 400).detach() for each in (call.q, call.k))
    assert (q.float() @ k.float().mT).abs().max() > 2 * torch.finfo(torch.float16).max
    call = replace(call, q=q, k=k, v=call.v.detach())
    exact = replace(call, mechanism=call.mechanism.double(), q=q.double(), k=k.double(), v=call.v.double())
    expected = exact.mechanism(exact)[0].half()
    halved = replace(call, mechanism=mechanism(name, num_heads=HEADS, head_dim=SIZE))
    halved.mechanism.load_state_dict(exact.mechanism.state_dict())
    torch.testing.assert_close(KERNELS[kernel](halved), expected, **ONE_FORMULA_HALF)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize(
    "kernel", [kernel for kernel in KERNELS if (kernel, "tanhmax") in PAIRS] + ["reference"]
)
def test_small_scores_of_tanhmax_in_half_precision(kernel, dtype):
    """e^s − e^−s, nearly nothing here, has as many right bits as its type holds, and so have gradients."""
    torch.manual_seed(0)
    q, k, v, along = (torch.randn(1, 2, 257, 64).to(dtype) for _ in range(4))
    q = (q * 0.05).to(dtype)

    def outcome(kernel, dtype):
        leaves = [each.detach().to(dtype).requires_grad_() for each in (q, k, v)]
        output = run_kernel(AttentionInputs.of(mechanism("tanhmax"), *leaves), kernel)
        return output, *torch.autograd.grad(output, leaves, along.to(dtype))

    for found, right in zip(outcome(kernel, dtype), outcome("reference", torch.float64), strict=True):
        assert found.dtype == dtype
        error = (found.double() - right).norm() / right.norm()
        assert error < torch.finfo(dtype).eps / 3


@pytest.mark.parametrize("kernel", ["reference", "blockwise", "sdpa"])
@pytest.mark.parametrize("name", ["tener", "transformer-xl", "cosine"])
def test_large_scores_in_bfloat16_keep_what_the_places_say(kernel, name):
    """Slow waves of scores of 10⁴: rounded to the type of q and k, neighbours could not be told apart."""
    call = call_of(name, 63, "padding", scale=1.0)
    slow = torch.zeros(SIZE, dtype=torch.float64)
    slow[3] = slow[7] = 5000  # of tener's sines and cosines those of frequency 10⁻³
    q = slow * call.q.detach().sign()
    k = torch.ones_like(call.k) if name == "cosine" else call.k.detach() / 1000
    q, k, v = (each.bfloat16() for each in (q, k, call.v.detach()))
    if name == "transformer-xl":
        call.mechanism.position.w.data[:] = torch.eye(SIZE)
    exact = replace(call, q=q.double(), k=k.double(), v=v.double())
    exact = exact.mechanism(exact)[0]
    found = KERNELS[kernel](replace(call, q=q, k=k, v=v))
    assert found.dtype == torch.bfloat16
    assert (found - exact).norm() < 1e-2 * exact.norm()


@pytest.mark.parametrize("scale", [-0.35, 0.0])
@pytest.mark.parametrize("mask", ["none", "causal", "causal+padding"])
@pytest.mark.parametrize(
    ("kernel", "name"), [each for each in PAIRS if each[1] in ("softmax", "tanhmax", "tener", "dot-product")]
)
def test_scales_that_turn_or_end_the_scores(kernel, name, mask, scale):
    for length in (5, 63):
        assert_same(call_of(name, length, mask, scale=scale), kernel, **ONE_FORMULA)
        single = call_of(name, length, mask, dtype=torch.float32, scale=scale)
        assert_same(single, kernel, **ONE_FORMULA_SINGLE)


@pytest.mark.parametrize("heads", [1, 3])
def test_groups_of_heads_have_their_pairs_and_their_bias(heads):
    with torch.no_grad():
        call = call_of("tener", 9, "pairs", "grouped")
        for shape in ((BATCH, HEADS, 9, 9), (1, 1, 9, 9)):
            biased = call.add_bias(torch.randn(shape, dtype=torch.float64))
            cut = in_groups(biased, heads, lambda part: part.mechanism(part)[0])
            torch.testing.assert_close(cut, biased.mechanism(biased)[0], **ONE_FORMULA)


@pytest.mark.parametrize(("kernel", "name"), PAIRS)
def test_no_queries_or_no_keys(kernel, name):
    for queries, keys in ((0, 5), (5, 0)):
        call = call_of(name, 5)
        call = replace(
            call, q=call.q[:, :, :queries], k=call.k[:, :, :keys], v=call.v[:, :, :keys],
            mask=Mask(
                queries, keys,
                query_positions=range(queries) if queries <= keys else torch.zeros(queries).long(),
            ),
        )  # fmt: skip
        output = KERNELS[kernel](call)
        assert output.shape == (BATCH, HEADS, queries, SIZE)
        assert (output == 0).all() or queries == 0


@pytest.mark.parametrize("name", list(ACTIVATIONS))
def test_the_way_without_a_mask_is_the_way_with_an_open_one(name):
    torch.manual_seed(0)
    scores = (torch.randn(3, 9, dtype=torch.float64) * 5).requires_grad_()
    activation = ACTIVATIONS[name]()
    free, open_ = (
        activation.weights_unmasked(scores),
        activation.weights(scores, torch.ones(3, 9, dtype=torch.bool)),
    )
    torch.testing.assert_close(free, open_, **ONE_FORMULA)
    along = torch.randn(3, 9, dtype=torch.float64)
    torch.testing.assert_close(
        *(torch.autograd.grad(each, scores, along)[0] for each in (free, open_)), **ONE_FORMULA
    )


def peak(kernel, name, length, mask):
    """The most memory that a call takes, forward and backward."""
    call = first_only(call_of(name, length, mask, "narrow values", dtype=torch.float32))
    return peak_bytes(lambda: gradients(call, KERNELS[kernel](call)))


@pytest.mark.parametrize(
    ("kernel", "name", "mask"),
    [
        ("blockwise", "softmax", "none"),
        ("blockwise", "distance-aware", "causal+padding"),
        ("blockwise", "shaw", "none"),
        ("sdpa", "softmax", "causal+padding"),
        ("sdpa", "tanhmax", "none"),
        ("sdpa", "tener", "causal+padding"),
        ("linear", "dot-product", "causal+padding"),
        ("linear", "cosformer", "none"),
        ("native", "tanhmax", "causal+padding"),
        ("native", "tanhmax+distance-aware", "none"),
    ],
)
def test_memory_is_linear_forward_and_backward(kernel, name, mask, monkeypatch):
    """Twice the length, at most 2.5 times the memory."""
    monkeypatch.setattr(blockwise, "BLOCK_SCORES", 2**18)  # 32 rows of 512 keys
    monkeypatch.setattr(sdpa, "SDPA_BLOCK", 2**14)
    if name == "cosformer":
        name = {"activation": "sum", "position": {"name": "cosine", "reach": 2048}}

    assert KERNELS[kernel].linear_memory
    shorter, longer = (peak(kernel, name, length, mask) for length in (512, 1024))
    assert longer < 2.5 * shorter


@pytest.mark.parametrize("name", ["softmax", "shaw", "dot-product"])
def test_memory_of_the_formula_is_that_of_all_pairs(name):
    shorter, longer = (peak("reference", name, length, "causal+padding") for length in (256, 512))
    assert longer > 3.3 * shorter


@pytest.mark.parametrize(("kernel", "name"), [("sdpa", "tanhmax"), ("linear", "dot-product")])
def test_dropout_is_refused_where_there_are_no_weights(kernel, name):
    call = replace(call_of(name), dropout=0.3)
    with pytest.raises(InputError, match=r"set dropout=0 \(can: blockwise, reference\)"):
        run_kernel(call, kernel)


@pytest.mark.parametrize("kernel", ["reference", "blockwise", "sdpa"])
def test_dropout_is_on_weights(kernel, small_blocks):
    """Dropped and scaled weights keep the mean of the output; equal seeds drop equal weights."""
    call = replace(call_of("softmax", 32, dtype=torch.float32), dropout=0.3)
    call = replace(call, v=call.v.detach() + 5)  # 30 % of which would be missed
    torch.manual_seed(5)
    first = KERNELS[kernel](call)
    torch.manual_seed(5)
    assert torch.equal(KERNELS[kernel](call), first)
    with torch.no_grad():
        mean = torch.stack([KERNELS[kernel](call) for _ in range(400)]).mean(dim=0)
        exact = call.mechanism(replace(call, dropout=0.0))[0]
    assert not torch.allclose(first, exact, rtol=0, atol=0.5)
    torch.testing.assert_close(mean, exact, rtol=0.15, atol=0)
    torch.testing.assert_close(mean.mean(), exact.mean(), rtol=5e-3, atol=0)


def test_recomputed_blocks_drop_the_same_weights(small_blocks):
    """The gradient by v is Σ_i a_ij g_i, linear in v: with the same weights, ⟨grad, v⟩ is ⟨output, g⟩."""
    call = replace(call_of("tanhmax+distance-aware", 63), dropout=0.4)
    output = KERNELS["blockwise"](call)
    along = torch.randn_like(output)
    by_v = torch.autograd.grad(output, call.v, along)[0]
    torch.testing.assert_close((by_v * call.v).sum(), (output * along).sum(), **ONE_FORMULA)

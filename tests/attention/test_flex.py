"""The flex kernel: what it hands to torch, what torch makes of it, and what it refuses."""

from dataclasses import replace

import pytest
import torch

from glasshead.attention import KERNELS, AttentionInputs, Mask, attend, mechanism, select_kernel
from glasshead.attention.kernels import flex
from glasshead.errors import InputError
from tolerances import ALL_LAYERS, ONE_FORMULA_SINGLE, ONE_KERNEL

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
EARLY_ADD = {"position": {"name": "distance-aware", "adjust": "early-add"}}
SIGNED = {"activation": "sigmoid", "position": {"name": "distance-aware", "adjust": "signed-multiply"}}
SERVED = [
    "softmax",
    "sigsoftmax",
    "sigmoid",
    "distance-aware",
    EARLY_ADD,
    SIGNED,
    "transformer-xl",
    "sigmoid+tener",
]
HOLES = torch.ones(2, 150, dtype=torch.bool)
HOLES[0, :20] = HOLES[0, 70:75] = False
HOLES[1] = False
MASKS = {
    "everything": Mask(140, 150, query_positions=range(10, 150)),
    "causal with a cache": Mask(140, 150, causal=True, query_positions=range(10, 150)),
    "padding with holes": Mask(140, 150, HOLES, query_positions=range(10, 150)),
    "padding and causality": Mask(140, 150, HOLES, causal=True, query_positions=range(10, 150)),
    "chosen rows": Mask(3, 300, causal=True, query_positions=torch.tensor([299, 5, 130])),
    "pairs": Mask(140, 150, HOLES, torch.rand(1, 2, 140, 150) > 0.5, query_positions=range(10, 150)),
    "blocks of pairs": Mask(
        300, 300, attn_mask=torch.ones(2, 1, 300, 300, dtype=torch.bool).triu(128), query_positions=range(300)
    ),
}


def call_of(using, mask, dtype=torch.float32, groups=1, d=16, d_v=24, device="cpu"):
    generator = torch.Generator().manual_seed(3)
    shapes = ((2, 2, mask.queries, d), (2, groups, mask.keys, d), (2, groups, mask.keys, d_v))
    q, k, v = (torch.randn(shape, generator=generator).to(device, dtype) for shape in shapes)
    torch.manual_seed(4)
    built = mechanism(using, num_heads=2, head_dim=d, value_dim=d_v).to(device)
    for parameter in built.parameters():
        torch.nn.init.normal_(parameter, std=0.2)
    return AttentionInputs.of(built, q, k, v, mask=mask)


def on_device(mask):
    parts = {name: getattr(mask, name) for name in ("padding", "attn_mask")}
    return replace(mask, **{name: None if part is None else part.to(DEVICE) for name, part in parts.items()})


def places_of(call):
    """Batch, head, query and key of every pair."""
    sizes = (2, 2, call.mask.queries, call.mask.keys)
    return torch.meshgrid(*(torch.arange(n) for n in sizes), indexing="ij")


@pytest.mark.parametrize("using", SERVED, ids=str)
def test_the_changed_products_are_the_exponents_of_the_weights(using):
    """Output and gradients, learned ones too, of what is handed over, computed without compiling it."""
    call = call_of(using, MASKS["padding and causality"])
    leaves = [each.requires_grad_() for each in (call.q, call.k, call.v)] + list(call.mechanism.parameters())

    q, k, v, changed = flex.as_changed_products(call)
    groups = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(groups, dim=1), v.repeat_interleave(groups, dim=1)
    exponents = changed(q @ k.transpose(-1, -2), *places_of(call))
    live = flex.pair_rule(call.mask, call.q.device)(*places_of(call))
    weights = exponents.masked_fill(~live, -1e30).softmax(dim=-1).masked_fill(~live, 0)

    output, expected = weights @ v, call.mechanism(call)[0]
    torch.testing.assert_close(output, expected, **ALL_LAYERS)
    cotangent = torch.randn_like(expected)
    for found, right in zip(
        torch.autograd.grad(output, leaves, cotangent),
        torch.autograd.grad(expected, leaves, cotangent),
        strict=True,
    ):
        torch.testing.assert_close(found, right, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("mask", [each for each in MASKS.values() if not each.is_full], ids=lambda each: "")
def test_the_mask_pair_by_pair_and_block_by_block(mask):
    call = call_of("softmax", mask)
    allowed = mask.allowed(torch.device("cpu")).expand(2, 2, -1, -1)
    assert torch.equal(
        flex.pair_rule(mask, torch.device("cpu"))(*places_of(call)).expand_as(allowed), allowed
    )

    some, every = (each.expand(2, 2, -1, -1) for each in flex.find_blocks(mask, torch.device("cpu")))
    for row in range(some.shape[2]):
        for column in range(some.shape[3]):
            block = allowed[:, :, row * 128 : (row + 1) * 128, column * 128 : (column + 1) * 128]
            assert not (block.flatten(2).any(dim=-1) & ~some[:, :, row, column]).any()  # nothing is left out
            assert not (every[:, :, row, column] & ~block.flatten(2).all(dim=-1)).any()  # nothing is let in


def test_empty_and_full_blocks_are_found():
    some, every = flex.find_blocks(
        Mask(384, 384, causal=True, query_positions=range(384)), torch.device("cpu")
    )
    assert some[0, 0].tolist() == torch.ones(3, 3).tril().bool().tolist()
    assert every[0, 0].tolist() == torch.ones(3, 3).tril(-1).bool().tolist()
    some, every = flex.find_blocks(MASKS["blocks of pairs"], torch.device("cpu"))
    assert some[0, 0].tolist() == torch.ones(3, 3).triu(1).bool().tolist()
    counts, columns = flex.block_lists(some)
    assert counts[0, 0].tolist() == [2, 1, 0]
    assert columns[0, 0, :2, 0].tolist() == [1, 2]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("using", "mask", "dtype", "groups"),
    [
        ("softmax", "everything", torch.float32, 1),
        ("sigsoftmax", "padding with holes", torch.float32, 2),
        ("sigmoid", "padding and causality", torch.float16, 1),
        ("distance-aware", "padding and causality", torch.float32, 1),
        (EARLY_ADD, "causal with a cache", torch.bfloat16, 2),
        ("transformer-xl", "chosen rows", torch.float32, 1),
        ("softmax", "pairs", torch.float32, 2),
    ],
    ids=str,
)
def test_compiled_it_equals_the_formula(using, mask, dtype, groups):
    """On a GPU with gradients, on a CPU forward."""
    mask = on_device(MASKS[mask])
    call = call_of(using, mask, dtype, groups, d=12, device=DEVICE)
    learned = list(call.mechanism.parameters())

    def outcome(kernel, dtype):
        leaves = [
            each.detach().to(dtype).requires_grad_(DEVICE == "cuda") for each in (call.q, call.k, call.v)
        ]
        with torch.set_grad_enabled(DEVICE == "cuda"):
            output = attend(call.mechanism, *leaves, mask=mask, kernel=kernel).output
        if DEVICE == "cpu":
            return [output]
        return [output.detach(), *torch.autograd.grad(output.double().sin().sum(), [*leaves, *learned])]

    for found, right in zip(outcome("flex", dtype), outcome("reference", torch.float64), strict=True):
        error = (found.double() - right.double()).abs().max() / right.abs().max()
        assert float(error) < ONE_KERNEL[str(dtype)]


@pytest.mark.slow
def test_rows_without_keys_are_zeros():
    call = call_of("softmax", MASKS["padding and causality"], device="cpu")
    output = attend("softmax", call.q, call.k, call.v, mask=call.mask, kernel="flex").output
    assert not output[1].any()
    assert not output[0, :, :10].any()
    assert output[0, :, 10:].any()


@pytest.mark.slow
def test_a_key_that_is_no_number_reaches_no_query_before_it():
    call = call_of("sigmoid", Mask(40, 40, causal=True, query_positions=range(40)))
    clean = attend("sigmoid", call.q, call.k, call.v, mask=call.mask, kernel="flex").output
    call.v[:, :, 30] = torch.nan
    output = attend("sigmoid", call.q, call.k, call.v, mask=call.mask, kernel="flex").output
    assert output[:, :, 30:].isnan().all()
    torch.testing.assert_close(output[:, :, :30], clean[:, :, :30], **ONE_FORMULA_SINGLE)


@pytest.mark.slow
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("name", ["softmax", "softmax+distance-aware"])
def test_half_of_16_keys_at_the_end(name, causal):
    """There torch 2.13 reads beyond them on CPUs with AVX2 and no more."""
    call = call_of(name, Mask(24, 24, causal=causal, query_positions=range(24)), device="cpu")
    with torch.no_grad():
        outputs = [
            attend(call.mechanism, call.q, call.k, call.v, mask=call.mask, kernel=kernel).output
            for kernel in ("flex", "reference")
        ]
    torch.testing.assert_close(*outputs, **ONE_FORMULA_SINGLE)


def small(using="softmax", dtype=torch.float32, learns=False, dropout=0.0, size=4):
    q = torch.zeros(1, 2, size, 16, dtype=dtype, requires_grad=learns)
    return AttentionInputs.of(mechanism(using, num_heads=2, head_dim=16), q, q, q, dropout=dropout)


LATE = {"position": {"name": "distance-aware", "adjust": "late-add"}}


@pytest.mark.parametrize(
    ("refused", "why"),
    [
        (small("tanhmax"), "not a softmax"),
        (small("relu"), "not a softmax"),
        (small(LATE), "after the activation"),
        (small("shaw"), "after the activation"),
        (small(dropout=0.1), "no dropout"),
        (small(dtype=torch.float64), "single precision"),
        (small(size=0), "nothing to compute"),
        (small(learns=True), "no backward pass"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_it_says_why_not(refused, why):
    assert why in KERNELS["flex"].unsupported_reason(refused)


def test_parameters_alone_need_a_backward_pass_too():
    call = small("distance-aware")
    assert "no backward pass" in KERNELS["flex"].unsupported_reason(call)
    with torch.no_grad():
        assert KERNELS["flex"].unsupported_reason(call) == flex.compiler_problem()


def test_a_cpu_without_a_compiler_is_told_so(monkeypatch):
    monkeypatch.setenv("CXX", "no-such-compiler")
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: "AVX2")
    flex.compiler_problem.cache_clear()
    try:
        assert "C++ compiler no-such-compiler" in KERNELS["flex"].unsupported_reason(small())
        q = torch.zeros(1, 1, 2, 16)
        with pytest.raises(InputError, match=r"flex kernel .*: torch needs the C\+\+ compiler"):
            attend("softmax", q, q, q, kernel="flex")
    finally:
        flex.compiler_problem.cache_clear()


def test_on_a_cpu_it_serves_by_name_only():
    with torch.no_grad():
        assert select_kernel(small("sigsoftmax")) != "flex"


def test_sizes_become_powers_of_two_of_at_least_sixteen():
    """Zeros add nothing to a product, and the added columns of the output are cut off."""
    for size, expected in ((1, 16), (16, 16), (17, 32), (64, 64), (192, 256)):
        row = torch.ones(1, 1, 1, size)
        assert flex.pad_to_power_of_two(row).shape[3] == expected
        assert float(flex.pad_to_power_of_two(row).sum()) == size


class OnGPU:
    """A call that says it is on a GPU, for the choice alone."""

    def __init__(self, call):
        self.call = call
        self.q = Elsewhere(call.q)

    def __getattr__(self, name):
        return getattr(self.call, name)


class Elsewhere:
    is_cuda = True

    def __init__(self, tensor):
        self.tensor = tensor

    def __getattr__(self, name):
        return getattr(self.tensor, name)


def long(length, using="sigmoid", mask=None, scale=None):
    """A call of more pairs than the formula is asked to hold, without memory of its own."""
    q = torch.zeros(1, 1, 1, 16).expand(1, 2, length, 16)
    made = AttentionInputs.of(mechanism(using, num_heads=2, head_dim=16), q, q, q, mask=mask, scale=scale)
    return OnGPU(made)


@pytest.fixture
def unseen(monkeypatch):
    """A process that has computed nothing yet, and may compile three kinds."""
    monkeypatch.setattr(flex, "SEEN", set())
    monkeypatch.setattr(flex, "MOST_COMPILATIONS", 3)
    monkeypatch.setattr(
        flex, "compile_flex_attention", lambda: lambda q, k, v, *rest, **options: torch.zeros_like(v)
    )


def serve(call):
    with torch.no_grad():
        KERNELS["flex"](call.call)


@pytest.mark.usefixtures("unseen")
@pytest.mark.wrong_types
def test_new_lengths_are_compiled_up_to_a_budget():
    with torch.no_grad():
        for length in (2000, 2001, 2002):
            assert KERNELS["flex"].is_preferred(long(length))
            serve(long(length))
            serve(long(length))
        assert not KERNELS["flex"].is_preferred(long(2003))
        assert not KERNELS["flex"].is_preferred(long(2001, scale=0.5))
        assert not KERNELS["flex"].is_preferred(long(2001, "sigsoftmax"))
        assert not KERNELS["flex"].is_preferred(long(2001, mask=torch.ones(1, 2001, dtype=torch.bool)))
        assert KERNELS["flex"].is_preferred(long(2001))  # seen before: nothing new has to be compiled
    assert not KERNELS["flex"].is_preferred(long(100))  # small enough for the formula


@pytest.mark.usefixtures("unseen")
@pytest.mark.wrong_types
def test_asking_costs_nothing_of_the_budget():
    with torch.no_grad():
        assert all(KERNELS["flex"].is_preferred(long(length)) for length in range(2000, 2010))
    assert not flex.SEEN


@pytest.mark.usefixtures("unseen")
def test_equal_layers_share_what_is_compiled():
    with torch.no_grad():
        for _ in range(3):
            serve(long(2000, "distance-aware"))
    assert len(flex.SEEN) == 1


@pytest.mark.filterwarnings("ignore")
def test_by_name_the_limit_of_torch_is_one_line(monkeypatch):
    """Torch's own limit, of no variant at all."""
    monkeypatch.setattr(flex, "VARIANTS", 0)
    monkeypatch.setattr(flex, "compiler_problem", lambda: None)  # nothing is compiled
    q = torch.zeros(1, 2, 37, 16)
    for _ in range(2):
        with torch.no_grad(), pytest.raises(InputError, match="pad sequences to fewer lengths") as refused:
            attend("softmax", q, q, q, kernel="flex")
        assert "\n" not in str(refused.value)


def test_whether_it_can_is_asked_for_one_token(monkeypatch):
    """The table of coefficients of a long sequence is not built to answer."""
    call = small("distance-aware", size=4000)
    asked = []
    position = type(call.mechanism.position)
    monkeypatch.setattr(position, "coefficient", lambda self, at, dtype: asked.append(len(at)) or at.float())
    assert flex.reason_against_flex(call) is None
    assert len(asked) == 1
    assert asked[0] <= 2

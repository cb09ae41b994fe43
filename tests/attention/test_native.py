"""The native kernel over many tiles, its precision and gradients; how it is compiled, chosen and refused."""

import platform
import shutil
import subprocess
import sys
from dataclasses import replace
from itertools import product

import pytest
import torch
from torch.utils.checkpoint import checkpoint

import glasshead
from glasshead.attention import (
    KERNELS,
    AttentionInputs,
    Mask,
    MultiHeadAttention,
    attend,
    build_native,
    mechanism,
    select_kernel,
)
from glasshead.attention.attend import run_kernel
from glasshead.attention.kernels.native import unbuilt
from glasshead.attention.kernels.native_programs.build import possible_capabilities
from glasshead.attention.kernels.native_programs.operators import best_capability, operators
from glasshead.compiled import list_compiled_capabilities, native_library
from glasshead.errors import InputError
from tolerances import ONE_FORMULA, ONE_FORMULA_SINGLE

KEYS = 1100
"""Three tiles of keys, the last of which is not full."""
FIRST, QUERIES = 500, 300
BATCH, HEADS, GROUPS, SIZE = 2, 4, 2, 5
needs_compiler = [pytest.mark.slow, pytest.mark.usefixtures("native_kernel")]


def holes():
    real = torch.ones(BATCH, KEYS, dtype=torch.bool)
    real[0, :40] = real[0, 600:900] = real[0, 1050:] = False
    real[1, ::3] = False
    return real


def masks():
    at = range(FIRST, FIRST + QUERIES)
    near = (torch.arange(KEYS) - torch.tensor(at)[:, None]).abs() < 60
    ends = torch.ones(BATCH, KEYS, dtype=torch.bool)
    ends[0, :7] = ends[1, 815:] = False  # queries stand between them
    return {
        "everything": Mask(QUERIES, KEYS, query_positions=at),
        "padding at the ends": Mask(QUERIES, KEYS, ends, query_positions=at),
        "holes": Mask(QUERIES, KEYS, holes(), query_positions=at),
        "causal": Mask(QUERIES, KEYS, causal=True, query_positions=at),
        "causal with holes": Mask(QUERIES, KEYS, holes(), causal=True, query_positions=at),
        "window": Mask(QUERIES, KEYS, attn_mask=near[None, None], query_positions=at),
        "window with holes": Mask(QUERIES, KEYS, holes(), near[None, None], query_positions=at),
        "rows in any order": Mask(
            QUERIES, KEYS, causal=True, query_positions=torch.randperm(KEYS)[:QUERIES]
        ),
    }  # fmt: skip


MECHANISMS = {
    "tanhmax": "tanhmax",
    "softmax": "softmax",
    "sigsoftmax": "sigsoftmax",
    "sigmoid": "sigmoid",
    "relu": "relu",
    "transformer-xl": "tanhmax+transformer-xl",
    **{
        f"{activation}, {adjust}": {
            "activation": activation,
            "position": {"name": "distance-aware", "adjust": adjust},
        }
        for activation in ("softmax", "tanhmax")
        for adjust in ("early-multiply", "signed-multiply", "early-add")
    },
}


def call_of(spec, mask, dtype=torch.float64, spread=1.0, seed=3, sizes=(SIZE, 7)):
    torch.manual_seed(seed)
    made = mechanism(spec, num_heads=HEADS, head_dim=sizes[0], value_dim=sizes[1]).to(dtype)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.copy_(torch.randn_like(parameter) / 20)
    q, k, v = (
        (torch.randn(BATCH, heads, length, size, dtype=dtype) * factor).requires_grad_()
        for heads, length, size, factor in (
            (HEADS, mask.queries, sizes[0], spread),
            (GROUPS, mask.keys, sizes[0], 1.0),
            (GROUPS, mask.keys, sizes[1], 1.0),
        )
    )
    return AttentionInputs.of(made, q, k, v, mask=mask)


def outcome(call, output, *more):
    along = torch.randn(output.shape, generator=torch.Generator().manual_seed(1)).to(output.dtype)
    inputs = [call.q, call.k, call.v, *call.mechanism.parameters(), *more]
    return output, *torch.autograd.grad(output, inputs, along, allow_unused=True, materialize_grads=True)


def assert_equal(found, expected, **tolerance):
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, **tolerance)


def relative_errors(name, spread, seed):
    """‖error‖ / ‖result in float64‖ of the kernel and of the formula, of the output and every gradient."""
    call = call_of(
        name, masks()["everything"], torch.float32, spread * 2, seed
    )  # 2: SD of q·k/√5 is `spread`
    made = mechanism(call.mechanism.spec, num_heads=HEADS, head_dim=SIZE, value_dim=7).double()
    made.load_state_dict(call.mechanism.state_dict())
    leaves = {each: getattr(call, each).detach().double().requires_grad_() for each in "qkv"}
    wide = replace(call, mechanism=made, **leaves)
    right = outcome(wide, made(wide)[0])
    return [
        [
            float((found - exact).detach().norm() / exact.detach().norm())
            for found, exact in zip(ours, right, strict=True)
        ]
        for ours in (outcome(call, output) for output in (KERNELS["native"](call), call.mechanism(call)[0]))
    ]


class TestCompiled:
    pytestmark = needs_compiler

    @pytest.mark.parametrize("mask", masks())
    @pytest.mark.parametrize("name", MECHANISMS)
    def test_many_tiles_are_the_formula(self, name, mask):
        call = call_of(MECHANISMS[name], masks()[mask])
        ours = outcome(call, KERNELS["native"](call))
        assert_equal(ours, outcome(call, call.mechanism(call)[0]), **ONE_FORMULA)

    @pytest.mark.parametrize("mapping", ["clip", "linear", "exponent", "sigmoid", "learnable-sigmoid"])
    def test_every_mapping_of_distances(self, mapping):
        spec = {"activation": "tanhmax", "position": {"name": "distance-aware", "mapping": mapping}}
        call = call_of(spec, Mask(150, 150, query_positions=range(150)))
        ours = outcome(call, KERNELS["native"](call))
        assert_equal(ours, outcome(call, call.mechanism(call)[0]), **ONE_FORMULA)

    @pytest.mark.parametrize("name", ["tanhmax", "softmax", "sigmoid", "distance-aware"])
    @pytest.mark.parametrize("shared", [(False, False), (True, False), (False, True), (True, True)])
    def test_a_bias_and_its_gradient(self, name, shared):
        call = call_of(name, masks()["causal with holes"])
        batch, heads = (1 if one else many for one, many in zip(shared, (BATCH, HEADS), strict=True))
        bias = torch.randn(batch, heads, QUERIES, KEYS, dtype=torch.float64, requires_grad=True)
        call = call.add_bias(bias)
        ours = outcome(call, KERNELS["native"](call), bias)
        assert_equal(ours, outcome(call, call.mechanism(call)[0], bias), **ONE_FORMULA)

    @pytest.mark.parametrize(
        ("name", "spread"),
        [
            *product(["tanhmax", "sigsoftmax", "relu"], [1e-4, 0.01, 1.0, 30.0, 300.0]),
            *product(["tanhmax+distance-aware"], [1e-4, 1.0, 300.0]),  # draws four times as often
        ],
    )
    def test_errors_beside_those_of_the_formula_in_float32(self, name, spread):
        """At most 1e-6 of the output and 4e-6 of its gradients; at large scores, and of what a position
        learns, about those of the formula, whose scores round alike. What a position learns is few numbers,
        which hold the rounding of all pairs: its error is compared over several draws."""
        draws = [relative_errors(name, spread, seed) for seed in range(24 if "+" in name else 6)]
        if spread <= 1:
            limits = torch.tensor([1e-6, 4e-6, 4e-6, 4e-6])
            assert all((torch.tensor(ours[:4]) <= limits).all() for ours, _ in draws[:6]), draws
        ours, formula = torch.tensor(draws).square().mean(0).sqrt()
        # The ratio of two errors of equal size exceeds 2 once in a thousand times with 24 draws.
        limits = torch.tensor([1.1] * 4 + [2.0] * (len(ours) - 4))
        first = 0 if spread > 1 else 4
        assert (ours <= limits * formula.clamp_min(1e-6))[first:].all(), (ours, formula)

    @pytest.mark.parametrize("name", ["tanhmax", "sigsoftmax"])
    def test_a_key_that_takes_nearly_all_and_gives_nothing_leaves_the_digits_of_the_rest(self, name):
        """Its value is 0, so that the output is what the others give, e^−48 of it for scores of 48."""
        torch.manual_seed(0)
        made = mechanism(name, num_heads=1, head_dim=2)
        k = torch.cat([torch.tensor([[0.0, 48.0]]), torch.rand(40, 2) * torch.tensor([4.0, 0.0])])
        q, v = torch.tensor([[1.0, 1.0]]).expand(20, 2), torch.randn(41, 3)
        v[0] = 0
        inputs = [each[None, None] for each in (q, k, v)]
        call = AttentionInputs.of(made, *inputs, scale=1.0)
        wide = AttentionInputs.of(made, *(each.double() for each in inputs), scale=1.0)
        right = wide.mechanism(wide)[0]
        assert (KERNELS["native"](call) - right).norm() <= 1e-5 * right.norm()

    def test_padding_of_one_text_is_that_of_all(self):
        """Where C++ would read beyond it."""
        real = torch.ones(1, 64, dtype=torch.bool)
        real[0, 50:] = False
        q, k, v = torch.randn(3, 5, 2, 64, 8).unbind()
        call = AttentionInputs.of(mechanism("tanhmax"), q, k, v, mask=Mask(64, 64, real))
        torch.testing.assert_close(
            run_kernel(call, "native"), run_kernel(call, "reference"), **ONE_FORMULA_SINGLE
        )

    def test_positions_of_another_integer_type(self):
        at = torch.arange(20, 50, dtype=torch.int32)
        call = call_of("tanhmax+distance-aware", Mask(30, 50, causal=True, query_positions=at))

        assert_equal(
            outcome(call, KERNELS["native"](call)), outcome(call, call.mechanism(call)[0]), **ONE_FORMULA
        )

    def test_sizes_that_do_not_fit_are_refused_by_the_operator(self):
        forward = operators(best_capability()).forward
        q = torch.randn(2, 2, 20, 8)
        short = torch.ones(1, 20, dtype=torch.bool)
        with pytest.raises(RuntimeError, match="padding has sizes"):
            forward(q, q, q, None, None, [short, None, None, None, None], 1.0, "tanhmax", "none")
        far = [None, None, None, torch.arange(500, 520)[None], torch.arange(20)[None]]
        with pytest.raises(RuntimeError, match="is beyond the"):
            forward(q, q, q, None, torch.ones(2, 41), far, 1.0, "tanhmax", "early-multiply")

    @pytest.mark.parametrize("name", ["tanhmax", "softmax", "sigsoftmax", "sigmoid", "relu"])
    @pytest.mark.parametrize("bits", [0x7FC00001, 0x7FFFFFFF, -1])
    def test_a_number_that_is_none_stays_none(self, name, bits):
        bad = torch.tensor(bits, dtype=torch.int32).view(torch.float32)
        q, k, v = torch.randn(3, 1, 1, 40, 4).unbind()
        k[0, 0, 3, 1] = bad
        call = AttentionInputs.of(mechanism(name), q, k, v)
        assert KERNELS["native"](call).isnan().all()

    def test_what_takes_other_derivatives_is_served_by_another(self):
        q, k, v = torch.randn(3, 1, 2, 512, 16).unbind()

        def work(q):
            return attend("sigsoftmax", q, k, v).output

        along = torch.randn_like(q)
        _, moved = torch.func.jvp(work, (q,), (along,))
        step = 1e-3
        slope = (work(q + step * along) - work(q - step * along)) / (2 * step)
        assert (moved - slope).norm() < 0.02 * slope.norm()
        mapped = torch.vmap(work)(torch.stack([q, 2 * q]))
        torch.testing.assert_close(mapped[1], work(2 * q), **ONE_FORMULA_SINGLE)
        gradient = torch.func.grad(lambda q: work(q).sum())(q)
        leaf = q.clone().requires_grad_()
        torch.testing.assert_close(
            gradient, torch.autograd.grad(work(leaf).sum(), leaf)[0], **ONE_FORMULA_SINGLE
        )

    @pytest.mark.compiled
    def test_a_fresh_process_compiles_around_it(self):
        done = subprocess.run([sys.executable, "-c", FRESH], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    def test_memory_is_linear(self):
        """The weights of 16,384 tokens are a gigabyte."""
        done = subprocess.run([sys.executable, "-c", LONG], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert float(done.stdout) < 250

    def test_a_file_that_is_no_library_is_left_out_and_built_again(self, monkeypatch, tmp_path):
        monkeypatch.setenv("COMPILED", str(native_library(torch.backends.cpu.get_cpu_capability())))
        monkeypatch.setenv("GLASSHEAD_CACHE", str(tmp_path))
        done = subprocess.run([sys.executable, "-c", BROKEN], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert "cannot be loaded" in done.stdout

    @pytest.mark.parametrize("name", ["tanhmax", "sigsoftmax", "softmax", "distance-aware"])
    def test_scores_of_ten_thousand_are_finite(self, name):
        call = call_of(name, masks()["causal"], torch.float32, 1e4)
        assert all(each.isfinite().all() for each in outcome(call, KERNELS["native"](call)))

    @pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="others are fast with them")
    def test_saturated_attention_leaves_no_denormal_numbers(self):
        """An Intel processor takes a hundred cycles for each, here and in every later layer."""
        call = call_of("tanhmax", masks()["everything"], torch.float32, 600.0)
        for found in outcome(call, KERNELS["native"](call)):
            sizes = found.detach().abs()
            assert not ((sizes > 0) & (sizes < torch.finfo(torch.float32).tiny)).any()
        doubled = torch.tensor(1e-38) / 4  # the mode of the caller is as before
        assert doubled * 4 > 0

    @pytest.mark.parametrize("mask", masks())
    @pytest.mark.parametrize("sizes", [(SIZE, 7), (10, 48), (16, 2)])
    def test_bfloat16_is_summed_in_float32(self, sizes, mask):
        """Even sizes by the units of the processor for bfloat16, where it has some; 16 has an exact scale."""
        call = call_of("tanhmax", masks()[mask], torch.float32, sizes=sizes)
        halved = {each: getattr(call, each).detach().bfloat16().requires_grad_() for each in "qkv"}
        small = replace(call, **halved)
        wide = replace(
            call, **{each: tensor.detach().float().requires_grad_() for each, tensor in halved.items()}
        )
        for found, right in zip(
            outcome(small, KERNELS["native"](small)), outcome(wide, wide.mechanism(wide)[0]), strict=True
        ):
            assert found.dtype == torch.bfloat16
            assert (found.float() - right).norm() < 4e-3 * right.norm()

    @pytest.mark.parametrize("name", ["tanhmax", "tanhmax+distance-aware"])
    def test_a_second_derivative_is_that_of_the_formula_and_says_so(self, name):
        call = call_of(name, Mask(9, 9, causal=True, query_positions=range(9)))
        inputs = [call.q, call.k, call.v, *call.mechanism.parameters()]

        def second(output):
            first = torch.autograd.grad((output**2).sum(), inputs, create_graph=True)
            return torch.autograd.grad(sum((each**2).sum() for each in first), inputs)

        with pytest.warns(UserWarning, match="second derivatives of the native kernel"):
            found = second(KERNELS["native"](call))
        assert_equal(found, second(call.mechanism(call)[0]), **ONE_FORMULA)

    def test_its_operators_keep_what_torch_asks_of_operators(self):
        forward = operators(best_capability()).forward
        q, k, v = (torch.randn(1, 2, 20, 8, requires_grad=True) for _ in range(3))
        mask = [torch.rand(1, 20) > 0.3, None, torch.arange(20), None, None]
        options = (None, None, mask, 0.3, "tanhmax", "none")
        torch.library.opcheck(forward, (q, k, v, *options), rtol=1e-4, atol=1e-5)

    @pytest.mark.compiled
    @pytest.mark.parametrize("name", ["tanhmax", "tanhmax+distance-aware"])
    def test_torch_compiles_around_it(self, name):
        call = call_of(name, masks()["padding at the ends"], torch.float32)

        def work(q, k, v):
            return attend(call.mechanism, q * 2, k, v, mask=call.mask, kernel="native").output.tanh()

        compiled = torch.compile(work, fullgraph=True, backend="aot_eager")
        ours, right = (outcome(call, each(call.q, call.k, call.v)) for each in (compiled, work))
        assert_equal(ours, right, **ONE_FORMULA_SINGLE)

    def test_checkpointing_and_recording(self):
        torch.manual_seed(0)
        layer = MultiHeadAttention(32, 2, "tanhmax")
        x = torch.randn(3, 96, 32, requires_grad=True)
        plain = torch.autograd.grad(layer(x).output.square().sum(), x)
        again = torch.autograd.grad(
            checkpoint(lambda x: layer(x).output, x, use_reentrant=False).square().sum(), x
        )
        assert_equal(again, plain, **ONE_FORMULA_SINGLE)
        with glasshead.record(layer) as trace:
            recorded = layer(x).output
        torch.testing.assert_close(recorded, layer(x).output, **ONE_FORMULA_SINGLE)
        assert trace[0].weights.shape == (3, 2, 96, 96)

    def test_threads_share_the_work(self):
        call = call_of("tanhmax+distance-aware", masks()["holes"])
        before = torch.get_num_threads()
        alone = outcome(call, KERNELS["native"](call))
        try:
            torch.set_num_threads(3)
            assert_equal(outcome(call, KERNELS["native"](call)), alone, **ONE_FORMULA)
        finally:
            torch.set_num_threads(before)

    def test_it_is_chosen_where_it_is_faster(self):
        def chosen(name, length, heads=8, **options):
            q, k, v = (torch.randn(1, heads, length, 16) for _ in range(3))
            return select_kernel(
                AttentionInputs.of(mechanism(name, num_heads=heads, head_dim=16), q, k, v, **options)
            )

        assert chosen("tanhmax", 128) == "native"
        assert chosen("tanhmax", 64) == "sdpa"  # short rows
        assert chosen("tanhmax", 64, heads=32) == "native"
        assert chosen("tanhmax", 512, dropout=0.1) != "native"
        assert chosen("softmax", 512) == "sdpa"
        assert chosen("sigsoftmax", 512) == chosen("tanhmax+distance-aware", 512) == "native"
        assert chosen("relu", 32) == "reference"
        assert chosen("shaw", 512) != "native"

    def test_it_is_built_once(self, monkeypatch):
        monkeypatch.setattr("glasshead.attention.kernels.native_programs.build.compile_library", None)
        capability = torch.backends.cpu.get_cpu_capability()
        assert build_native((capability,)) == (native_library(capability),)
        assert capability in list_compiled_capabilities()


FRESH = """
import torch
from glasshead.attention import attend, mechanism
q, k, v = torch.randn(3, 1, 2, 512, 16).unbind()
made = mechanism("tanhmax")
work = lambda q: attend(made, q, k, v, kernel="native").output
torch.testing.assert_close(torch.compile(work, fullgraph=True, backend="aot_eager")(q), work(q))
"""
LONG = """
import resource, torch
from glasshead.attention import attend
def step(length):
    q, k, v = (each.requires_grad_() for each in torch.randn(3, 1, 1, length, 16).unbind())
    attend("tanhmax", q, k, v, kernel="native").output.sum().backward()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
before = step(64)
print(step(16384) - before)
"""
BROKEN = """
import os, shutil, warnings, torch
from glasshead.attention import attend, build_native
from glasshead.attention.kernels.native_programs import build
from glasshead.attention.kernels.native_programs.operators import best_capability
from glasshead.compiled import native_library

def compile_library(capability, path):  # what the compiler made, which takes half a minute each time
    os.replace(shutil.copyfile(os.environ["COMPILED"], f"{path}.new"), path)

build.compile_library = compile_library
using = torch.backends.cpu.get_cpu_capability()
path = native_library(using)
path.parent.mkdir(parents=True)
path.touch()
q = torch.randn(1, 2, 512, 16)
with warnings.catch_warnings(record=True) as caught:
    attend("tanhmax", q, q, q)
    attend("tanhmax", q, q, q)
print(*[each.message for each in caught])
assert len(caught) == 1
build_native((using,))
assert best_capability() == using
path.unlink()
build_native((using,))  # a second time in one process
assert best_capability() == using
attend("tanhmax", q, q, q, kernel="native")
"""
SCRIPT = """
import torch
from glasshead.attention import AttentionInputs, build_native, mechanism
from glasshead.attention.attend import run_kernel
from glasshead.attention.kernels.native_programs.operators import LIBRARIES, best_capability

using = torch.backends.cpu.get_cpu_capability()
build_native((using,))
assert best_capability() == using
for name in ("tanhmax", "sigsoftmax", "relu", "tanhmax+distance-aware"):
    for dtype, limit in ((torch.float64, 1e-12), (torch.float32, 2e-6), (torch.bfloat16, 1e-2)):
        torch.manual_seed(0)
        made = mechanism(name, num_heads=2, head_dim=16).to(dtype)
        leaves = [torch.randn(2, 2, 601, 16, dtype=dtype, requires_grad=True) for _ in range(3)]
        real = torch.rand(2, 601) > 0.2
        call = AttentionInputs.of(made, *leaves, mask=real, is_causal=True)
        results = []
        for kernel in ("native", "reference"):
            output = run_kernel(call, kernel)
            results.append((output, *torch.autograd.grad(output.sum(), [*leaves, *made.parameters()])))
        for one, other in zip(*results):
            assert (one - other).norm() <= limit * other.norm(), (name, dtype, one, other)
assert LIBRARIES.loaded == {using}
print("right with", using)
"""


@pytest.mark.slow
@pytest.mark.usefixtures("native_compiler")
@pytest.mark.parametrize("capability", ["default", "avx2"])
def test_older_instructions_are_right_too(capability, monkeypatch):
    if capability.upper() not in possible_capabilities():
        pytest.skip(f"this processor has no {capability}")
    monkeypatch.setenv("ATEN_CPU_CAPABILITY", capability)
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == f"right with {capability.upper()}", done.stderr


def tanhmax_call(length=512, **options):
    return AttentionInputs.of(mechanism("tanhmax"), *torch.randn(3, 1, 2, length, 16), **options)


def test_without_a_library_everything_is_as_before():
    assert list_compiled_capabilities() == ()
    assert select_kernel(tanhmax_call()) == "sdpa"
    with pytest.raises(
        InputError, match=r"native kernel cannot serve tanhmax: it is not compiled: call `glasshead"
    ):
        run_kernel(tanhmax_call(), "native")


@pytest.mark.parametrize(
    ("spec", "options", "reason"),
    [
        ("tanhmax", {"dropout": 0.2}, "set dropout=0"),
        ("dot-product", {}, "tanhmax, softmax, sigsoftmax, sigmoid and relu only"),
        ("shaw", {}, "acts after the activation"),
        ({"position": {"name": "distance-aware", "adjust": "late-add"}}, {}, "acts after the activation"),
        ("tanhmax", {}, unbuilt()),
    ],
)
def test_what_it_refuses(spec, options, reason):
    made = mechanism(spec, num_heads=2, head_dim=16)
    call = AttentionInputs.of(made, *torch.randn(3, 1, 2, 40, 16), **options)
    assert reason in KERNELS["native"].unsupported_reason(call)


def test_no_compiler_and_no_ninja_are_one_line(monkeypatch, tmp_path):
    monkeypatch.setenv("GLASSHEAD_CACHE", str(tmp_path))
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(InputError, match="no C\\+\\+ compiler 'no-such-compiler': install one"):
        build_native()
    monkeypatch.setenv("CXX", sys.executable)  # any program that is there
    monkeypatch.setattr(shutil, "which", lambda name: None if name == "ninja" else name)
    with pytest.raises(InputError, match=r"pip install 'glasshead\[native\]'"):
        build_native()
    assert list_compiled_capabilities() == ()


@pytest.mark.parametrize("spread", [1e-4, 0.01, 1.0])
def test_small_scores_keep_their_digits_whatever_is_chosen(spread):
    """Where scores are small, sdpa would lose 1.7e-6 of the output at 0.01 and 1.7e-4 at 1e-4."""
    q, k, v, along = torch.randn(4, 1, 4, 300, 16)
    results = []
    for dtype, kernel in ((torch.float32, "auto"), (torch.float64, "reference")):
        leaves = [each.to(dtype).requires_grad_() for each in (q * spread, k, v)]
        output = attend("tanhmax", *leaves, kernel=kernel).output
        results.append((output, *torch.autograd.grad(output, leaves, along.to(dtype))))
    for (one, right), limit in zip(zip(*results, strict=True), (1e-6, 2e-6, 2e-6, 2e-6), strict=True):
        assert (one - right).norm() <= limit * right.norm()

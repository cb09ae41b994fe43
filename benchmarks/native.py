"""What the native kernel costs beside softmax by PyTorch, from which length on, and how large its errors are.

`python -m reproduction speed native` writes it down, after `glasshead kernels build`.
"""

import statistics
from collections.abc import Iterator
from dataclasses import asdict

import torch

from benchmarks.attention import AttentionSettings, measure_attention
from benchmarks.measuring import machine, time_interleaved
from benchmarks.training import TrainingSettings, measure_training
from glasshead.attention import KERNELS, AttentionInputs, mechanism, run_kernel
from glasshead.compiled import list_compiled_capabilities

ROUNDS = 9
PAIRED = ("tanhmax", "tanhmax+distance-aware")
MECHANISMS = ("tanhmax", "distance-aware", "tanhmax+distance-aware", "sigsoftmax", "sigmoid", "relu")
SPREADS = (1e-4, 0.01, 1.0, 30.0, 300.0)
LENGTHS = (16, 32, 64, 128, 256, 512, 1024)
TENSORS = ("output", "dq", "dk", "dv")


def speed() -> Iterator[dict]:
    """Every mechanism with every mask, and TanhMax in bfloat16."""
    common = {
        "kernels": ("native", "sdpa"),
        "backward": True,
        "linear_at": None,
        "budget": 1.0,
        "rounds": ROUNDS,
    }
    masks = ("none", "padding", "causal", "window")
    for settings in (
        AttentionSettings(mechanisms=MECHANISMS, masks=masks, **common),
        AttentionSettings(mechanisms=PAIRED, dtype="bfloat16", **common),
    ):
        for result in measure_attention(settings):
            yield asdict(result)


def training() -> Iterator[dict]:
    """Steps of the encoder."""
    settings = TrainingSettings(lengths=(512,), mechanisms=MECHANISMS[:3], rounds=ROUNDS)
    for result in measure_training(settings):
        if result.work == "step":
            yield asdict(result)


def call_of(
    name: str, length: int, spread: float = 1.0, dtype: torch.dtype = torch.float32
) -> AttentionInputs:
    """Eight heads of 64 with scores of that standard deviation, and gradients."""
    torch.manual_seed(0)
    q, k, v = torch.randn(3, 1, 8, length, 64)
    leaves = [each.to(dtype).requires_grad_() for each in (q * spread, k, v)]
    return AttentionInputs.of(mechanism(name, num_heads=8, head_dim=64).to(dtype), *leaves)


def results_of(call: AttentionInputs, kernel: str) -> list[torch.Tensor]:
    """The output and the gradients of q, k and v of a fixed sum."""
    output = run_kernel(call, kernel)
    along = torch.randn(output.shape, generator=torch.Generator().manual_seed(1)).to(output.dtype)
    return [output.detach(), *torch.autograd.grad(output, [call.q, call.k, call.v], along)]


def errors() -> Iterator[dict]:
    """‖error‖ / ‖result in float64‖ of three ways to compute TanhMax in float32."""
    for spread in SPREADS:
        right = results_of(call_of("tanhmax", 512, spread, torch.float64), "reference")
        for kernel in ("native", "reference", "sdpa"):
            found = results_of(call_of("tanhmax", 512, spread), kernel)
            sizes = [
                float((one - other).norm() / other.norm()) for one, other in zip(found, right, strict=True)
            ]
            yield {"spread": spread, "kernel": kernel, **dict(zip(TENSORS, sizes, strict=True))}


def crossover() -> Iterator[dict]:
    """Times over those of the fastest other kernel that the automatic choice has there."""
    others = {"tanhmax": "sdpa", "distance-aware": "tiles", "sigsoftmax": "reference", "relu": "reference"}
    for name, other in others.items():
        for length in LENGTHS:
            call = call_of(name, length)

            def both(kernel: str, call: AttentionInputs = call) -> object:
                return results_of(call, kernel)

            def forward(kernel: str, call: AttentionInputs = call) -> object:
                with torch.no_grad():
                    return run_kernel(call, kernel)

            row = {"mechanism": name, "other": other, "length": length}
            for way, work in (("forward", forward), ("backward", both)):
                seconds = time_interleaved(
                    {kernel: lambda kernel=kernel, work=work: work(kernel) for kernel in ("native", other)},
                    1.0,
                )
                row[way] = statistics.median(
                    one / base for one, base in zip(seconds["native"], seconds[other], strict=True)
                )
            yield row


def measure_native() -> Iterator[tuple[str, object]]:
    """Everything, part by part; minutes."""
    assert KERNELS["native"].unsupported_reason(call_of("tanhmax", 1)) is None, "glasshead kernels build"
    yield "machine", {**machine("cpu"), "compiled": list_compiled_capabilities(), "rounds": ROUNDS}
    for part in (errors, crossover, training, speed):
        yield part.__name__, list(part())

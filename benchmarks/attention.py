"""Every mechanism by every kernel that serves it, against PyTorch's fused softmax attention.

    python -m benchmarks.attention --lengths 1024 4096 --out results.json

×: time over that of softmax by PyTorch's fused attention with the same mask, median and range of the rounds
in which both ran. memory: the peak over its peak, q, k, v and output included. error: the largest difference
to the formula in float64. of product (GPU): operations over those of a large matrix product.
"""

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import asdict, dataclass, replace
from itertools import product

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from benchmarks.measuring import (
    Spread,
    Work,
    argument_parser,
    format_number,
    matmul_rate,
    peak_bytes,
    ratios,
    report,
    time_interleaved,
)
from glasshead.attention import (
    ACTIVATIONS,
    KERNELS,
    MECHANISM_PRESETS,
    POSITIONS,
    AttentionInputs,
    Mask,
    mechanism,
    parse,
    run_kernel,
)

MECHANISMS = (
    *dict.fromkeys((*ACTIVATIONS, *MECHANISM_PRESETS, *(name for name in POSITIONS if name != "none"))),
    "tanhmax+distance-aware",
)
LITERAL = "literal"
"""The formula of TanhMax as the paper prints it (eq. 6), by no kernel of ours."""
MAX_SCORES = 2**28
"""Scores up to which the whole matrix is held: a gibibyte in float32, several times over."""
LONG = 16_384
"""Where linear time shows."""
MASKS = ("none", "padding", "causal", "window")
"""Padding is the last quarter of the keys. In a window, which is a mask of all pairs, a query sees itself and
the keys before it, an eighth of them all."""
DTYPES = ("float32", "bfloat16")
JUDGED = 32
"""Rows of the output that are compared with the formula in float64."""


@dataclass(frozen=True)
class AttentionSettings:
    """What is measured: batch 1, so many heads of a size, at each length."""

    lengths: tuple[int, ...] = (2048,)
    sizes: tuple[int, ...] = (64,)
    heads: int = 8
    mechanisms: tuple[str, ...] = MECHANISMS
    kernels: tuple[str, ...] = tuple(KERNELS)
    masks: tuple[str, ...] = MASKS[:1]
    backward: bool = False
    device: str = "cpu"
    dtype: str = "float32"
    linear_at: int | None = LONG
    budget: float = 1.5
    """Seconds for each mechanism and kernel."""
    rounds: int = 1
    """At least so many rounds, whatever they take."""


QUICK = tuple(name for name in KERNELS if name not in ("reference", "flex"))
"""Kernels that neither hold the whole matrix nor compile for many seconds on a CPU."""


@dataclass(frozen=True)
class AttentionResult:
    """One mechanism by one kernel, forward or forward and backward; ratios are to softmax of PyTorch."""

    mechanism: str
    kernel: str
    length: int
    size: int
    backward: bool
    mask: str
    dtype: str
    seconds: Spread
    ratio: Spread
    peak: int
    """Bytes at the highest point, q, k, v and output included."""
    memory_ratio: float
    error: float
    """The largest |output − formula in float64|."""
    rate: float
    """Operations per second that the two matrix products of the formula would need, done or saved."""
    share: float
    """Of the rate of a large matrix product on this machine."""


@dataclass(frozen=True)
class Case:
    """What is measured next."""

    mechanism: str
    kernel: str
    length: int
    size: int
    backward: bool
    mask: str


def measure_attention(settings: AttentionSettings) -> Iterator[AttentionResult]:
    """Results as they come."""
    peak_rate = matmul_rate(settings.device, getattr(torch, settings.dtype))
    for case in cases(settings):
        yield measure_case(case, settings, peak_rate)


def cases(settings: AttentionSettings) -> Iterator[Case]:
    """Every mechanism by every kernel that serves it and would not hold too large a matrix."""
    ways = (False, True) if settings.backward else (False,)
    for backward, mask, size in product(ways, settings.masks, settings.sizes):
        for length, name in product(settings.lengths, settings.mechanisms):
            case = Case(name, LITERAL, length, size, backward, mask)
            yield from kernel_cases(case, settings, settings.kernels)
            if name == "tanhmax" and mask == "none" and fits_in_memory(case, settings):
                yield case
        if settings.linear_at is not None and settings.linear_at not in settings.lengths:
            for name in settings.mechanisms:
                kernels = tuple(kernel for kernel in settings.kernels if kernel == "linear")
                case = Case(name, "", settings.linear_at, size, backward, mask)
                yield from kernel_cases(case, settings, kernels)


def kernel_cases(case: Case, settings: AttentionSettings, kernels: tuple[str, ...]) -> Iterator[Case]:
    """A case for each kernel that can serve it."""
    call = make_inputs(replace(case, length=1), settings)
    for kernel in kernels:
        if (KERNELS[kernel].linear_memory or fits_in_memory(case, settings)) and KERNELS[
            kernel
        ].unsupported_reason(call) is None:
            yield replace(case, kernel=kernel)


def fits_in_memory(case: Case, settings: AttentionSettings) -> bool:
    """Whether the whole matrix may be held."""
    return settings.heads * case.length**2 <= MAX_SCORES


def make_inputs(case: Case, settings: AttentionSettings) -> AttentionInputs:
    """The call to be measured, equal in every run."""
    torch.manual_seed(0)
    spec = parse(case.mechanism)
    if spec["position"]["name"] == "cosine":
        spec["position"] = {"name": "cosine", "reach": case.length}
    attention = mechanism(spec, num_heads=settings.heads, head_dim=case.size).to(settings.device)
    shape = 1, settings.heads, case.length, case.size
    q, k, v = (
        torch.randn(shape, device=settings.device)
        .to(getattr(torch, settings.dtype))
        .requires_grad_(case.backward)
        for _ in range(3)
    )
    mask = mask_of(case.mask, case.length, settings.device)
    return AttentionInputs.of(attention.requires_grad_(case.backward), q, k, v, mask=mask)


def mask_of(name: str, length: int, device: str) -> Mask:
    """A mask by its name, for one text."""
    at = torch.arange(length, device=device)
    padding = (at < length - length // 4)[None] if name == "padding" else None
    behind = at[:, None] - at
    pairs = ((behind >= 0) & (behind <= length // 8))[None, None] if name == "window" else None
    return Mask(length, length, padding, pairs, name == "causal", range(length))


def softmax_attention(call: AttentionInputs) -> Callable[[], Tensor]:
    """PyTorch's own, with the mask of the call in the form that it likes best."""
    mask = call.mask
    allowed = mask.attn_mask if mask.padding is None else mask.padding[:, None, None]
    return lambda: scaled_dot_product_attention(
        call.q, call.k, call.v, attn_mask=allowed, is_causal=mask.causal
    )


def measure_case(case: Case, settings: AttentionSettings, peak_rate: float) -> AttentionResult:
    """Time, memory and error of one case."""
    call = make_inputs(case, settings)
    works: dict[str, Work] = {
        "base": softmax_attention(call),
        "case": lambda: literal_tanhmax(call) if case.kernel == LITERAL else run_kernel(call, case.kernel),
    }
    if case.backward:
        works = {name: with_gradients(call, work) for name, work in works.items()}
    with torch.set_grad_enabled(case.backward):
        seconds = time_interleaved(works, settings.budget, settings.device, settings.rounds)
        peaks = {name: peak_bytes(work, settings.device) for name, work in works.items()}
    inputs = sum(tensor.numel() * tensor.element_size() for tensor in (call.q, call.k, call.v))
    base, time = seconds["base"], Spread.of(seconds["case"])
    products = 4 * settings.heads * case.length**2 * case.size * (3.5 if case.backward else 1.0)
    return AttentionResult(
        **asdict(case),
        dtype=settings.dtype,
        seconds=time,
        ratio=ratios(seconds["case"], base),
        peak=inputs + peaks["case"],
        memory_ratio=(inputs + peaks["case"]) / (inputs + peaks["base"]),
        error=max_error(case, call),
        rate=products / time.median,
        share=products / time.median / peak_rate,
    )


def literal_tanhmax(call: AttentionInputs) -> Tensor:
    """((e^s − e^−s) / Σ(e^s + e^−s)) v."""
    scores = call.q @ call.k.transpose(-1, -2) * call.scale
    up, down = scores.exp(), (-scores).exp()
    return ((up - down) / (up + down).sum(dim=-1, keepdim=True)) @ call.v


def with_gradients(call: AttentionInputs, forward: Callable[[], object]) -> Work:
    """The same with the gradients of q, k, v and the parameters."""
    along = torch.randn_like(call.v)
    inputs = [call.q, call.k, call.v, *call.mechanism.parameters()]

    def both() -> object:
        output = forward()
        assert isinstance(output, Tensor)
        return output, torch.autograd.grad(output, inputs, along, allow_unused=True)

    return both


@torch.no_grad()
def max_error(case: Case, call: AttentionInputs) -> float:
    """The largest difference to the formula in float64, over some rows from the first to the last."""
    output = literal_tanhmax(call) if case.kernel == LITERAL else run_kernel(call, case.kernel)
    rows = torch.linspace(0, case.length - 1, min(JUDGED, case.length), device=call.q.device).long()
    exact = replace(
        call,
        mechanism=deepcopy(call.mechanism).double(),
        **{name: getattr(call, name).double() for name in ("q", "k", "v")},
    ).rows(rows)
    return float((output[:, :, rows].double() - exact.mechanism(exact)[0]).abs().max())


def table_title(result: AttentionResult) -> str:
    """One table for each length, head size, mask and direction."""
    way = "forward and backward" if result.backward else "forward"
    mask = "" if result.mask == "none" else f"{result.mask} mask, "
    return f"{result.length:,} tokens, heads of {result.size}, {result.dtype}, {mask}{way}"


def columns(gpu: bool) -> dict[str, Callable[[AttentionResult], object]]:
    """What is said of each mechanism by each kernel."""
    speed: dict[str, Callable[[AttentionResult], object]] = {
        "ms": lambda result: format_number(result.seconds.median * 1e3)
    }
    if gpu:
        speed = {
            "TFLOP/s": lambda result: f"{result.rate / 1e12:.0f}",
            "of product": lambda result: f"{result.share:.0%}",
        }
    return {
        "mechanism": lambda result: result.mechanism,
        "kernel": lambda result: result.kernel,
        **speed,
        "×": lambda result: result.ratio,
        "memory ×": lambda result: format_number(result.memory_ratio),
        "error": lambda result: f"{result.error:.0e}",
    }


def main(words: list[str] | None = None) -> None:
    """Measure what the options say, and print it."""
    parser = argument_parser(__doc__)
    parser.add_argument("--mechanisms", nargs="+", choices=MECHANISMS, default=MECHANISMS)
    parser.add_argument("--kernels", nargs="+", choices=tuple(KERNELS), help="else all but the slow ones")
    parser.add_argument("--masks", nargs="+", choices=MASKS, default=MASKS[:1])
    parser.add_argument("--dtype", choices=DTYPES, help="else float32 (GPU: bfloat16)")
    parser.add_argument("--rounds", type=int, default=1, help="at least so many, whatever they take")
    parser.add_argument("--backward", action="store_true", help="forward and backward passes too")
    parser.add_argument("--full", action="store_true", help="every kernel, both ways, long texts: minutes")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    asked = parser.parse_args(words)
    gpu = asked.device == "cuda"
    usual = (1024, 2048, 4096, 8192, LONG) if gpu else (2048, 8192)
    settings = AttentionSettings(
        lengths=tuple(asked.lengths or (usual if asked.full else (4096 if gpu else 2048,))),
        sizes=(64, 128) if gpu else (64,),
        heads=16 if gpu else 8,
        mechanisms=tuple(asked.mechanisms),
        kernels=tuple(asked.kernels or (KERNELS if asked.full or gpu else QUICK)),
        masks=tuple(asked.masks),
        backward=asked.backward or asked.full,
        device=asked.device,
        dtype=asked.dtype or ("bfloat16" if gpu else "float32"),
        linear_at=None if asked.lengths else LONG,
        rounds=asked.rounds,
    )
    report(measure_attention(settings), table_title, columns(gpu), settings, asked.out, asked.device)


if __name__ == "__main__":
    main()

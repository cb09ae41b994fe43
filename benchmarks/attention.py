"""Every mechanism by every kernel that serves it, against PyTorch's fused softmax attention."""

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import asdict, dataclass, replace
from itertools import product

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

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
from glasshead.bench.machine import matmul_rate
from glasshead.bench.timing import Spread, Work, peak_bytes, ratios, time_interleaved
from glasshead.errors import InputError
from glasshead.registry import did_you_mean

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
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}
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
    dtype: torch.dtype = torch.float32
    linear_at: int | None = LONG
    budget: float = 1.5
    """Seconds for each mechanism and kernel."""
    rounds: int = 1
    """At least so many rounds, whatever they take."""

    def __post_init__(self) -> None:
        for name in self.mechanisms:
            if name not in MECHANISMS:
                raise InputError(f"no mechanism {name!r} to measure: {did_you_mean(name, MECHANISMS)}")
        for name in self.kernels:
            KERNELS[name]
        for name in self.masks:
            if name not in MASKS:
                raise InputError(f"no mask {name!r} to measure: {did_you_mean(name, MASKS)}")
        for length in self.lengths:
            if not 1 <= length <= 2**20:
                raise InputError(f"a length is between 1 and {2**20:,}, not {length:,}")
        if self.device not in ("cpu", "cuda"):
            raise InputError(f"unknown device {self.device!r}: {did_you_mean(self.device, ('cpu', 'cuda'))}")
        if self.device == "cuda" and not torch.cuda.is_available():
            raise InputError("torch finds no CUDA device here: measure with `device='cpu'`")


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


def measure_attention(
    settings: AttentionSettings, progress: Callable[[str], None] = lambda _: None
) -> Iterator[AttentionResult]:
    """Results as they come."""
    progress("matrix product")
    peak_rate = matmul_rate(settings.device, settings.dtype)
    for case in cases(settings):
        way = "forward and backward" if case.backward else "forward"
        masked = "" if case.mask == "none" else f", {case.mask}"
        progress(f"{case.mechanism} by {case.kernel}, {case.length:,} tokens{masked}, {way}")
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
        torch.randn(shape, device=settings.device).to(settings.dtype).requires_grad_(case.backward)
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
        dtype=str(settings.dtype).removeprefix("torch."),
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

"""From a request to a benchmark, and from its results to JSON."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import torch
from rich.console import RenderableType

from glasshead.attention import KERNELS
from glasshead.bench.attention import (
    DTYPES,
    MASKS,
    MECHANISMS,
    QUICK,
    AttentionResult,
    AttentionSettings,
    measure_attention,
)
from glasshead.bench.audit import AuditSettings, AuditSpeed, measure_audit
from glasshead.bench.explain import ExplainSettings, ExplainSpeed, measure_explain
from glasshead.bench.identifiability import (
    CASES,
    SIZES,
    IdentifiabilityResult,
    IdentifiabilitySettings,
    measure_identifiability,
)
from glasshead.bench.tables import (
    attention_table,
    audit_table,
    explain_table,
    identifiability_table,
    training_table,
)
from glasshead.bench.training import MECHANISMS as TRAINED
from glasshead.bench.training import TrainingResult, TrainingSettings, measure_training
from glasshead.errors import InputError, ParameterError
from glasshead.registry import Registry, did_you_mean


@dataclass(frozen=True)
class BenchRequest:
    """What a person wants measured; what is empty is left to the benchmark, lengths are otherwise the only
    ones."""

    lengths: tuple[int, ...] = ()
    mechanisms: tuple[str, ...] = ()
    kernels: tuple[str, ...] = ()
    masks: tuple[str, ...] = ()
    dtype: str = ""
    rounds: int = 0
    backward: bool = False
    full: bool = False
    device: str = "cpu"

    def refuse(self, *names: str) -> None:
        """Raise InputError where one of these is set, which only the benchmark of attention has."""
        for name in names:
            if getattr(self, name):
                raise ParameterError(name, "is for the benchmark of attention: leave it out")


def attention_settings(request: BenchRequest) -> AttentionSettings:
    """What is measured of attention.

    Raises:
        InputError: on lengths, names or devices that do not exist.
    """
    gpu = request.device == "cuda"
    usual = (1024, 2048, 4096, 8192, 16_384) if gpu else (2048, 8192)
    one = usual[2:3] if gpu else usual[:1]
    return AttentionSettings(
        lengths=request.lengths or (usual if request.full else one),
        sizes=(64, 128) if gpu else (64,),
        heads=16 if gpu else 8,
        mechanisms=request.mechanisms or MECHANISMS,
        kernels=request.kernels or (tuple(KERNELS) if request.full or gpu else QUICK),
        masks=request.masks or MASKS[:1],
        backward=request.backward or request.full,
        device=request.device,
        dtype=dtype_of(request.dtype or ("bfloat16" if gpu else "float32")),
        linear_at=None if request.lengths else 16_384,
        rounds=request.rounds or 1,
    )


def dtype_of(name: str) -> torch.dtype:
    """A type by its name.

    Raises:
        InputError: on another.
    """
    if name not in DTYPES:
        raise InputError(f"no type {name!r} to measure: {did_you_mean(name, DTYPES)}")
    return DTYPES[name]


def training_settings(request: BenchRequest) -> TrainingSettings:
    """What is measured of training.

    Raises:
        InputError: on lengths, names or devices that do not exist, and on options of attention.
    """
    request.refuse("kernels", "masks", "dtype", "backward", "full")
    return TrainingSettings(
        lengths=request.lengths or (128, 512),
        mechanisms=request.mechanisms or TRAINED,
        device=request.device,
        rounds=request.rounds or 1,
    )


def identifiability_settings(request: BenchRequest) -> IdentifiabilitySettings:
    """What is measured of intervals and ranks.

    Raises:
        InputError: on lengths that do not exist, and on options of the other benchmarks.
    """
    request.refuse("mechanisms", "kernels", "masks", "dtype", "rounds", "backward", "full")
    if request.device != "cpu":
        raise InputError("intervals are computed on the processor: leave `device` out")
    cases = tuple((length, size) for length in request.lengths for size in SIZES)
    return IdentifiabilitySettings(cases=cases or CASES)


def audit_settings(request: BenchRequest) -> AuditSettings:
    """What is measured of audits.

    Raises:
        InputError: on options of the other benchmarks.
    """
    request.refuse("lengths", "mechanisms", "kernels", "masks", "dtype", "rounds", "backward", "full")
    if request.device != "cpu":
        raise InputError("audits are measured on the processor: leave `device` out")
    return AuditSettings()


def explain_settings(request: BenchRequest) -> ExplainSettings:
    """What is measured of explanations.

    Raises:
        InputError: on lengths that are too large, and on options of the other benchmarks.
    """
    request.refuse("mechanisms", "kernels", "masks", "dtype", "rounds", "backward", "full")
    if request.device != "cpu":
        raise InputError("explanations are measured on the processor: leave `device` out")
    return ExplainSettings(tokens=request.lengths) if request.lengths else ExplainSettings()


Result = AttentionResult | TrainingResult | IdentifiabilityResult | AuditSpeed | ExplainSpeed
Settings = AttentionSettings | TrainingSettings | IdentifiabilitySettings | AuditSettings | ExplainSettings


def as_json(
    results: Sequence[AttentionResult | TrainingResult | IdentifiabilityResult | AuditSpeed | ExplainSpeed],
    facts: Mapping[str, object],
    settings: AttentionSettings
    | TrainingSettings
    | IdentifiabilitySettings
    | AuditSettings
    | ExplainSettings,
) -> str:
    """Everything that was measured, in full precision."""
    fields = asdict(settings)
    if isinstance(settings, AttentionSettings):
        fields["dtype"] = str(settings.dtype).removeprefix("torch.")
    page = {"machine": facts, "settings": fields, "results": [asdict(result) for result in results]}
    return json.dumps(page, ensure_ascii=False, indent=1) + "\n"


class Benchmark(NamedTuple):
    """From a request to settings, from these to results, from these to a table."""

    settings: Callable[[BenchRequest], Any]
    measure: Callable[[Any, Callable[[str], None]], Iterator[Any]]
    table: Callable[[Sequence[Any], Mapping[str, object]], RenderableType]


BENCHMARKS: Registry[Benchmark] = Registry("benchmark")
BENCHMARKS.register("attention")(Benchmark(attention_settings, measure_attention, attention_table))
BENCHMARKS.register("training")(Benchmark(training_settings, measure_training, training_table))
BENCHMARKS.register("audit")(Benchmark(audit_settings, measure_audit, audit_table))
BENCHMARKS.register("explain")(Benchmark(explain_settings, measure_explain, explain_table))
BENCHMARKS.register("identifiability")(
    Benchmark(identifiability_settings, measure_identifiability, identifiability_table)
)

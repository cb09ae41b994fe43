"""From the words of a command to a benchmark, and from its results to JSON."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

import torch
from rich.console import RenderableType

from glasshead.attention import KERNELS
from glasshead.bench.attention import MECHANISMS, QUICK, AttentionResult, AttentionSettings, measure_attention
from glasshead.bench.identifiability import (
    CASES,
    SIZES,
    IdentifiabilityResult,
    IdentifiabilitySettings,
    measure_identifiability,
)
from glasshead.bench.tables import identifiability_table, table, training_table
from glasshead.bench.training import MECHANISMS as TRAINED
from glasshead.bench.training import TrainingResult, TrainingSettings, measure_training
from glasshead.errors import InputError, ParameterError
from glasshead.registry import Registry


def attention_settings(
    lengths: Sequence[str] | None,
    mechanisms: Sequence[str] | None,
    kernels: Sequence[str] | None,
    *,
    backward: bool,
    full: bool,
    device: str,
) -> AttentionSettings:
    """What is measured with these options; lengths that were given are the only ones.

    Raises:
        InputError: on lengths, names or devices that do not exist.
    """
    gpu = device == "cuda"
    usual = (1024, 2048, 4096, 8192, 16_384) if gpu else (2048, 8192)
    every = tuple(KERNELS)
    return AttentionSettings(
        lengths=parse_lengths(lengths) if lengths else usual if full else usual[2:3] if gpu else usual[:1],
        sizes=(64, 128) if gpu else (64,),
        heads=16 if gpu else 8,
        mechanisms=tuple(mechanisms or MECHANISMS),
        kernels=tuple(kernels) if kernels else every if full or gpu else QUICK,
        backward=backward or full,
        device=device,
        dtype=torch.bfloat16 if gpu else torch.float32,
        linear_at=None if lengths else 16_384,
    )


def training_settings(
    lengths: Sequence[str] | None,
    mechanisms: Sequence[str] | None,
    kernels: Sequence[str] | None,
    *,
    backward: bool,
    full: bool,
    device: str,
) -> TrainingSettings:
    """What is measured of training with these options.

    Raises:
        InputError: on lengths, names or devices that do not exist, and on options of the other benchmark.
    """
    refuse_attention_settings(kernels=kernels, backward=backward, full=full)
    return TrainingSettings(
        lengths=parse_lengths(lengths) if lengths else (128, 512),
        mechanisms=tuple(mechanisms or TRAINED),
        device=device,
    )


def refuse_attention_settings(**settings: object) -> None:
    """Raise InputError for a setting that was chosen and that only the benchmark of attention has."""
    for name, value in settings.items():
        if value:
            raise ParameterError(name, "is for the benchmark of attention: leave it out")


def identifiability_settings(
    lengths: Sequence[str] | None,
    mechanisms: Sequence[str] | None,
    kernels: Sequence[str] | None,
    *,
    backward: bool,
    full: bool,
    device: str,
) -> IdentifiabilitySettings:
    """What is measured of intervals and ranks with these options.

    Raises:
        InputError: on lengths that do not exist, and on options of the other benchmarks.
    """
    refuse_attention_settings(mechanisms=mechanisms, kernels=kernels, backward=backward, full=full)
    if device != "cpu":
        raise InputError("intervals are computed on the processor: leave `device` out")
    cases = CASES if not lengths else tuple((n, size) for n in parse_lengths(lengths) for size in SIZES)
    return IdentifiabilitySettings(cases=cases)


def parse_lengths(words: Sequence[str]) -> tuple[int, ...]:
    """Lengths as numbers."""
    try:
        return tuple(dict.fromkeys(int(word) for word in words))
    except ValueError:
        raise InputError(f"lengths are whole numbers like 1024,4096, not {','.join(words)}") from None


def as_json(
    results: Sequence[AttentionResult | TrainingResult | IdentifiabilityResult],
    facts: Mapping[str, object],
    settings: AttentionSettings | TrainingSettings | IdentifiabilitySettings,
) -> str:
    """Everything that was measured, in full precision."""
    fields = asdict(settings)
    if isinstance(settings, AttentionSettings):
        fields["dtype"] = str(settings.dtype).removeprefix("torch.")
    page = {"machine": facts, "settings": fields, "results": [asdict(result) for result in results]}
    return json.dumps(page, ensure_ascii=False, indent=1) + "\n"


class Benchmark(NamedTuple):
    """From options to settings, from these to results, from these to a table."""

    settings: Callable[..., Any]
    measure: Callable[[Any, Callable[[str], None]], Iterator[Any]]
    table: Callable[[Sequence[Any], Mapping[str, object]], RenderableType]


BENCHMARKS: Registry[Benchmark] = Registry("benchmark")
BENCHMARKS.register("attention")(Benchmark(attention_settings, measure_attention, table))
BENCHMARKS.register("training")(Benchmark(training_settings, measure_training, training_table))
BENCHMARKS.register("identifiability")(
    Benchmark(identifiability_settings, measure_identifiability, identifiability_table)
)

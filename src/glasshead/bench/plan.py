"""From the words of a command to a benchmark, and from its results to JSON."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict

import torch

from glasshead.attention import KERNELS
from glasshead.bench.attention import MECHANISMS, QUICK, Result, Settings
from glasshead.errors import InputError
from glasshead.registry import nearest

BENCHMARKS = ("attention",)


def known(what: str) -> None:
    """Raise InputError unless there is such a benchmark."""
    if what not in BENCHMARKS:
        raise InputError(f"there is no benchmark of {what!r}: {nearest(what, BENCHMARKS)}")


def settings(
    lengths: Sequence[str] | None,
    mechanisms: Sequence[str] | None,
    kernels: Sequence[str] | None,
    *,
    backward: bool,
    full: bool,
    device: str,
) -> Settings:
    """What is measured if so much was said; lengths that were given are the only ones.

    Raises:
        InputError: on lengths, names or devices that do not exist.
    """
    gpu = device == "cuda"
    usual = (1024, 2048, 4096, 8192, 16_384) if gpu else (2048, 8192)
    every = tuple(KERNELS)
    return Settings(
        lengths=whole_numbers(lengths) if lengths else usual if full else usual[2:3] if gpu else usual[:1],
        sizes=(64, 128) if gpu else (64,),
        heads=16 if gpu else 8,
        mechanisms=tuple(mechanisms or MECHANISMS),
        kernels=tuple(kernels) if kernels else every if full or gpu else QUICK,
        backward=backward or full,
        device=device,
        dtype=torch.bfloat16 if gpu else torch.float32,
        linear_at=None if lengths else 16_384,
    )


def whole_numbers(words: Sequence[str]) -> tuple[int, ...]:
    """Lengths as numbers."""
    try:
        return tuple(dict.fromkeys(int(word) for word in words))
    except ValueError:
        raise InputError(f"lengths are whole numbers like 1024,4096, not {','.join(words)}") from None


def as_json(results: Sequence[Result], facts: Mapping[str, object], chosen: Settings) -> str:
    """Everything that was measured, in full precision."""
    asked = asdict(chosen) | {"dtype": str(chosen.dtype).removeprefix("torch.")}
    page = {"machine": facts, "settings": asked, "results": [asdict(each) for each in results]}
    return json.dumps(page, ensure_ascii=False, indent=1) + "\n"

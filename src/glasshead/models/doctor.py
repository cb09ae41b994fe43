"""Look a model over before anything runs: which layers dispatch, which kernels serve, what would go wrong."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import Tensor, nn
from transformers import PreTrainedConfig, PreTrainedModel

from glasshead.attention import KERNELS, Call, Mask, Mechanism, choose, mechanism
from glasshead.attention.mechanism import Spec, parse, shortest, spell
from glasshead.errors import InputError
from glasshead.models.dispatch import NAME, known
from glasshead.models.load import first_line, model_class, read_config
from glasshead.models.plug import attention_modules, crosses, first, own_attention, sizes
from glasshead.models.traps import Trap, keywords, traps, window_of
from glasshead.registration import SPEC

FELT = 2048
"""Tokens from which quadratic memory is worth a word."""

KEY_HEADS = ("num_key_value_heads", "num_kv_heads", "num_kv_head", "multi_query_group_num")


@dataclass(frozen=True)
class Layers:
    """Attention modules that are alike in everything said here."""

    modules: tuple[str, ...]
    kind: str
    dispatched: bool
    heads: int | None
    key_heads: int | None
    head_dim: int | None
    causal: bool
    window: int | None
    """Tokens of a sliding window that is narrower than the length asked about."""
    attention: str
    """The mechanism, or ``its own``."""
    kernel: str | None
    """What serves a forward pass on this machine, and None where glasshead does not."""
    training_kernel: str | None
    weights: str
    """``recorded``: by glasshead.record, once plugged; else why not."""


@dataclass(frozen=True)
class Checkup:
    """What `glasshead doctor` found."""

    model: str
    family: str
    attention: str | None
    device: str
    dtype: str
    length: int
    layers: tuple[Layers, ...]
    traps: tuple[Trap, ...]

    @property
    def healthy(self) -> bool:
        """Whether nothing stops the plug."""
        return not any(trap.stops for trap in self.traps)


def doctor(
    model: str | Path | PreTrainedModel,
    spec: str | Spec | None = None,
    *,
    length: int = 512,
    device: str = "cpu",
) -> Checkup:
    """Look a model over: a folder, a hub name (only its configuration is read), or a model in memory.

    ``spec`` is the mechanism to ask about; left out, the one the model has, else softmax. Kernels are those
    that would serve one text of ``length`` tokens on ``device``.

    Raises:
        InputError: if there is no such model, mechanism or device.
    """
    if length < 1:
        raise InputError(f"length is a number of tokens from 1, not {length}")
    place = device_of(device)
    name = type(model).__name__ if isinstance(model, PreTrainedModel) else str(model)
    seen = model if isinstance(model, PreTrainedModel) else weightless(read_config(model))
    own = getattr(seen.config, SPEC, None)
    if own is not None:
        known(own)
    asked = shortest(parse(spec if spec is not None else own if own is not None else "softmax"))
    dtype = seen.config.dtype if isinstance(seen.config.dtype, torch.dtype) else torch.float32
    groups: dict[Layers, list[str]] = {}
    for module_name, module in attention_modules(seen):
        found = examine(module_name, module, asked, length, place, dtype)
        groups.setdefault(found, []).append(module_name)
    for module_name, module in own_attention(seen):
        groups.setdefault(undispatched(module), []).append(module_name)
    layers = tuple(replace(each, modules=tuple(names)) for each, names in groups.items())
    return Checkup(
        model=name,
        family=type(seen).__name__,
        attention=spell(asked) if any(each.dispatched for each in layers) else None,
        device=str(place),
        dtype=str(dtype).removeprefix("torch."),
        length=length,
        layers=layers,
        traps=(*traps(seen, asked, length, dtype), *quadratic(layers, length)),
    )


def quadratic(layers: tuple[Layers, ...], length: int) -> Iterator[Trap]:
    """Kernels that hold all pairs of tokens, at a length where that is felt."""
    for each in layers:
        for kernel, when in ((each.kernel, "a forward pass"), (each.training_kernel, "training")):
            if kernel is not None and not KERNELS[kernel].linear_memory and length > FELT:
                yield Trap(
                    "quadratic memory",
                    False,
                    f"{when} on {length} tokens is served by {kernel}, which holds every pair of tokens",
                    "shorten the texts, or choose a mechanism that a linear kernel serves",
                    each.modules[0],
                )
                return


def device_of(device: str) -> torch.device:
    """A device of this machine."""
    try:
        place = torch.device(device)
        torch.empty(0, device=place)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise InputError(f"no device {device!r} here: {first_line(error)}") from None
    return place


def weightless(config: PreTrainedConfig) -> PreTrainedModel:
    """The model of a configuration without memory for its weights.

    Raises:
        InputError: if transformers cannot build it.
    """
    cls = model_class(config)
    try:
        with torch.device("meta"), quiet():
            return cls(config)
    except InputError:
        raise
    except Exception as error:  # whatever a model's constructor trips over, the reader wants one line
        raise InputError(f"transformers cannot build {cls.__name__}: {first_line(error)}") from None


@contextmanager
def quiet() -> Iterator[None]:
    """Without what transformers logs while it builds a model."""
    logger = logging.getLogger("transformers")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)


def examine(
    name: str, module: nn.Module, spec: Spec, length: int, device: torch.device, dtype: torch.dtype
) -> Layers:
    """What is true of one attention module."""
    heads, head_dim, value_dim = sizes(module)
    key_heads = first(module, KEY_HEADS) or heads
    crossing = crosses(name, module)
    causal = bool(getattr(module, "is_causal", True)) and not crossing
    attached = getattr(module, NAME, None)
    window = window_of(module)
    window = window if window is not None and window <= length else None
    kernel = training = None
    if heads and key_heads and head_dim and value_dim and heads % key_heads == 0:
        made = mechanism(spec, heads=heads, head_dim=head_dim, value_dim=value_dim).to(device)

        def serving(*, gradient: bool) -> str | None:
            whole = torch.zeros((), device=device, dtype=dtype)  # seen in any shape, without memory

            def blank(heads: int, size: int) -> Tensor:
                return whole.expand(1, heads, length, size).requires_grad_(gradient)

            pairs = None if window is None else whole.bool().expand(1, 1, length, length)
            mask = Mask(length, length, pairs=pairs, causal=causal and window is None, at=range(length))
            qkv = blank(heads, head_dim), blank(key_heads, head_dim), blank(key_heads, value_dim)
            bias = blank(heads, length) if "position_bias" in keywords(module) else None
            with torch.set_grad_enabled(gradient):
                return kernel_for(made, qkv, mask, bias)

        kernel, training = serving(gradient=False), serving(gradient=True)
    return Layers(
        modules=(),
        kind=type(module).__name__ + (" (cross)" if crossing else ""),
        dispatched=True,
        heads=heads,
        key_heads=key_heads,
        head_dim=head_dim,
        causal=causal,
        window=window,
        attention=spell(attached.spec if isinstance(attached, Mechanism) else spec),
        kernel=kernel,
        training_kernel=training,
        weights="recorded",
    )


def kernel_for(
    made: Mechanism, qkv: tuple[Tensor, Tensor, Tensor], mask: Mask, bias: Tensor | None
) -> str | None:
    """The kernel that the automatic choice takes; None where the mechanism refuses the call."""
    try:
        call = Call.of(made, *qkv, mask=mask)
        return choose(call if bias is None else call.with_bias(bias))
    except InputError:
        return None


def undispatched(module: nn.Module) -> Layers:
    """What is true of attention that glasshead cannot reach."""
    heads, head_dim, _ = sizes(module)
    return Layers(
        modules=(),
        kind=type(module).__name__,
        dispatched=False,
        heads=heads,
        key_heads=first(module, KEY_HEADS) or heads,
        head_dim=head_dim,
        causal=bool(getattr(module, "is_causal", False)),
        window=None,
        attention="its own",
        kernel=None,
        training_kernel=None,
        weights="out of reach",
    )

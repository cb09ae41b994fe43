"""Look a model over before anything runs: which layers dispatch, which kernels serve, what would go wrong."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import Tensor, nn
from transformers import PreTrainedConfig, PreTrainedModel

from glasshead.attention import (
    KERNELS,
    AttentionInputs,
    Mask,
    Mechanism,
    MultiHeadAttention,
    Spec,
    lacks_native,
    mechanism,
    parse,
    select_kernel,
    to_name,
    to_spec,
)
from glasshead.dispatch import MECHANISM, parse_saved_spec, spec_of
from glasshead.errors import InputError, ParameterError
from glasshead.huggingface.devices import device_of
from glasshead.huggingface.diagnostics import diagnostics, window_of
from glasshead.huggingface.loading import model_class, read_config
from glasshead.huggingface.plug_blockers import Diagnostic, Severity, parameter_names
from glasshead.huggingface.structure import (
    attention_modules,
    find_built_in_attention,
    find_undispatched_attention,
    first_int_attr,
    head_sizes,
    is_cross_attention,
    is_within,
    positions_of,
)
from glasshead.spelling import spell
from glasshead.torch_modes import in_own_modes

USUAL_LENGTH = 512
"""Tokens of a text that is asked about where the model reads as many."""

LONG_TEXT = 2048
"""Tokens from which quadratic memory is worth a word."""

OWN_ATTENTION = "its own"
"""What attention is called that a model computes itself."""

KEY_HEADS = ("num_key_value_heads", "num_kv_heads", "num_kv_head", "multi_query_group_num")


@dataclass(frozen=True)
class AttentionLayerGroup:
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
    """The mechanism, or `OWN_ATTENTION`."""
    kernel: str | None
    """What serves a forward pass on this machine, and None where glasshead does not."""
    training_kernel: str | None
    weights: str
    """``recorded``: by glasshead.record, once plugged; ``in the output``; or ``softmax caught``, by what
    explains and audits, without queries, keys and values."""


@dataclass(frozen=True)
class DoctorReport:
    """What `glasshead doctor` found."""

    model: str
    family: str
    attention: str | None
    device: str
    dtype: str
    length: int
    layers: tuple[AttentionLayerGroup, ...]
    diagnostics: tuple[Diagnostic, ...]

    @property
    def healthy(self) -> bool:
        """Whether nothing stops the plug, nor a forward pass after it."""
        return not any(
            diagnostic.severity in (Severity.stop, Severity.error) for diagnostic in self.diagnostics
        )


@in_own_modes
def doctor(
    model: str | Path | PreTrainedModel,
    spec: str | Spec | None = None,
    *,
    length: int | None = None,
    device: str = "cpu",
) -> DoctorReport:
    """Check what works with a model: a folder, a hub name (only its configuration is read), or a model in
    memory.

    ``spec`` is the mechanism to check (default: the model's own, or else softmax). Kernels are those for one
    text of ``length`` tokens on ``device`` (default: 512, or as many as the model reads).

    Raises:
        InputError: if there is no such model, mechanism or device.
    """
    if length is not None and length < 1:
        raise ParameterError("length", f"must be a number of tokens from 1, not {length}")
    target = device_of(device)
    name = type(model).__name__ if isinstance(model, PreTrainedModel) else str(model)
    subject = model if isinstance(model, PreTrainedModel) else on_meta_device(read_config(model))
    length = length or min(USUAL_LENGTH, positions_of(subject) or USUAL_LENGTH)
    own = spec_of(subject.config)
    if own is not None:
        parse_saved_spec(own)
    mechanism_spec = to_spec(parse(spec if spec is not None else own if own is not None else "softmax"))
    dtype = subject.config.dtype if isinstance(subject.config.dtype, torch.dtype) else torch.float32
    groups: dict[AttentionLayerGroup, list[str]] = {}
    for module_name, module in attention_modules(subject):
        examined = examine(module_name, module, mechanism_spec, length, target, dtype)
        groups.setdefault(examined, []).append(module_name)
    ours = dict(find_built_in_attention(subject))
    for module_name, module in ours.items():
        activation = getattr(subject.config, "activation", "")
        examined = examine_ours(module, activation, length, target, dtype)
        groups.setdefault(examined, []).append(module_name)
    for module_name, module in find_undispatched_attention(subject):
        if not any(is_within(layer, module_name) for layer in ours):
            groups.setdefault(examine_undispatched(module), []).append(module_name)
    layers = tuple(replace(layer, modules=tuple(names)) for layer, names in groups.items())
    at_work = next((layer.attention for layer in layers if layer.attention != OWN_ATTENTION), None)
    noted = diagnostics(subject, mechanism_spec, length, dtype)
    if ours and spec is None:  # there is nothing to plug, and nobody asked for it
        noted = (diagnostic for diagnostic in noted if diagnostic.severity is not Severity.stop)
    return DoctorReport(
        model=name,
        family=type(subject).__name__,
        attention=to_name(mechanism_spec) if any(layer.dispatched for layer in layers) else at_work,
        device=str(target),
        dtype=str(dtype).removeprefix("torch."),
        length=length,
        layers=layers,
        diagnostics=(
            *noted,
            *diagnose_kernel_memory(layers, length),
            *diagnose_compilation(
                layers, mechanism_spec, length, torch.zeros((), device=target, dtype=dtype)
            ),
        ),
    )


def diagnose_kernel_memory(layers: tuple[AttentionLayerGroup, ...], length: int) -> Iterator[Diagnostic]:
    """Kernels that hold all pairs of tokens, at a length where that is felt."""
    for layer in layers:
        for kernel, when in ((layer.kernel, "a forward pass"), (layer.training_kernel, "training")):
            if kernel is not None and not KERNELS[kernel].linear_memory and length > LONG_TEXT:
                yield Diagnostic(
                    "quadratic memory",
                    Severity.warning,
                    f"{when} on {length} tokens is served by {kernel}, which stores every pair of tokens",
                    "shorten the texts, or choose a mechanism that a linear kernel serves",
                    layer.modules[0],
                )
                return


def diagnose_compilation(
    layers: tuple[AttentionLayerGroup, ...], spec: Spec, length: int, blank: Tensor
) -> Iterator[Diagnostic]:
    """Whether the native kernel would serve here if it were compiled."""
    for layer in layers:
        if layer.kernel is None or layer.attention == OWN_ATTENTION or not layer.heads or not layer.head_dim:
            continue
        built = mechanism(spec, num_heads=layer.heads, head_dim=layer.head_dim).to(blank.device)
        key_heads = layer.key_heads or layer.heads
        shapes = [(1, heads, length, layer.head_dim) for heads in (layer.heads, key_heads, key_heads)]
        mask = Mask(length, length, causal=layer.causal, query_positions=range(length))
        if lacks_native(AttentionInputs.of(built, *(blank.expand(shape) for shape in shapes), mask=mask)):
            yield Diagnostic(
                "native kernel",
                Severity.note,
                f"{layer.kernel} serves; a C++ kernel would be faster, but is not compiled",
                f"compile it once with {spell('glasshead.attention.build_native')}",
            )
            return


def on_meta_device(config: PreTrainedConfig) -> PreTrainedModel:
    """The model of a configuration without memory for its weights.

    Raises:
        InputError: if transformers cannot build it.
    """
    cls = model_class(config)
    try:
        with torch.device("meta"), silence_building():
            return cls(config)
    except InputError:
        raise
    except Exception as error:  # whatever a model's constructor trips over, the reader wants one line
        raise InputError(
            f"Transformers cannot build {cls.__name__} from this configuration: its sizes do not fit "
            "together, or a required package is missing"
        ) from error


@contextmanager
def silence_building() -> Iterator[None]:
    """Silence what is said while a model is built: the report says what matters."""
    logger = logging.getLogger("transformers")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(before)


def examine(
    name: str, module: nn.Module, spec: Spec, length: int, device: torch.device, dtype: torch.dtype
) -> AttentionLayerGroup:
    """What is true of one attention module."""
    heads, head_dim, value_dim = head_sizes(module)
    key_heads = first_int_attr(module, KEY_HEADS) or heads
    crossing = is_cross_attention(name, module)
    # NLLB-MoE says is_causal=False everywhere, and is_decoder where it is causal.
    causal = not crossing and bool(getattr(module, "is_causal", True) or getattr(module, "is_decoder", False))
    attached = getattr(module, MECHANISM, None)
    window = window_of(module)
    window = window if window is not None and window <= length else None
    kernels: tuple[str | None, str | None] = None, None
    if heads and key_heads and head_dim and value_dim and heads % key_heads == 0:
        built = mechanism(spec, num_heads=heads, head_dim=head_dim, value_dim=value_dim).to(device)
        blank = torch.zeros((), device=device, dtype=dtype)  # seen in any shape, without memory
        pairs = None if window is None else blank.bool().expand(1, 1, length, length)
        mask = Mask(
            length, length, attn_mask=pairs, causal=causal and window is None, query_positions=range(length)
        )
        qkv = (heads, head_dim), (key_heads, head_dim), (key_heads, value_dim)
        biased = "position_bias" in parameter_names(module)
        kernels = serving_kernels(built, blank, qkv, mask, biased=biased)
    return AttentionLayerGroup(
        modules=(),
        kind=type(module).__name__ + (" (cross)" if crossing else ""),
        dispatched=True,
        heads=heads,
        key_heads=key_heads,
        head_dim=head_dim,
        causal=causal,
        window=window,
        attention=to_name(attached.spec if isinstance(attached, Mechanism) else spec),
        kernel=kernels[0],
        training_kernel=kernels[1],
        weights="recorded",
    )


def examine_ours(
    module: nn.Module, activation: str, length: int, device: torch.device, dtype: torch.dtype
) -> AttentionLayerGroup:
    """What is true of attention in a model of ours; a pooling without a mechanism has the ``activation``."""
    attached = getattr(module, MECHANISM, None)
    heads, head_dim = getattr(module, "num_heads", 1), getattr(module, "head_dim", None)
    kernels: tuple[str | None, str | None] = None, None
    if isinstance(attached, Mechanism) and isinstance(module, MultiHeadAttention):
        blank = torch.zeros((), device=device, dtype=dtype)
        mask = Mask(length, length, query_positions=range(length))
        sized = module.head_dim, module.head_dim, module.value_dim
        qkv = tuple(zip((module.num_heads, module.kv_heads, module.kv_heads), sized, strict=True))
        built = mechanism(attached.spec, num_heads=heads, head_dim=head_dim, value_dim=module.value_dim).to(
            device
        )
        kernels = serving_kernels(built, blank, qkv, mask, biased=False)
    return AttentionLayerGroup(
        modules=(),
        kind=type(module).__name__,
        dispatched=False,
        heads=heads,
        key_heads=getattr(module, "kv_heads", heads),
        head_dim=head_dim,
        causal=False,
        window=None,
        attention=attached.name if isinstance(attached, Mechanism) else activation,
        kernel=kernels[0],
        training_kernel=kernels[1],
        weights="recorded" if isinstance(attached, Mechanism) else "in the output",
    )


def serving_kernels(
    attention_mechanism: Mechanism,
    blank: Tensor,
    qkv: tuple[tuple[int, int], ...],
    mask: Mask,
    *,
    biased: bool,
) -> tuple[str | None, str | None]:
    """The kernels of a forward pass and of training, for heads and sizes of queries, keys and values."""
    kernels = []
    for gradient in (False, True):
        q, k, v = (blank.expand(1, n, mask.keys, size).requires_grad_(gradient) for n, size in qkv)
        bias = blank.expand(1, qkv[0][0], mask.keys, mask.keys).requires_grad_(gradient) if biased else None
        with torch.set_grad_enabled(gradient):
            kernels.append(kernel_for(attention_mechanism, (q, k, v), mask, bias))
    return kernels[0], kernels[1]


def kernel_for(
    attention_mechanism: Mechanism, qkv: tuple[Tensor, Tensor, Tensor], mask: Mask, bias: Tensor | None
) -> str | None:
    """The kernel that the automatic choice takes; None where the mechanism refuses the call."""
    try:
        call = AttentionInputs.of(attention_mechanism, *qkv, mask=mask)
        return select_kernel(call if bias is None else call.add_bias(bias))
    except InputError:
        return None


def examine_undispatched(module: nn.Module) -> AttentionLayerGroup:
    """What is true of attention that no mechanism replaces."""
    heads, head_dim, _ = head_sizes(module)
    return AttentionLayerGroup(
        modules=(),
        kind=type(module).__name__,
        dispatched=False,
        heads=heads,
        key_heads=first_int_attr(module, KEY_HEADS) or heads,
        head_dim=head_dim,
        causal=bool(getattr(module, "is_causal", False)),
        window=None,
        attention=OWN_ATTENTION,
        kernel=None,
        training_kernel=None,
        weights="softmax caught",
    )

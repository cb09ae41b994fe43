"""What goes wrong, or differently than one thinks, when a model is plugged, saved or recorded."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn
from transformers import PreTrainedModel

from glasshead.attention import Spec, mechanism, position_of, to_name
from glasshead.dispatch import KEY, spec_of
from glasshead.errors import InputError
from glasshead.huggingface.plug_blockers import Diagnostic, Severity, blocking_diagnostics, parameter_names
from glasshead.huggingface.structure import attention_modules, head_sizes, position_limit


def diagnostics(model: PreTrainedModel, spec: Spec, length: int, dtype: torch.dtype) -> Iterator[Diagnostic]:
    """Everything that applies to this model with this mechanism, the worst first."""
    modules = dict(attention_modules(model))
    noted = [*blocking_diagnostics(model, spec)]
    if modules:
        noted += [
            *diagnose_positions(modules, spec, length),
            *diagnose_late_kernel_choice(modules, spec),
            *diagnose_saving(model, spec),
            *diagnose_length(model, length),
            *diagnose_sliding_window(modules, length),
            *diagnose_position_bias(modules),
            *diagnose_output_attentions(model, modules),
            *diagnose_runtime(model, modules, dtype),
        ]
    yield from sorted(noted, key=lambda diagnostic: list(Severity).index(diagnostic.severity))


def diagnose_positions(modules: dict[str, nn.Module], spec: Spec, length: int) -> Iterator[Diagnostic]:
    """Positions beyond what they were built for."""
    module = next(iter(modules.values()))
    heads, head_dim, value_dim = head_sizes(module)
    if not position_of(spec).needs_positions or not heads or not head_dim:
        return
    attention_mechanism = mechanism(spec, num_heads=heads, head_dim=head_dim, value_dim=value_dim)
    try:
        attention_mechanism.position.check(length)
    except InputError as error:
        remedy = "ask about fewer tokens, or build the position for more"
        yield Diagnostic("length", Severity.error, str(error), remedy)


def diagnose_late_kernel_choice(modules: dict[str, nn.Module], spec: Spec) -> Iterator[Diagnostic]:
    """Modules that do not say how many heads they have, where the mechanism need not know."""
    silent = [name for name, module in modules.items() if None in head_sizes(module)[:2]]
    if silent and not position_of(spec).learned:
        yield Diagnostic(
            "head count",
            Severity.warning,
            "the module does not say how many heads it has, so the kernel is not known before the first call",
            "nothing: this mechanism works for any number",
            silent[0],
        )


def diagnose_saving(model: PreTrainedModel, spec: Spec) -> Iterator[Diagnostic]:
    """What happens between save_pretrained and the next load."""
    config = model.config
    saved = spec_of(config)
    if saved is not None and config._attn_implementation != KEY:
        yield Diagnostic(
            "missing registration",
            Severity.error,
            f"the configuration names {to_name(saved)} but asks for attention "
            f"{config._attn_implementation!r}: from_pretrained runs without the "
            "mechanism, but a model in memory raises an error",
            "load with glasshead.load and save_pretrained again; in memory, glasshead.plug it again",
        )
    if position_of(spec).learned:
        yield Diagnostic(
            "learned mechanism",
            Severity.warning,
            (
                f"{to_name(spec)} has parameters, which from_pretrained does not load: the first call "
                "raises an error"
            ),
            "load the saved model with glasshead.load(folder)",
        )
    else:
        yield Diagnostic(
            "registration",
            Severity.note,
            "a saved plugged model needs glasshead to load: without it, from_pretrained raises an error",
            "import glasshead.huggingface before from_pretrained, or use glasshead.load(folder)",
        )
    if any(word in str(config._attn_implementation) for word in ("flash", "flex", "paged", "/")):
        yield Diagnostic(
            "replaced kernel",
            Severity.warning,
            f"the model runs on {config._attn_implementation!r} now; plugged it runs on glasshead's kernels",
            "compare the speed of both",
        )


def diagnose_length(model: PreTrainedModel, length: int) -> Iterator[Diagnostic]:
    """Texts longer than the model has places for."""
    learned = position_limit(model)
    if learned is not None and length > learned:
        yield Diagnostic(
            "too long",
            Severity.error,
            f"the model has learned {learned} positions, and fails on a text of {length} tokens",
            f"cut texts to {learned} tokens",
        )
        return
    limit = getattr(model.config, "max_position_embeddings", None)
    if isinstance(limit, int) and length > limit > 0:
        yield Diagnostic(
            "too long",
            Severity.warning,
            f"the model was made for {limit} tokens (max_position_embeddings) and never trained on {length}",
            f"cut texts to {limit} tokens",
        )


def window_of(module: nn.Module) -> int | None:
    """Tokens of a module's sliding window, which some keep only in their configuration; None without one."""
    owner: Any = module
    if not hasattr(module, "sliding_window") and "sliding_window" in parameter_names(module):
        owner = getattr(module, "config", None)
    window = getattr(owner, "sliding_window", None)
    return window if isinstance(window, int) else None


def diagnose_sliding_window(modules: dict[str, nn.Module], length: int) -> Iterator[Diagnostic]:
    """Sliding windows: honoured through the mask, which is then whole."""
    for name, module in modules.items():
        window = window_of(module)
        if window is not None:
            reached = "at this length" if length >= window else "not reached at this length"
            yield Diagnostic(
                "sliding window",
                Severity.warning,
                f"a window of {window} tokens needs a full queries × keys mask ({reached})",
                "let the model make its mask: a four-dimensional one of yours is used as it is",
                name,
            )
            return


def diagnose_position_bias(modules: dict[str, nn.Module]) -> Iterator[Diagnostic]:
    """A position bias of the model's own."""
    for name, module in modules.items():
        if "position_bias" in parameter_names(module):
            yield Diagnostic(
                "position_bias",
                Severity.warning,
                (
                    "the model's own bias is added to the scores before the activation. It was trained "
                    "with softmax, and has queries × keys numbers"
                ),
                "train the plugged model before you judge it, and watch the memory with long texts",
                name,
            )
            return


def diagnose_output_attentions(model: PreTrainedModel, modules: dict[str, nn.Module]) -> Iterator[Diagnostic]:
    """Where output_attentions gets lost."""
    config = model.config
    if config.output_attentions:
        yield Diagnostic(
            "output_attentions in the configuration",
            Severity.warning,
            "transformers cannot save a configuration with it unless attention is eager",
            "set config.output_attentions = False and pass output_attentions=True to the call",
        )
    elif config._attn_implementation not in (KEY, "eager"):
        yield Diagnostic(
            "output_attentions",
            Severity.note,
            f"before the plug, under {config._attn_implementation}, output_attentions=True gives nothing",
            "plug the model (softmax changes nothing), then it gives the weights",
        )
    for name, module in modules.items():
        if "output_attentions" in inspect.signature(inspect.unwrap(type(module).forward)).parameters:
            yield Diagnostic(
                "swallowed flag",
                Severity.note,
                f"{type(module).__name__} does not pass output_attentions to its attention function",
                "nothing: glasshead reads it at the top of the model",
                name,
            )
            return


def diagnose_runtime(
    model: PreTrainedModel, modules: dict[str, nn.Module], dtype: torch.dtype
) -> Iterator[Diagnostic]:
    """What to know when it runs."""
    if model.supports_gradient_checkpointing:
        on = model.is_activation_checkpointing
        yield Diagnostic(
            "gradient checkpointing",
            Severity.warning if on else Severity.note,
            f"training works with it, record and intervene do not{' (it is on)' if on else ''}",
            "call model.activation_checkpointing_disable() before recording",
        )
    if model.can_generate():
        yield Diagnostic(
            "static cache",
            Severity.note,
            "works, but each step then needs a full queries × keys mask",
            "use the default cache if memory is short",
        )
    undeclared = [name for name, module in modules.items() if not hasattr(module, "is_causal")]
    if undeclared:
        yield Diagnostic(
            "is_causal",
            Severity.warning,
            "the module does not say whether it is causal; without a mask it is assumed to be",
            "pass attention_mask to the model",
            undeclared[0],
        )
    layers = getattr(model.config, "num_hidden_layers", None)
    if isinstance(layers, int) and len(modules) < layers:
        yield Diagnostic(
            "shared layers",
            Severity.warning,
            f"{layers} layers share {len(modules)} attention modules, each with one mechanism",
            "record distinguishes layers by the order of the calls",
        )
    if dtype in (torch.float16, torch.bfloat16):
        yield Diagnostic(
            "half precision",
            Severity.note,
            "scores and weights are computed in float32, then rounded",
            "nothing: no score overflows",
        )

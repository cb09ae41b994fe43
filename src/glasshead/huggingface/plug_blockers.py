"""What stops a plug: the doctor says it, and the plug refuses it, from the one list here."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from torch import nn
from transformers import PreTrainedModel

from glasshead.attention import Spec, position_of, to_name
from glasshead.dispatch import UNSUPPORTED
from glasshead.huggingface.structure import (
    as_python,
    attention_modules,
    find_built_in_attention,
    find_undispatched_attention,
    head_sizes,
    is_cross_attention,
    pluggable_parts,
)

SWITCHES = {"softcap": ("attn_logit_softcapping", "softcap"), "s_aux": ("sinks", "sink", "s_aux")}
"""Attributes that say whether such an argument, which is always handed on, is switched on."""


class Severity(StrEnum):
    """What follows from a `Diagnostic`, the worst first."""

    stop = "stop"
    """The plug refuses."""
    error = "error"
    """A forward pass raises, or is not what one asked for."""
    warning = "warning"
    """It works differently from what one thinks."""
    note = "note"
    """True of most models."""


@dataclass(frozen=True)
class Diagnostic:
    """One thing to know, and what to do about it."""

    name: str
    severity: Severity
    problem: str
    remedy: str
    module: str = ""
    """The first module concerned, where it is about modules."""


def blocking_diagnostics(model: nn.Module, spec: Spec) -> Iterator[Diagnostic]:
    """Why this model, or part of one, cannot be plugged with this mechanism."""
    modules = dict(attention_modules(model))
    if not modules:
        yield diagnose_nothing_to_plug(model)
        return
    yield from diagnose_undispatched(model)
    yield from diagnose_unsupported_args(modules)
    yield from diagnose_own_masks(modules)
    yield from diagnose_cross_attention(model, modules, spec)
    yield from diagnose_missing_head_count(modules, spec)


def diagnose_nothing_to_plug(model: nn.Module) -> Diagnostic:
    """What is true of a model where nothing dispatches."""
    kind = type(model).__name__
    others = "BERT, RoBERTa, GPT-2, Llama, ViT, T5, …"
    if any(True for _ in find_built_in_attention(model)):
        return Diagnostic(
            "built in",
            Severity.stop,
            f"the mechanism of {kind} is built in",
            "train a model with another one",
        )
    if any(True for _ in find_undispatched_attention(model)):
        return Diagnostic(
            "not dispatched",
            Severity.stop,
            f"{kind} computes its attention itself and would ignore any mechanism",
            (
                f"choose a model that dispatches through AttentionInterface ({others}); explanations and "
                "audits work anyway, except 'effective-attention' and 'identifiability'"
            ),
        )
    return Diagnostic(
        "no attention",
        Severity.stop,
        f"{kind} has no attention, so there are no weights to change or to look at",
        f"choose a model with attention ({others})",
    )


def diagnose_undispatched(model: nn.Module) -> Iterator[Diagnostic]:
    """Attention next to the dispatched one that no plug changes."""
    parts = " and ".join(f"plug({as_python(part)}, …)" for part in pluggable_parts(model)[:2])
    for name, module in find_undispatched_attention(model):
        yield Diagnostic(
            "partly dispatched",
            Severity.stop,
            f"{name} ({type(module).__name__}) computes its attention itself and would ignore the mechanism "
            "that the other layers get",
            f"plug the other parts, as in {parts}",
            name,
        )
        return


def parameter_names(module: nn.Module) -> set[str]:
    """Names of the arguments that a module's forward passes on by keyword."""
    code = inspect.unwrap(type(module).forward).__code__
    tuples = (constant for constant in code.co_consts if isinstance(constant, tuple))
    return {name for names in tuples for name in names if isinstance(name, str)}


def diagnose_unsupported_args(modules: dict[str, nn.Module]) -> Iterator[Diagnostic]:
    """Arguments that change attention in a way that no mechanism here knows."""
    for argument, what in UNSUPPORTED.items():
        switches = SWITCHES.get(argument)
        for name, module in modules.items():
            if argument in parameter_names(module) and (
                switches is None or first_setting(module, switches) is not None
            ):
                yield Diagnostic(
                    argument,
                    Severity.stop,
                    f"{type(module).__name__} {what}, which no mechanism supports",
                    "choose another model, or switch it off in the configuration if it was trained without",
                    name,
                )
                break


def diagnose_own_masks(modules: dict[str, nn.Module]) -> Iterator[Diagnostic]:
    """Modules that choose the keys of each query by writing the least number into their mask, which is none
    that ours can hold."""
    for name, module in modules.items():
        if "finfo" in inspect.unwrap(type(module).forward).__code__.co_names:
            yield Diagnostic(
                "own mask",
                Severity.stop,
                f"{type(module).__name__} chooses the keys of each query (its own mask), which no "
                "mechanism supports",
                "choose another model",
                name,
            )
            return


def first_setting(module: nn.Module, attributes: tuple[str, ...]) -> Any:
    """The first of these attributes, on the module or in its configuration, that is not None."""
    for owner in (module, getattr(module, "config", None)):
        for attribute in attributes:
            if getattr(owner, attribute, None) is not None:
                return getattr(owner, attribute)
    return None


def diagnose_cross_attention(
    model: nn.Module, modules: dict[str, nn.Module], spec: Spec
) -> Iterator[Diagnostic]:
    """Positions between two sequences."""
    if not position_of(spec).needs_positions:
        return
    for name, module in modules.items():
        if is_cross_attention(name, module):
            yield Diagnostic(
                "cross-attention",
                Severity.stop,
                f"{type(model).__name__} has cross-attention ({name}), where the positions of "
                f"{to_name(spec)} have no meaning",
                cross_attention_hint(model),
                name,
            )
            return


def cross_attention_hint(model: nn.Module) -> str:
    """What to do with a model whose cross-attention forbids a position."""
    advice = "choose a mechanism without a position"
    stacks: tuple[nn.Module, ...] = ()
    if isinstance(model, PreTrainedModel) and model.config.is_encoder_decoder:
        stacks = model.get_encoder(), model.get_decoder()
    paths = [as_python(name) for stack in stacks for name, module in model.named_modules() if module is stack]
    if len(paths) != 2 or "model" in paths:
        return advice
    return f"{advice}, or plug the encoder alone: plug({paths[0]}, …) and plug({paths[1]}, 'softmax')"


def diagnose_missing_head_count(modules: dict[str, nn.Module], spec: Spec) -> Iterator[Diagnostic]:
    """Modules that do not say how many heads they have, and a mechanism that must know."""
    silent = [name for name, module in modules.items() if None in head_sizes(module)[:2]]
    if silent and position_of(spec).learned:
        yield Diagnostic(
            "head count",
            Severity.stop,
            f"{silent[0]} ({type(modules[silent[0]]).__name__}) does not say how many heads it has, and "
            f"{to_name(spec)} learns per head",
            "choose a mechanism without parameters",
            silent[0],
        )

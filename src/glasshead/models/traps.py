"""What goes wrong, or differently than one thinks, when a model is plugged, saved or recorded."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from transformers import PreTrainedModel

from glasshead.attention import mechanism
from glasshead.attention.mechanism import Spec, position_of, spell
from glasshead.errors import InputError
from glasshead.models.dispatch import KEY, UNSUPPORTED
from glasshead.models.plug import (
    attention_modules,
    crosses,
    half,
    own_attention,
    refusal,
    sizes,
    without_crossing,
)
from glasshead.registration import SPEC


@dataclass(frozen=True)
class Trap:
    """One thing to know, and what to do about it."""

    name: str
    stops: bool
    """The plug, or a forward pass after it, raises; otherwise it works and this is how."""
    what: str
    remedy: str
    where: str = ""
    """The first module concerned, where it is about modules."""


def traps(model: PreTrainedModel, spec: Spec, length: int, dtype: torch.dtype) -> Iterator[Trap]:
    """Everything that applies to this model with this mechanism, what stops it first."""
    modules = dict(attention_modules(model))
    if not modules:
        what, _, remedy = refusal(model).partition(": ")
        yield Trap("not dispatched", True, what, remedy)
        return
    found = [
        *unhonoured(modules),
        *misplaced(model, modules, spec, length),
        *unsized(modules, spec),
        *out_of_reach(model),
        *saving(model, spec),
        *too_long(model, length),
        *windows(modules, length),
        *biases(modules),
        *flags(model, modules),
        *running(model, modules, dtype),
    ]
    yield from sorted(found, key=lambda trap: not trap.stops)


def keywords(module: nn.Module) -> set[str]:
    """Names of the arguments that a module's forward passes on by keyword."""
    code = inspect.unwrap(type(module).forward).__code__
    tuples = (each for each in code.co_consts if isinstance(each, tuple))
    return {name for names in tuples for name in names if isinstance(name, str)}


def unhonoured(modules: dict[str, nn.Module]) -> Iterator[Trap]:
    """Arguments that change attention in a way that no mechanism here knows."""
    # These two are often handed on where they are switched off.
    switches = {"softcap": ("attn_logit_softcapping", "softcap"), "s_aux": ("sinks", "sink", "s_aux")}
    for argument in UNSUPPORTED:
        attributes = switches.get(argument)
        for name, module in modules.items():
            on = attributes is None or given(module, attributes) is not None
            if argument in keywords(module) and on:
                yield Trap(
                    argument,
                    True,
                    f"{type(module).__name__} {UNSUPPORTED[argument]}, which no mechanism honours: "
                    "the first call raises",
                    "choose another model, or switch it off in the configuration if it was trained without",
                    name,
                )
                break


def given(module: nn.Module, attributes: tuple[str, ...]) -> Any:
    """The first of these attributes, on the module or in its configuration, that is not None."""
    for owner in (module, getattr(module, "config", None)):
        for attribute in attributes:
            if getattr(owner, attribute, None) is not None:
                return getattr(owner, attribute)
    return None


def misplaced(
    model: PreTrainedModel, modules: dict[str, nn.Module], spec: Spec, length: int
) -> Iterator[Trap]:
    """Positions where there are none, or beyond what they were built for."""
    position = position_of(spec)
    if not position.uses_places:
        return
    crossing = [name for name, module in modules.items() if crosses(name, module)]
    if crossing:
        yield Trap(
            "cross-attention",
            True,
            f"{spell(spec)} uses positions, which have no meaning in cross-attention",
            without_crossing(model),
            crossing[0],
        )
    module = next(iter(modules.values()))
    heads, head_dim, value_dim = sizes(module)
    if heads and head_dim:
        made = mechanism(spec, heads=heads, head_dim=head_dim, value_dim=value_dim)
        try:
            made.position.check(length)
        except InputError as error:
            yield Trap("length", True, str(error), "ask about fewer tokens, or build the position for more")


def unsized(modules: dict[str, nn.Module], spec: Spec) -> Iterator[Trap]:
    """Modules that do not say how many heads they have, and a mechanism that must know."""
    silent = [name for name, module in modules.items() if None in sizes(module)[:2]]
    if silent:
        learns = position_of(spec).learned
        yield Trap(
            "head count",
            learns,
            "the module does not say how many heads it has, so the kernel is not known before the first call",
            "choose a mechanism without parameters"
            if learns
            else "nothing: this mechanism works for any number",
            silent[0],
        )


def out_of_reach(model: PreTrainedModel) -> Iterator[Trap]:
    """Attention beside the dispatched one that no plug changes."""
    for name, module in own_attention(model):
        what, _, remedy = half(name, module).partition(": ")
        yield Trap("partly dispatched", True, what, remedy, name)
        return


def saving(model: PreTrainedModel, spec: Spec) -> Iterator[Trap]:
    """What happens between save_pretrained and the next load."""
    config = model.config
    saved = getattr(config, SPEC, None)
    learns = position_of(spec).learned
    if saved is not None and config._attn_implementation != KEY:
        yield Trap(
            "missing registration",
            True,
            f"the configuration names {spell(saved)} but asks for attention {config._attn_implementation!r}: "
            "from_pretrained runs without the mechanism, and a model in memory refuses to run",
            "load with glasshead.load and save_pretrained again; in memory, glasshead.plug it again",
        )
    if learns:
        yield Trap(
            "learned mechanism",
            False,
            f"{spell(spec)} has parameters, which from_pretrained does not load: the first call raises",
            "load the saved model with glasshead.load(folder)",
        )
    else:
        yield Trap(
            "registration",
            False,
            "a saved plugged model needs glasshead to load: without it from_pretrained raises",
            "import glasshead before from_pretrained, or use glasshead.load(folder)",
        )
    if any(word in str(config._attn_implementation) for word in ("flash", "flex", "paged", "/")):
        yield Trap(
            "replaced kernel",
            False,
            f"the model runs on {config._attn_implementation!r} now; plugged it runs on glasshead's kernels",
            "compare speed with glasshead bench attention",
        )


def too_long(model: PreTrainedModel, length: int) -> Iterator[Trap]:
    """Texts longer than the model has places for."""
    places = getattr(model.config, "max_position_embeddings", None)
    if isinstance(places, int) and length > places > 0:
        yield Trap(
            "too long",
            False,
            f"the model was made for {places} tokens (max_position_embeddings), not {length}: "
            "with learned positions the call fails, with others it was never trained",
            f"ask about at most {places} tokens",
        )


def window_of(module: nn.Module) -> int | None:
    """Tokens of a module's sliding window, which some keep only in their configuration; None without one."""
    owner: Any = module
    if not hasattr(module, "sliding_window") and "sliding_window" in keywords(module):
        owner = getattr(module, "config", None)
    found = getattr(owner, "sliding_window", None)
    return found if isinstance(found, int) else None


def windows(modules: dict[str, nn.Module], length: int) -> Iterator[Trap]:
    """Sliding windows: honoured through the mask, which is then whole."""
    for name, module in modules.items():
        window = window_of(module)
        if window is not None:
            reached = "at this length" if length >= window else "not reached at this length"
            yield Trap(
                "sliding window",
                False,
                f"a window of {window} tokens comes through a whole queries × keys mask ({reached})",
                "leave the mask to the model: one of your own, of four dimensions, is taken as it is",
                name,
            )
            return


def biases(modules: dict[str, nn.Module]) -> Iterator[Trap]:
    """A position bias of the model's own."""
    for name, module in modules.items():
        if "position_bias" in keywords(module):
            yield Trap(
                "position_bias",
                False,
                "the model's own bias is added to the scores before the activation, which only softmax was "
                "trained for; it holds queries × keys numbers",
                "train the plugged model before judging it, and mind the memory of long texts",
                name,
            )
            return


def flags(model: PreTrainedModel, modules: dict[str, nn.Module]) -> Iterator[Trap]:
    """Where output_attentions gets lost."""
    config = model.config
    if config.output_attentions:
        yield Trap(
            "output_attentions in the configuration",
            False,
            "transformers refuses to save a configuration with it unless attention is eager",
            "set config.output_attentions = False and pass output_attentions=True to the call",
        )
    elif config._attn_implementation not in (KEY, "eager"):
        yield Trap(
            "output_attentions",
            False,
            f"before the plug, under {config._attn_implementation}, output_attentions=True gives nothing",
            "plug the model (softmax changes nothing), then it gives the weights",
        )
    for name, module in modules.items():
        if "output_attentions" in inspect.signature(inspect.unwrap(type(module).forward)).parameters:
            yield Trap(
                "swallowed flag",
                False,
                f"{type(module).__name__} does not hand output_attentions to its attention function",
                "nothing: glasshead reads it at the top of the model",
                name,
            )
            return


def running(model: PreTrainedModel, modules: dict[str, nn.Module], dtype: torch.dtype) -> Iterator[Trap]:
    """What to know when it runs."""
    if model.supports_gradient_checkpointing:
        on = " (it is on)" if model.is_activation_checkpointing else ""
        yield Trap(
            "gradient checkpointing",
            False,
            f"training works with it, record and intervene refuse it{on}",
            "call model.activation_checkpointing_disable() before recording",
        )
    if model.can_generate():
        yield Trap(
            "static cache",
            False,
            "works, but each step then carries a whole queries × keys mask",
            "generate with the default cache where memory counts",
        )
    undeclared = [name for name, module in modules.items() if not hasattr(module, "is_causal")]
    if undeclared:
        yield Trap(
            "is_causal",
            False,
            "the module does not say whether it is causal; without a mask it is taken to be",
            "pass attention_mask to the model",
            undeclared[0],
        )
    layers = getattr(model.config, "num_hidden_layers", None)
    if isinstance(layers, int) and len(modules) < layers:
        yield Trap(
            "shared layers",
            False,
            f"{layers} layers share {len(modules)} attention modules, and one mechanism each",
            "record tells layers apart by the order of the calls",
        )
    if dtype in (torch.float16, torch.bfloat16):
        yield Trap(
            "half precision",
            False,
            "scores and weights are computed in float32, then rounded",
            "nothing: no score overflows",
        )

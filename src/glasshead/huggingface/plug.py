"""Put an attention mechanism into anybody's Hugging Face model."""

from __future__ import annotations

import logging
from typing import Any, TypeVar

import torch
from torch import nn
from transformers import PreTrainedModel

from glasshead.attention import Mechanism, Spec, mechanism, parse, to_spec
from glasshead.dispatch import KEY, MECHANISM, Plugged, attach, check_usage_hook, clear_spec, set_spec
from glasshead.errors import InputError
from glasshead.huggingface.plug_blockers import blocking_diagnostics
from glasshead.huggingface.structure import attention_modules, head_sizes
from glasshead.torch_modes import in_own_modes

Model = TypeVar("Model", bound=nn.Module)

PREVIOUS_ATTENTION = "_attention_before_plug"
"""Attribute of a plugged model, and of each model in it, that holds its own attention implementation."""


@in_own_modes
def plug(model: Model, spec: str | Spec) -> Model:
    """Give every attention module of a model another mechanism.

    ``spec`` is a word (``tanhmax``, ``tanhmax+distance-aware``) or a mapping, as for `glasshead.mechanism`.
    The model is changed and returned. Each attention module gets its own mechanism, with its own parameters;
    ``save_pretrained`` writes both, and `glasshead.load` reads them back. Plugging again replaces the
    mechanism.

    ``model`` may also be a part, such as ``model.encoder``. Other attention that shares its configuration has
    to be plugged as well (softmax changes nothing). A configuration names one mechanism, so a model with
    two mechanisms cannot be saved as a whole.

    Raises:
        InputError: if the model does not dispatch its attention, or the mechanism does not fit it.
    """
    if isinstance(spec, Mechanism):
        raise InputError("plug builds one mechanism per layer: give it the word or the spec, not a Mechanism")
    attends = isinstance(model, nn.Module) and any(True for _ in attention_modules(model))
    if not isinstance(model, PreTrainedModel) and not attends:
        raise InputError(
            f"plug takes a transformers model, not {type(model).__name__}, or a part of one with attention"
        )
    short = to_spec(parse(spec))
    for stop in blocking_diagnostics(model, short):
        raise InputError(f"{stop.problem}: {stop.remedy}")
    return attach_mechanisms(model, short)


def attach_mechanisms(model: Model, spec: Spec) -> Model:
    """Plug every module that dispatches, whatever there is next to them."""
    modules = dict(attention_modules(model))
    mechanisms = {name: build_for_module(spec, module) for name, module in modules.items()}
    dispatch(model, modules)
    for name, module in modules.items():
        attach(module, mechanisms[name])
    for config in attention_configs(model, modules):
        set_spec(config, Plugged(spec))
    return model


def build_for_module(spec: Spec, module: nn.Module) -> Mechanism:
    """A mechanism for the heads of one attention module, where its weights are."""
    heads, head_dim, value_dim = head_sizes(module)
    attention_mechanism = mechanism(spec, num_heads=heads, head_dim=head_dim, value_dim=value_dim)
    weights = list(module.parameters())
    if not weights:
        return attention_mechanism
    # Quantised weights are whole numbers, or floating-point numbers of one byte, in which nothing learns.
    dtypes = (weight.dtype for weight in weights if weight.is_floating_point() and weight.element_size() > 1)
    return attention_mechanism.to(device=weights[0].device, dtype=next(dtypes, torch.get_default_dtype()))


def dispatch(model: nn.Module, modules: dict[str, nn.Module]) -> None:
    """Set our key everywhere and make sure it arrived: Transformers only logs where it does not.

    Raises:
        InputError: if a module would go on with another attention; the model is then as it was.
    """
    before = [(config, config._attn_implementation) for config in all_configs(model, modules)]
    own = [(part, part.config._attn_implementation) for part in owners(model, modules)]
    try:
        set_key(model, modules)
        check_key(model, modules)
    except BaseException:
        for config, implementation in before:
            config._attn_implementation_internal = implementation
        raise
    for part, implementation in own:
        if implementation != KEY:
            vars(part)[PREVIOUS_ATTENTION] = implementation


def set_key(model: nn.Module, modules: dict[str, nn.Module]) -> None:
    """Set our key without the warnings of the parts that do not take it."""
    if not isinstance(model, PreTrainedModel):  # no method for it, nor a model that could refuse
        for config in attention_configs(model, modules):
            config._attn_implementation_internal = KEY
        return
    logger = logging.getLogger("transformers.modeling_utils")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        model.set_attn_implementation(KEY)
    finally:
        logger.setLevel(before)


def check_key(model: nn.Module, modules: dict[str, nn.Module]) -> None:
    """Raise InputError if a module would go on with another attention."""
    for name, module in modules.items():
        implementation: Any = getattr(getattr(module, "config", None), "_attn_implementation", None)
        if implementation != KEY:
            raise InputError(
                f"{name} of {type(model).__name__} stays with the attention {implementation!r} and would "
                "ignore the mechanism: define the model's class in a module file, or plug another model"
            )


def attention_configs(model: nn.Module, modules: dict[str, nn.Module]) -> list[Any]:
    """Every configuration concerned, once: stacks of an encoder-decoder have copies of their own."""
    configs = [model.config] if isinstance(model, PreTrainedModel) else []
    own = [getattr(module, "config", None) for module in modules.values()]
    concerned = [*configs, *(config for config in own if config is not None)]
    return list({id(config): config for config in concerned}.values())


def all_configs(model: nn.Module, modules: dict[str, nn.Module]) -> list[Any]:
    """Every configuration that a change of the attention implementation may reach, once."""
    reached = [owner.config for owner in owners(model, modules)]
    for config in reached:  # grows while it is read
        subs = (getattr(config, name, None) for name in config.sub_configs)
        reached += [part for part in subs if part is not None]
    return list({id(config): config for config in reached}.values())


def owners(model: nn.Module, modules: dict[str, nn.Module]) -> list[Any]:
    """Every model in a model and every attention module, where they have a configuration."""
    models = [module for module in model.modules() if isinstance(module, PreTrainedModel)]
    return [owner for owner in (*models, *modules.values()) if getattr(owner, "config", None) is not None]


@in_own_modes
def unplug(model: Model) -> Model:
    """Remove the mechanism from a plugged model, or a part of it, and restore its earlier attention."""
    modules = dict(attention_modules(model))
    for module in modules.values():
        if hasattr(module, MECHANISM):
            delattr(module, MECHANISM)
        for handle, hook in list(module._forward_pre_hooks.items()):
            if hook is check_usage_hook:
                del module._forward_pre_hooks[handle], module._forward_pre_hooks_with_kwargs[handle]
    for config in attention_configs(model, modules):
        clear_spec(config)
    if isinstance(model, PreTrainedModel):
        # A model that was saved plugged never had another attention.
        model.set_attn_implementation("sdpa" if model._supports_sdpa else "eager")
    for part in owners(model, modules):
        if PREVIOUS_ATTENTION in vars(part):
            part.config._attn_implementation_internal = vars(part).pop(PREVIOUS_ATTENTION)
    return model

"""Put an attention mechanism into anybody's Hugging Face model."""

from __future__ import annotations

import inspect
import logging
import re
from collections.abc import Iterator
from typing import Any, TypeVar

import torch
from torch import nn
from transformers import PreTrainedModel

from glasshead.attention import Mechanism, mechanism
from glasshead.attention.mechanism import Spec, parse, position_of, shortest
from glasshead.errors import InputError
from glasshead.models.dispatch import KEY, NAME, attach, refuse_misuse
from glasshead.registration import SPEC

Model = TypeVar("Model", bound=PreTrainedModel)

HEADS = ("num_heads", "num_attention_heads", "n_heads", "n_head", "num_head")
KEY_SIZES = ("qk_head_dim", "head_dim", "attention_head_size", "key_value_proj_dim", "head_size", "d_kv")
VALUE_SIZES = ("v_head_dim",)
WIDTHS = ("embed_dim", "hidden_size", "dim", "d_model")
"""What models call the sizes of their heads, on the attention module or in its configuration."""

BEFORE = "_attention_before_plug"
"""Attribute of a plugged model, and of each model in it, that holds its own attention implementation."""


def plug(model: Model, spec: str | Spec) -> Model:
    """Let every attention module of a model turn its scores into weights by this mechanism.

    ``spec`` is a word (``tanhmax``, ``tanhmax+distance-aware``) or a mapping, as for `glasshead.mechanism`.
    The model is changed and returned. Each attention module gets a mechanism of its own, with parameters of
    its own where the mechanism learns; ``save_pretrained`` writes both, and `glasshead.load` reads them back.
    Plugging again replaces the mechanism.

    Raises:
        InputError: if the model does not dispatch its attention, or the mechanism does not fit it.
    """
    if not isinstance(model, PreTrainedModel):
        raise InputError(f"plug takes a transformers model, not {type(model).__name__}")
    if isinstance(spec, Mechanism):
        raise InputError("plug builds one mechanism per layer: give it the word or the spec, not a Mechanism")
    short = shortest(parse(spec))
    modules = dict(attention_modules(model))
    if not modules:
        raise InputError(refusal(model))
    for name, module in own_attention(model):
        raise InputError(half(name, module))
    placed = position_of(short).uses_places
    for name, module in modules.items():
        if placed and crosses(name, module):
            raise InputError(
                f"{type(model).__name__} has cross-attention ({name}), where a position has no meaning: "
                f"{without_crossing(model)}"
            )
    made = {name: fitting(short, name, module) for name, module in modules.items()}
    dispatch(model, modules)
    for name, module in modules.items():
        attach(module, made[name])
    for config in configs(model, modules):
        setattr(config, SPEC, short)
    return model


def attention_modules(model: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    """The modules that hand their attention to whatever function is registered, with their names."""
    for name, module in model.named_modules():
        if dispatches(module):
            yield name, module


def dispatches(module: nn.Module) -> bool:
    """Whether a module's own forward looks its attention function up: its code says so, no list of names."""
    code = getattr(inspect.unwrap(type(module).forward), "__code__", None)
    return code is not None and "ALL_ATTENTION_FUNCTIONS" in code.co_names


def own_attention(model: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    """Outermost modules that are attention by name, have weights, and neither dispatch nor hold what does."""
    reached = [name for name, _ in attention_modules(model)]
    missed: list[str] = []
    for name, module in model.named_modules():
        inside = any(name.startswith(f"{outer}.") for outer in (*reached, *missed))
        around = any(each == name or each.startswith(f"{name}.") for each in reached)
        if "Attention" in type(module).__name__ and not inside and not around and has_weights(module):
            missed.append(name)
            yield name, module


def has_weights(module: nn.Module) -> bool:
    """Whether a module has parameters."""
    return next(module.parameters(), None) is not None


def crosses(name: str, module: nn.Module) -> bool:
    """Whether a module attends to another sequence than its own, by its flag or by how it is named."""
    if getattr(module, "is_cross_attention", False):
        return True
    named = f"{'.'.join(name.split('.')[-2:])} {type(module).__name__}"
    return re.search(r"cross|enc(oder)?_?dec|encoder_attn", named, flags=re.IGNORECASE) is not None


def refusal(model: nn.Module) -> str:
    """Why a model cannot be plugged."""
    return (
        f"{type(model).__name__} computes its attention itself and would ignore any mechanism: "
        "choose a model that dispatches through AttentionInterface (BERT, RoBERTa, GPT-2, Llama, ViT, T5, …)"
    )


def half(name: str, module: nn.Module) -> str:
    """Why a model that dispatches only some of its attention cannot be plugged."""
    return (
        f"{name} ({type(module).__name__}) computes its attention itself and would ignore the mechanism that "
        "the other layers get: plug a part of the model without it, as in plug(model.encoder, …)"
    )


def without_crossing(model: PreTrainedModel) -> str:
    """What to do with a model whose cross-attention forbids a position."""
    encoder = model.get_encoder() if model.config.is_encoder_decoder else None
    path = next((name for name, module in model.named_modules() if module is encoder), None)
    other = "" if not path else f", or plug the encoder alone: plug(model.{path}, …)"
    return f"choose a mechanism without a position{other}"


def fitting(spec: Spec, name: str, module: nn.Module) -> Mechanism:
    """A mechanism for the heads of one attention module, where its weights are.

    Raises:
        InputError: if it learns and the module does not say how many heads it has.
    """
    heads, head_dim, value_dim = sizes(module)
    if position_of(spec).learned and (heads is None or head_dim is None):
        raise InputError(
            f"{name} ({type(module).__name__}) does not say how many heads it has, and {spec} learns per "
            "head: choose a mechanism without parameters"
        )
    made = mechanism(spec, heads=heads, head_dim=head_dim, value_dim=value_dim)
    weights = list(module.parameters())
    if not weights:
        return made
    # Quantised weights are whole numbers, or floating-point numbers of one byte, in which nothing learns.
    dtypes = (each.dtype for each in weights if each.is_floating_point() and each.element_size() > 1)
    return made.to(device=weights[0].device, dtype=next(dtypes, torch.get_default_dtype()))


def sizes(module: nn.Module) -> tuple[int | None, int | None, int | None]:
    """Heads, size of a key, size of a value; None where the module does not say."""
    heads, key_size = first(module, HEADS), first(module, KEY_SIZES)
    if key_size is None and heads is not None:
        width = first(module, WIDTHS)
        key_size = None if width is None else width // heads
    return heads, key_size, first(module, VALUE_SIZES) or key_size


def first(module: nn.Module, names: tuple[str, ...]) -> int | None:
    """The first of these attributes that is a number, on the module or else in its configuration."""
    for owner in (module, getattr(module, "config", None)):
        for name in names:
            found = getattr(owner, name, None)
            if isinstance(found, int) and not isinstance(found, bool):
                return found
    return None


def dispatch(model: PreTrainedModel, modules: dict[str, nn.Module]) -> None:
    """Set our key everywhere and make sure it arrived: Transformers only logs where it does not.

    Raises:
        InputError: if a module would go on with another attention; the model is then as it was.
    """
    before = [(each, each._attn_implementation) for each in every_config(model, modules)]
    own = [(part, part.config._attn_implementation) for part in parts(model)]
    try:
        set_key(model)
        check_key(model, modules)
    except BaseException:
        for config, implementation in before:
            config._attn_implementation_internal = implementation
        raise
    for part, implementation in own:
        if implementation != KEY:
            vars(part)[BEFORE] = implementation


def set_key(model: PreTrainedModel) -> None:
    """Set our key without the warnings of the parts that do not take it."""
    logger = logging.getLogger("transformers.modeling_utils")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        model.set_attn_implementation(KEY)
    finally:
        logger.setLevel(before)


def check_key(model: PreTrainedModel, modules: dict[str, nn.Module]) -> None:
    """Raise InputError if a module would go on with another attention."""
    for name, module in modules.items():
        found: Any = getattr(getattr(module, "config", None), "_attn_implementation", None)
        if found != KEY:
            raise InputError(
                f"{name} of {type(model).__name__} stays with the attention {found!r} and would ignore the "
                "mechanism: define the model's class in a module file, or plug another model"
            )


def configs(model: PreTrainedModel, modules: dict[str, nn.Module]) -> list[Any]:
    """Every configuration concerned, once: stacks of an encoder-decoder have copies of their own."""
    found = [model.config, *(module.config for module in modules.values())]
    return list({id(config): config for config in found}.values())


def every_config(model: PreTrainedModel, modules: dict[str, nn.Module]) -> list[Any]:
    """Every configuration that a change of the attention implementation may reach, once."""
    found = [getattr(owner, "config", None) for owner in (*parts(model), *modules.values())]
    for config in found:  # grows while it is read
        if config is not None:
            found += [getattr(config, name, None) for name in config.sub_configs]
    return list({id(config): config for config in found if config is not None}.values())


def parts(model: PreTrainedModel) -> list[PreTrainedModel]:
    """The model and every model in it."""
    return [module for module in model.modules() if isinstance(module, PreTrainedModel)]


def unplug(model: Model) -> Model:
    """Give a plugged model the attention back that it had; the mechanism and its parameters are gone."""
    modules = dict(attention_modules(model))
    for module in modules.values():
        if hasattr(module, NAME):
            delattr(module, NAME)
        for handle, hook in list(module._forward_pre_hooks.items()):
            if hook is refuse_misuse:
                del module._forward_pre_hooks[handle], module._forward_pre_hooks_with_kwargs[handle]
    for config in configs(model, modules):
        if hasattr(config, SPEC):
            delattr(config, SPEC)
    # A model that was saved plugged never had another attention.
    model.set_attn_implementation("sdpa" if model._supports_sdpa else "eager")
    for part in parts(model):
        if BEFORE in vars(part):
            part.config._attn_implementation_internal = vars(part).pop(BEFORE)
    return model

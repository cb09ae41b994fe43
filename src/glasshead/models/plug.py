"""Put an attention mechanism into anybody's Hugging Face model."""

from __future__ import annotations

import inspect
import logging
import re
from collections.abc import Iterator
from typing import Any, TypeVar

from torch import nn
from transformers import PreTrainedModel

from glasshead.attention import Mechanism, mechanism
from glasshead.attention.mechanism import Spec, parse, shortest
from glasshead.attention.position import POSITIONS
from glasshead.errors import InputError
from glasshead.models.dispatch import KEY, NAME, attach, refuse_crossing

Model = TypeVar("Model", bound=PreTrainedModel)

HEADS = ("num_heads", "num_attention_heads", "n_heads", "n_head", "num_head")
KEY_SIZES = ("qk_head_dim", "head_dim", "attention_head_size", "key_value_proj_dim", "head_size", "d_kv")
VALUE_SIZES = ("v_head_dim",)
WIDTHS = ("embed_dim", "hidden_size", "dim", "d_model")
"""What models call the sizes of their heads, on the attention module or in its configuration."""


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
    for name, module in modules.items():
        if POSITIONS[parse(spec)["position"]["name"]].uses_places and crosses(name, module):
            raise InputError(
                f"{type(model).__name__} has cross-attention ({name}), where a position has no meaning: "
                "choose a mechanism without a position"
            )
    made = {name: fitting(short, name, module) for name, module in modules.items()}
    dispatch(model, modules)
    for name, module in modules.items():
        attach(module, made[name])
    for config in configs(model, modules):
        config.attn_implementation = KEY
        config.attention_mechanism = short
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
    named = f"{name.rpartition('.')[2]} {type(module).__name__} {name}"
    return re.search(r"cross|enc(oder)?_?dec|encoder_attn", named, flags=re.IGNORECASE) is not None


def refusal(model: nn.Module) -> str:
    """Why a model cannot be plugged."""
    return (
        f"{type(model).__name__} computes its attention itself and would ignore any mechanism: "
        "choose a model that dispatches through AttentionInterface (BERT, RoBERTa, GPT-2, Llama, ViT, T5, …)"
    )


def fitting(spec: Spec, name: str, module: nn.Module) -> Mechanism:
    """A mechanism for the heads of one attention module, where its weights are.

    Raises:
        InputError: if it learns and the module does not say how many heads it has.
    """
    heads, head_dim, value_dim = sizes(module)
    learns = POSITIONS[parse(spec)["position"]["name"]].learned
    if learns and (heads is None or head_dim is None):
        raise InputError(
            f"{name} ({type(module).__name__}) does not say how many heads it has, and {spec} learns per "
            "head: choose a mechanism without parameters"
        )
    made = mechanism(spec, heads=heads, head_dim=head_dim, value_dim=value_dim)
    weight = next(module.parameters(), None)
    return made if weight is None else made.to(device=weight.device, dtype=weight.dtype)


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
        InputError: if a module would go on with another attention.
    """
    logger = logging.getLogger("transformers.modeling_utils")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        model.set_attn_implementation(KEY)
    finally:
        logger.setLevel(before)
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


def unplug(model: Model) -> Model:
    """Give a plugged model its own attention back; the mechanism and its parameters are gone."""
    for _, module in attention_modules(model):
        if hasattr(module, NAME):
            delattr(module, NAME)
        for handle, hook in list(module._forward_pre_hooks.items()):
            if hook is refuse_crossing:
                del module._forward_pre_hooks[handle], module._forward_pre_hooks_with_kwargs[handle]
    for config in configs(model, dict(attention_modules(model))):
        for name in ("attn_implementation", "attention_mechanism"):
            if hasattr(config, name):
                delattr(config, name)
    model.set_attn_implementation("sdpa" if model._supports_sdpa else "eager")
    return model

"""The one function that Transformers calls for every attention module of a plugged model."""

from __future__ import annotations

import json
from typing import Any

from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.utils.output_capturing import _active_collector

from glasshead.attention import (
    KNOWN_CALLS,
    AttentionInputs,
    Mechanism,
    mechanism,
    parse,
    position_of,
    run_hooked,
    run_hooked_weights,
)
from glasshead.dispatch.configuration import KEY, Plugged, spec_of
from glasshead.dispatch.masks import mask_function, parse_mask
from glasshead.errors import InputError

MECHANISM = "mechanism"
"""Attribute of an attention module that holds its `Mechanism`, and part of its parameters' names."""

SUPPORTED_ARGS = {
    "query",
    "key",
    "value",
    "attention_mask",
    "dropout",
    "scaling",
    "is_causal",
    "position_bias",
    "sliding_window",
    "output_attentions",
}
"""Arguments that are read here."""

IGNORED_ARGS = {
    "cu_seq_lens_q": "borders of packed texts; who gives them without flash splits the texts or masks them",
    "cu_seq_lens_k": "likewise",
    "max_length_q": "likewise",
    "max_length_k": "likewise",
    "position_ids": "the positions of queries, which the mask has",
    "deterministic": "how flash attention computes its gradient",
}
"""Arguments that say nothing about who attends to whom and how much, or nothing new."""

UNSUPPORTED = {
    "softcap": "caps its scores (softcap)",
    "s_aux": "has attention sinks (s_aux)",
    "sinks": "has attention sinks (sinks)",
    "indices": "chooses the keys of each query (indices)",
    "block_indices": "chooses blocks of keys (block_indices)",
    "cache": "runs on a paged cache",
}
"""Arguments that change attention in a way no mechanism here knows."""


def attention_function(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    dropout: float = 0.0,
    scaling: float | None = None,
    is_causal: bool | None = None,
    position_bias: Tensor | None = None,
    **kwargs: Any,
) -> tuple[Tensor, Tensor | None]:
    """Attention by the module's mechanism: output ``[B, Q, H, d_v]`` and perhaps weights ``[B, H, Q, K]``.

    Weights come where ``output_attentions=True`` was said anywhere above, also where the model does not hand
    it on. They are those before dropout.

    Raises:
        InputError: where the model asks for something that the mechanism cannot honour.
    """
    known = KNOWN_CALLS.get().get(module)
    if known is not None:
        return run_hooked(module, known).transpose(1, 2).contiguous(), None
    attention_mechanism = mechanism_of(module)
    for name, what in UNSUPPORTED.items():
        if kwargs.get(name) is not None:
            raise InputError(
                f"{type(module).__name__} {what}, which "
                f"{attention_mechanism.name} "
                "cannot support: do not plug "
                "it"
            )
    causal = getattr(module, "is_causal", None) if is_causal is None else is_causal
    mask, bias = parse_mask(
        attention_mask,
        query,
        key,
        causal=causal,
        needs_positions=attention_mechanism.position.needs_positions,
    )
    window = kwargs.get("sliding_window")
    if window is not None and mask.attn_mask is None and mask.queries > 1 and mask.keys > window:
        raise InputError(
            f"{type(module).__name__} has a sliding window of {window} that is not in the mask: "
            "let the model make its own"
        )
    call = AttentionInputs.of(
        attention_mechanism, query, key, value, mask=mask, scale=scaling, dropout=dropout
    )
    if position_bias is not None or bias is not None:
        both = [term for term in (position_bias, bias) if term is not None]
        call = call.add_bias(both[0] + both[1] if len(both) == 2 else both[0])
    weights = None
    if wants_weights(kwargs):
        output, weights = run_hooked_weights(module, call)
        weights = weights.to(query.dtype)
    else:
        output = run_hooked(module, call)
    return output.transpose(1, 2).contiguous(), weights


def wants_weights(kwargs: dict[str, Any]) -> bool:
    """Whether the running forward pass collects attention weights.

    GPT-2, OPT and others drop ``output_attentions`` on the way down; the collector that Transformers opens
    for it at the top says the same and is there for all models.
    """
    if kwargs.get("output_attentions"):
        return True
    collected = _active_collector.get()
    return collected is not None and any("attentions" in name for name in collected)


def mechanism_of(module: nn.Module) -> Mechanism:
    """The mechanism attached to an attention module; a reloaded model's is built from its configuration.

    Raises:
        InputError: if there is none, or where it has parameters that were never loaded.
    """
    attached = getattr(module, MECHANISM, None)
    if isinstance(attached, Mechanism):
        return attached
    spec = spec_of(getattr(module, "config", None))
    if spec is None:
        raise InputError(
            f"the configuration of {type(module).__name__} asks for glasshead but names no mechanism: "
            "call glasshead.plug(model, …)"
        )
    if isinstance(spec, Plugged):
        raise InputError(
            f"{type(module).__name__} shares its configuration with what was plugged, but was not plugged: "
            "plug it, too (softmax keeps it as it was)"
        )
    stateless = build_if_stateless(spec)
    if stateless is None:
        raise InputError(
            f"{json.dumps(spec)} has parameters, which from_pretrained cannot load: use "
            "glasshead.load(folder)"
        )
    attach(module, stateless)
    return stateless


def attach(module: nn.Module, attention_mechanism: Mechanism) -> None:
    """Make this the mechanism of an attention module."""
    module.add_module(MECHANISM, attention_mechanism)
    if check_usage_hook not in module._forward_pre_hooks.values():
        module.register_forward_pre_hook(check_usage_hook, with_kwargs=True)


def check_usage_hook(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Forward pre-hook: raise InputError where the mechanism is bypassed, or its positions have no meaning.

    That is where the attention implementation was switched after the plug, and where positions would be taken
    in two different sequences.
    """
    attention_mechanism = getattr(module, MECHANISM, None)
    if not isinstance(attention_mechanism, Mechanism):
        return
    implementation: Any = getattr(getattr(module, "config", None), "_attn_implementation", None)
    if implementation != KEY:
        raise InputError(
            f"{type(module).__name__} was plugged with {attention_mechanism.name} but its attention "
            f"implementation was set to {implementation!r}: "
            f"call glasshead.unplug(model) first, or set it back to {KEY!r}"
        )
    if not attention_mechanism.position.needs_positions:
        return
    for name in ("key_value_states", "encoder_hidden_states"):
        if kwargs.get(name) is not None:
            raise InputError(
                f"{attention_mechanism.name} got {name}: positions have no meaning in cross-attention, "
                "plug one without"
            )


def build_if_stateless(spec: Any) -> Mechanism | None:
    """The mechanism of a saved spec that learns nothing; None for one that does."""
    return None if position_of(parse_saved_spec(spec)).learned else mechanism(spec)


def parse_saved_spec(spec: Any) -> dict[str, dict[str, Any]]:
    """A saved spec in full.

    Raises:
        InputError: if a name in it is unknown, for example because the file that defines it was not imported.
    """
    try:
        return parse(spec)
    except InputError as error:
        raise InputError(
            f"the model was saved with {json.dumps(spec)}: {error} "
            "(if it is your own, import the file that registers it first)"
        ) from None


AttentionInterface.register(KEY, attention_function)
AttentionMaskInterface.register(KEY, mask_function)

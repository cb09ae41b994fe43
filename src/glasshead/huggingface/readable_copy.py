"""Somebody's model made readable, without a change to theirs."""

from __future__ import annotations

import torch
from torch import nn
from transformers import PreTrainedModel

from glasshead.attention import Mechanism
from glasshead.dispatch import MECHANISM
from glasshead.huggingface.caught_softmax import catch_softmax, softmax_modules
from glasshead.huggingface.isolated_copy import isolated_copy
from glasshead.huggingface.loading import silence_transformers
from glasshead.huggingface.plug import all_configs, plug
from glasshead.huggingface.plug_blockers import blocking_diagnostics
from glasshead.huggingface.structure import attention_modules, every_attention, find_built_in_attention
from glasshead.huggingface.task_model import class_name


def shows_attention(model: nn.Module) -> bool:
    """Whether the attention of the model can be recorded without changes: the model is one of ours, or
    plugged."""
    plugged = any(isinstance(getattr(module, MECHANISM, None), Mechanism) for module in model.modules())
    return plugged or any(True for _ in find_built_in_attention(model))


def lacks_attention(model: nn.Module) -> bool:
    """Whether a model has no attention that is, or can be made, readable."""
    if any(getattr(module, "hides_attention", False) for module in model.modules()):
        return True
    return not any(attention_modules(model)) and not shows_attention(model)


def no_attention(model: PreTrainedModel) -> str:
    """Advice for a model without attention."""
    reads_images = model.main_input_name == "pixel_values"
    erasure = "neutral-colour" if reads_images else "delete"
    instead = (
        f"explain, rank or audit it with methods that need none, such as 'gradient' and 'erasure-{erasure}'"
    )
    if reads_images and any(True for _ in every_attention(model)):
        return (
            f"the attention of {class_name(model)} is not between the patches of a whole image (windows, "
            f"merged or overlapping patches), so no weight belongs to a patch: {instead}"
        )
    return f"{class_name(model)} has no attention that can be read: {instead}"


def readable_copy(model: PreTrainedModel, dtype: torch.dtype | None = None) -> PreTrainedModel:
    """An `isolated_copy` whose attention can be recorded and replaced, and which predicts the same.

    Attention that can be recorded already stays as it is; attention that dispatches is plugged with softmax;
    in all other cases the softmax itself is caught. A model without attention is copied as it is.
    """
    copied = isolated_copy(model, dtype)
    if shows_attention(copied):
        return copied
    softmax = {"activation": {"name": "softmax"}}
    if any(True for _ in attention_modules(copied)) and not any(blocking_diagnostics(copied, softmax)):
        return plug(copied, "softmax")
    if not any(True for _ in softmax_modules(copied)):
        return copied
    attend_eagerly(copied)
    catch_softmax(copied)
    return copied


def attend_eagerly(model: PreTrainedModel) -> None:
    """Let every module compute its weights, also those of models that Transformers lets keep their kernel."""
    with silence_transformers():  # some say that they cannot be set, and are
        model.set_attn_implementation("eager")
    for config in all_configs(model, dict(attention_modules(model))):
        config._attn_implementation_internal = "eager"

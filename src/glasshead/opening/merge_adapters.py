"""A model with adapters (PEFT) becomes one that predicts the same and has none: they are merged in a copy."""

from __future__ import annotations

import copy
import warnings
from typing import Any, NoReturn

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from glasshead.data import image_size
from glasshead.errors import InputError, one_line
from glasshead.huggingface import HALVES, has_packed_weights, isolated_copy
from glasshead.opening.check_copy import are_close, tolerance_for
from glasshead.opening.check_model import check_model
from glasshead.opening.precision import dtype_name

SAMPLE_TOKENS = 8
"""Tokens of the input on which the merged copy is compared with the model."""


def has_adapters(model: object) -> bool:
    """Whether modules of PEFT are in a model: around it, or around layers of it."""
    return isinstance(model, nn.Module) and any(is_of_peft(module) for module in model.modules())


def is_of_peft(module: nn.Module) -> bool:
    """Whether a module comes from PEFT, which is not imported for that."""
    return any(kind.__module__.partition(".")[0] == "peft" for kind in type(module).__mro__)


def merge_adapters(model: Any, reader: Any) -> tuple[PreTrainedModel, tuple[str, ...]]:
    """A copy of the model with its active adapters in its weights, and what a person should know of that. The
    ``model`` stays as it is; one without adapters is returned itself.

    Raises:
        InputError: if its adapters cannot be merged, or the copy predicts otherwise.
    """
    if not has_adapters(model):
        return model, ()
    inner = next((module for module in model.modules() if isinstance(module, PreTrainedModel)), None)
    if inner is None:
        raise InputError(
            f"{type(model).__name__} has no transformers model inside: give adapters of such a model"
        )
    check_model(inner, classifies=False)
    if has_packed_weights(inner):  # a sum with packed weights would be rounded: adapters stay beside them
        names = active_adapters(inner)
        return isolated_copy(inner), (f"adapters (PEFT) on quantised weights: {', '.join(names)}",)
    # In half precision the sum of a weight and what an adapter adds would be rounded.
    halved = inner.dtype in HALVES
    merged = isolated_copy(inner, torch.float32 if halved else None)
    for config in getattr(model, "peft_config", {}).values():
        if config.is_prompt_learning:
            kind = config.peft_type.value
            refuse_merge(
                model, f"{kind} changes no weights; only adapters that do, such as LoRA, are supported"
            )
    names = active_adapters(merged)
    if not names:
        refuse_merge(model, "no layer has an active one. Activate one, or pass the model without adapters")
    merge_layers(merged)
    check_merged(model, inner, merged, reader)
    finer = f", in float32 (the model is in {dtype_name(inner.dtype)})" if halved else ""
    return merged, (f"adapters (PEFT) merged in a copy of the model{finer}: {', '.join(names)}",)


def active_adapters(model: PreTrainedModel) -> list[str]:
    """The names of the adapters by which layers predict."""
    layers: list[Any] = [module for module in model.modules() if is_of_peft(module)]
    active = [layer.active_adapters for layer in layers if not getattr(layer, "disable_adapters", True)]
    return list(dict.fromkeys(name for names in active for name in names))


def merge_layers(model: PreTrainedModel) -> None:
    """In a model of our own, put merged layers into the places of those that PEFT put around them.

    Raises:
        InputError: if one of them cannot be merged.
    """
    from peft.tuners.tuners_utils import BaseTunerLayer

    for module in list(model.modules()):
        if isinstance(module, BaseTunerLayer):
            # Merging changes weights in place: else those of the caller, and all that are tied to them.
            module.base_layer = copy.deepcopy(module.base_layer)
    done: list[str] = []
    try:
        with warnings.catch_warnings():  # of adapters that are merged already
            warnings.simplefilter("ignore")
            for name, module in list(model.named_modules()):
                if any(name.startswith(f"{outer}.") for outer in done):
                    continue
                if hasattr(module, "unload_and_optionally_merge_module"):
                    plain = module.unload_and_optionally_merge_module(True, False, None)
                elif isinstance(module, BaseTunerLayer):
                    module.merge()
                    plain = module.get_base_layer()
                else:
                    continue
                model.set_submodule(name, plain)
                done.append(name)
    except Exception as error:  # each kind of adapter fails in a way of its own
        refuse_merge(model, one_line(error)[:100], error)
    if has_adapters(model):
        refuse_merge(model, "some are in no layer that has weights")
    vars(model).pop("peft_config", None)
    vars(model)["_hf_peft_config_loaded"] = False
    embeddings, head = model.get_input_embeddings(), model.get_output_embeddings()
    if head is not None and getattr(head, "weight", None) is not getattr(embeddings, "weight", None):
        model.config.tie_word_embeddings = False


def refuse_merge(model: nn.Module, reason: str, error: Exception | None = None) -> NoReturn:
    """Raise InputError for adapters that cannot be merged."""
    raise InputError(
        f"the adapters (PEFT) of {type(model).__name__} cannot be merged into its weights: {reason}"
    ) from error


def check_merged(model: nn.Module, inner: PreTrainedModel, merged: PreTrainedModel, reader: Any) -> None:
    """Raise InputError if the copy predicts differently from the model around ``inner``."""
    inputs = sample_inputs(merged, reader)
    expected = first_output(isolated_copy(model), inner, inputs)
    if not are_close(first_output(merged, merged, inputs), expected, tolerance_for(inner.dtype)):
        raise InputError(
            f"{type(model).__name__} predicts differently when its adapters (PEFT) are merged, which "
            "Glasshead needs: pass the result of merge_and_unload() if you mean that model"
        )


def sample_inputs(model: PreTrainedModel, reader: Any) -> dict[str, Tensor]:
    """Any image, or a few tokens: for a comparison of two models all are alike."""
    if model.main_input_name == "pixel_values":
        height, width = image_size(getattr(reader, "processor", reader))
        return {"pixel_values": torch.linspace(-1, 1, 3 * height * width).view(1, 3, height, width)}
    ids = torch.arange(SAMPLE_TOKENS)[None] % model.config.get_text_config().vocab_size
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    return {**inputs, "decoder_input_ids": ids} if model.config.is_encoder_decoder else inputs


@torch.no_grad()
def first_output(model: nn.Module, inner: PreTrainedModel, inputs: dict[str, Tensor]) -> Tensor:
    """The logits of a model, or what it returns in their place."""
    moved = {
        name: value.to(inner.device, inner.dtype if value.is_floating_point() else None)
        for name, value in inputs.items()
    }
    output: Tensor = model(**moved)[0]
    return output.float()

"""A copy of somebody's model that shares its weights, so that theirs is never touched."""

from __future__ import annotations

import copy
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from glasshead.huggingface.half_weights import keep_halves, kept_arithmetic
from glasshead.huggingface.quantised import has_packed_weights

Model = TypeVar("Model", bound=nn.Module)


def isolated_copy(
    model: Model, dtype: torch.dtype | None = None, device: torch.device | None = None
) -> Model:
    """A copy of the model with separate modules and configuration, in evaluation mode.

    Parameters and buffers are those of ``model`` itself and cost no memory, except if another ``dtype`` or
    ``device`` is requested, or if they were made in inference mode, where they have no gradients. A model
    that keeps its halves keeps them in another ``dtype``, and computes in it; one with packed weights
    (quantised) has no other. Nothing that is plugged into the copy, hooked to it or set on its
    configuration changes ``model``, and several threads may read one model at once.
    """
    if dtype is not None and has_packed_weights(model):
        dtype = None  # its kernels compute as they do
    arithmetic = None if kept_arithmetic(model) is None else dtype
    numbers = dtype if arithmetic is None else None
    shared = {
        id(tensor): move_tensor(tensor, numbers, device) for tensor in [*model.parameters(), *model.buffers()]
    }
    copied: Any = copy.deepcopy(model, graph_free(model, shared)).eval()
    if arithmetic is not None:
        keep_halves(copied, arithmetic)
    if dtype == torch.float64 and getattr(getattr(copied, "config", None), "_experts_implementation", None):
        copied.set_experts_implementation("eager")  # grouped products of experts know no float64
    result: Model = copied
    return result


def move_tensor(tensor: Tensor, dtype: torch.dtype | None, device: torch.device | None) -> Tensor:
    """The tensor on a device and, if it has no integers, in a precision; itself if it is already."""
    result = tensor.detach().to(device or tensor.device, dtype if tensor.is_floating_point() else None)
    if result.dtype == tensor.dtype and result.device == tensor.device:
        if not tensor.is_inference():
            return tensor
        result = result.clone()
    return nn.Parameter(result, tensor.requires_grad) if isinstance(tensor, nn.Parameter) else result


def graph_free(model: nn.Module, memo: dict[int, Tensor]) -> dict[int, Tensor]:
    """A memo for `copy.deepcopy` that also has the tensors of some graph which a module keeps as attributes
    (the last hidden state, say): nobody can copy these, and nobody needs their graph."""
    for module in model.modules():
        for value in vars(module).values():
            if isinstance(value, Tensor) and value.is_inference():
                memo[id(value)] = value.clone()
            elif isinstance(value, Tensor) and not value.is_leaf:
                memo[id(value)] = value.detach()
    return memo

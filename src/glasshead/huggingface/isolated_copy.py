"""A copy of somebody's model that shares its weights, so that theirs is never touched."""

from __future__ import annotations

import copy
from typing import TypeVar

import torch
from torch import Tensor, nn

Model = TypeVar("Model", bound=nn.Module)


def isolated_copy(model: Model, dtype: torch.dtype | None = None) -> Model:
    """The same model in modules and a configuration of its own, in evaluation mode.

    Parameters and buffers are those of ``model`` itself and cost no memory, unless another ``dtype`` is asked
    for: then they are copied. Whatever is plugged into the copy, hooked to it or set on its configuration,
    ``model`` stays bit for bit as it was, and several threads may read one model at once.
    """
    owned = [*model.parameters(), *model.buffers()]
    if dtype is not None and any(tensor.is_floating_point() and tensor.dtype != dtype for tensor in owned):
        return copy.deepcopy(model, graph_free(model, {})).to(dtype).eval()
    shared: dict[int, Tensor] = {id(tensor): tensor for tensor in owned}
    return copy.deepcopy(model, graph_free(model, shared)).eval()


def graph_free(model: nn.Module, memo: dict[int, Tensor]) -> dict[int, Tensor]:
    """A memo for `copy.deepcopy` that also has the tensors of some graph which a module keeps as attributes
    (the last hidden state, say): nobody can copy these, and nobody needs their graph."""
    for module in model.modules():
        for value in vars(module).values():
            if isinstance(value, Tensor) and not value.is_leaf:
                memo[id(value)] = value.detach()
    return memo

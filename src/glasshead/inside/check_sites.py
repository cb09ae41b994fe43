"""Whether the sites that were found are all that layers add to their stream, and passes may begin later."""

from __future__ import annotations

from contextlib import ExitStack

import torch
from torch import Tensor
from transformers import PreTrainedModel

from glasshead.data import Inputs
from glasshead.inside.sites import HEADS, MLP, Activations, Layer, begin_at, exchanged
from glasshead.trace import linear_maps, logits_of

SAME = 1e-4
"""Logits that differ by less than this part of the largest are the same."""


@torch.no_grad()
def are_all_sites(model: PreTrainedModel, layers: list[Layer], inputs: Inputs, base: Activations) -> bool:
    """Whether heads and MLPs are all that layers add to their stream: while they are held, any other linear
    map of a layer may say what it likes."""
    inner = {module for layer in layers for module in layer.block.module.modules()}
    held = {
        module
        for layer in layers
        for part in (*layer.mlp, layer.projection)
        if part
        for module in part.modules()
    }
    with ExitStack() as stack:
        for number, layer in enumerate(layers):
            for site in (HEADS, MLP):
                if instead := base.at(site, number):
                    stack.enter_context(exchanged(layer, site, instead))
        for module in linear_maps(model):
            if module in inner and module not in held:
                stack.callback(module.register_forward_hook(lambda own, args, output: output * 2 + 1).remove)
        return are_same(logits_of(model, inputs), base.logits)


@torch.no_grad()
def can_begin_later(model: PreTrainedModel, layers: list[Layer], inputs: Inputs, base: Activations) -> bool:
    """Whether passes that begin at a layer give the logits of whole ones, also in reversed order."""
    turned = torch.arange(len(base.logits), device=base.logits.device).flip(0)
    some = {name: value[turned] for name, value in inputs.items()}
    for number in {1, len(layers) // 2, len(layers) - 1} - {0}:
        with begin_at(layers, number, base, turned):
            if not are_same(logits_of(model, some), base.logits[turned]):
                return False
    return True


def are_same(actual: Tensor, expected: Tensor) -> bool:
    """Whether logits are equal up to rounding."""
    return bool((actual - expected).abs().max() <= SAME * expected.abs().max())

"""New weights for a module of somebody's own."""

import copy
import math

import torch
from torch import nn
from transformers import PreTrainedModel

from glasshead.dispatch import clear_spec

RESETS = ("reset_parameters", "_reset_parameters")
"""What modules of torch call the method that draws their weights anew."""
SPREAD = 0.02
"""Standard deviation of a parameter whose numbers are all equal."""


def renew(module: nn.Module) -> None:
    """Give a module new weights: Transformers models those of their class, other parts what their own method
    draws, and each parameter that none of them changes normal numbers of its mean and spread."""
    before = [(tensor, tensor._version, tensor.detach().clone()) for tensor in module.parameters()]
    reset(module)
    for tensor, version, values in before:
        # A method that writes to `tensor.data` leaves the version as it is.
        if tensor._version == version and torch.equal(tensor, values):
            redraw(tensor)


def reset(module: nn.Module) -> None:
    """Let all parts that know how their weights begin draw them."""
    for name, part in module.named_children():
        if isinstance(part, PreTrainedModel):
            config = copy.deepcopy(part.config)
            clear_spec(config)
            config._attn_implementation = None
            setattr(module, name, type(part)(config))
        else:
            reset(part)
    for name in RESETS:
        method = getattr(module, name, None)
        if callable(method):
            method()


@torch.no_grad()
def redraw(tensor: nn.Parameter) -> None:
    """Normal numbers around the mean of a parameter, so that a gain stays one; a single number is kept."""
    if tensor.ndim and tensor.numel() and tensor.is_floating_point():
        spread = float(tensor.std(correction=0))
        tensor.normal_(float(tensor.mean()), spread if spread > 0 and math.isfinite(spread) else SPREAD)

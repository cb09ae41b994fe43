"""Models whose weights are held other than as plain numbers: packed into a few bits each."""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from transformers import PreTrainedModel

FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


def has_packed_weights(model: nn.Module) -> bool:
    """Whether some weights are packed, not plain: by bitsandbytes, torchao, quanto, or torch itself."""
    # Dynamic quantisation by torch leaves no parameter, but a function where the weight was.
    return not all(map(is_plain, model.parameters())) or any(
        callable(getattr(module, "weight", None)) for module in model.modules()
    )


def is_plain(weight: object) -> bool:
    """Whether a weight is a plain tensor of numbers: no packed integers or bytes with separate scales, no
    special tensor class."""
    if not isinstance(weight, Tensor) or not (weight.dtype in FLOATS or weight.is_complex()):
        return False
    return type(weight.data) is type(torch.empty(0, device=weight.device))


def is_packed_map(module: nn.Module) -> bool:
    """Whether a module is a linear map with packed weights."""
    sizes = isinstance(getattr(module, "in_features", None), int), hasattr(module, "out_features")
    return all(sizes) and hasattr(module, "weight") and not is_plain(module.weight)


@torch.no_grad()
def unpacked(linear: Any, like: Tensor) -> Float[Tensor, "in out"]:
    """The matrix of a packed linear map: its outputs for the unit vectors, minus its bias."""
    units = torch.eye(linear.in_features, device=like.device, dtype=like.dtype)
    made: Tensor = linear.forward(units) - linear.forward(torch.zeros_like(units[:1]))
    return made


def lets_gradients_pass(linear: Any, like: Tensor) -> bool:
    """Whether a linear map can be differentiated along what it reads, whatever order the slopes behind it are
    in."""
    vectors = torch.ones(2, 3, linear.in_features, device=like.device, dtype=like.dtype, requires_grad=True)
    try:
        with torch.enable_grad():
            made = linear.forward(vectors)
            slopes = torch.ones_like(made).transpose(0, 1).contiguous().transpose(0, 1)
            return made.requires_grad and bool(torch.autograd.grad(made, vectors, slopes)[0].any())
    except (RuntimeError, NotImplementedError):
        return False


def unpack_maps_without_gradients(model: PreTrainedModel, dtype: torch.dtype) -> int:
    """In a model of our own that computes in ``dtype``, replace linear maps whose packed weights block
    gradients by plain ones; return how many."""
    like = torch.empty(0, dtype=dtype, device=model.device)
    stuck: dict[str, Any] = {}
    for name, module in model.named_modules():
        if any(name.startswith(f"{outer}.") for outer in stuck):
            continue  # adapters around it went with it
        if is_packed_map(module) and not lets_gradients_pass(module, like):
            stuck[name] = module
    for name, module in stuck.items():
        plain = nn.utils.skip_init(
            nn.Linear, module.in_features, module.out_features, device=like.device, dtype=like.dtype
        )
        with torch.no_grad():
            plain.weight.copy_(unpacked(module, like).T)
            plain.bias.copy_(module.forward(like.new_zeros(1, module.in_features))[0])
        model.set_submodule(name, plain.requires_grad_(False))
    return len(stuck)

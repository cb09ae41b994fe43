"""Automatic mixed precision: what goes into attention is cast once, what happens inside is not cast again."""

from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor


def autocast_inputs(*tensors: Tensor) -> tuple[Tensor, ...]:
    """Tensors in the type that autocast asks for, as `F.scaled_dot_product_attention` takes them."""
    kind = tensors[0].device.type
    if not torch.amp.is_autocast_available(kind) or not torch.is_autocast_enabled(kind):
        return tensors
    dtype = torch.get_autocast_dtype(kind)
    return tuple(tensor if tensor.dtype == torch.float64 else tensor.to(dtype) for tensor in tensors)


def no_autocast(device: torch.device) -> AbstractContextManager[object]:
    """Products in the types of their factors: autocast would let a score overflow float16 again."""
    if not torch.amp.is_autocast_available(device.type):
        return nullcontext()
    return torch.autocast(device.type, enabled=False)


def upcast_half(values: Tensor) -> Tensor:
    """Half precision becomes float32; the rest stays."""
    return values.float() if values.dtype in (torch.float16, torch.bfloat16) else values

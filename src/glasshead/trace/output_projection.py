"""Which linear map reads the heads, found by following their output through memory."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

from glasshead.huggingface import is_packed_map, is_plain, unpacked


def linear_maps(model: nn.Module) -> list[nn.Module]:
    """The modules that may be an output projection."""
    return [
        module
        for module in model.modules()
        if isinstance(module, nn.Linear | Conv1D) or is_packed_map(module)
    ]


class HeadOutputTracker:
    """The output of the heads, followed until a module reads it.

    It is the output ``[B, H, Q, d_v]`` of an attention call, or the sum of its heads, ``[B, 1, Q, d_v]``.

    It keeps the memory alive, so that no other tensor can be mistaken for it.
    """

    def __init__(self, output: Tensor, heads: int) -> None:
        self.output = output
        self.heads = heads
        self.version = version(output)
        self.num_readers = 0
        """How many linear maps have read it."""

    def reaches(self, tensor: object) -> bool:
        """Whether this is the unchanged output with its heads joined, ``[…, H·d_v]``."""
        return (
            isinstance(tensor, Tensor)
            and tensor.data_ptr() == self.output.data_ptr()
            and tensor.untyped_storage().data_ptr() == self.output.untyped_storage().data_ptr()
            and tensor.dtype == self.output.dtype
            and tensor.shape[-1] == self.output.shape[1] * self.output.shape[3]
            and tensor.numel() == self.output.numel()
            and tensor.is_contiguous()
            and version(tensor) == self.version
        )

    def projection(self, linear: nn.Module) -> Float[Tensor, "h d_v d_e"] | None:
        """D of every head, or one for all if heads are summed; None if the map has another shape."""
        weight: Tensor  # [H·d_v, d_e]
        if isinstance(linear, Conv1D):
            weight = linear.weight
        elif isinstance(linear, nn.Linear) and is_plain(linear.weight):
            weight = linear.weight.T
        else:
            weight = unpacked(linear, self.output)
        _, parts, _, size = self.output.shape
        if weight.ndim != 2 or weight.shape[0] != parts * size:
            return None
        return weight.unflatten(0, (parts, size)).expand(self.heads, -1, -1)


def version(tensor: Tensor) -> int:
    """How often it was changed in place; inference mode does not count."""
    return 0 if tensor.is_inference() else tensor._version

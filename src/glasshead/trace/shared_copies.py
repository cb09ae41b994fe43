"""Recorded tensors are copies, so that nothing that happens later changes them."""

import copy

import torch
from torch import Tensor, nn

from glasshead.attention import Mechanism


def copy_tensors(tensor: Tensor) -> Tensor:
    """A detached copy, an ordinary tensor also where the model runs in inference mode."""
    with torch.inference_mode(False), torch.no_grad():
        return tensor.detach().clone()


class SharedCopies:
    """Copies of what layers and passes share (masks, parameters), one for each content."""

    def __init__(self) -> None:
        self.last: dict[object, Tensor] = {}

    def __call__(self, tensor: Tensor) -> Tensor:
        # Memory is reused, so the address only says with what to compare.
        key = (tensor.data_ptr(), tensor.dtype, tensor.shape, tensor.stride())
        if key not in self.last or not torch.equal(self.last[key], tensor):
            self.last[key] = copy_tensors(tensor)
        return self.last[key]

    def mechanism(self, mechanism: Mechanism) -> Mechanism:
        """A mechanism with its parameters as they are now; the same one if it has none."""
        if not mechanism.learned:
            return mechanism
        with torch.inference_mode(False):
            values = {id(tensor): self(tensor) for tensor in mechanism.buffers()}
            for tensor in mechanism.parameters():
                values[id(tensor)] = nn.Parameter(self(tensor), requires_grad=False)
            return copy.deepcopy(mechanism, values)

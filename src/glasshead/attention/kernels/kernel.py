"""What a kernel is: a way to compute the output of a call, and what it cannot do."""

from abc import ABC, abstractmethod
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from glasshead.attention.mechanism import AttentionInputs
from glasshead.registry import Registry


class Kernel(ABC):
    """Computes the output of an attention call, equal to the formula in output and gradients."""

    linear_memory: ClassVar[bool]
    """Memory grows with the number of tokens, not of pairs, forward and backward."""
    takes_bias: ClassVar[bool] = False
    """It honours a call's ``bias``; one that does not is never asked."""

    @abstractmethod
    def unsupported_reason(self, call: AttentionInputs) -> str | None:
        """Why this kernel cannot serve the call, as the end of a sentence; None if it can."""

    def is_preferred(self, call: AttentionInputs) -> bool:
        """Whether the automatic choice should take it when it is possible."""
        return True

    @abstractmethod
    def __call__(self, call: AttentionInputs) -> Float[Tensor, "b h q d_v"]:
        """The output."""


def acts_late_reason(call: AttentionInputs) -> str | None:
    """Refuses a position that does more than make scores."""
    position = call.mechanism.position
    late = position.changes_weights or position.changes_output
    return "its position acts after the activation" if late else None


def products_reason(call: AttentionInputs) -> str | None:
    """Refuses scores that are not dot products, and what acts on more than scores."""
    return (
        acts_late_reason(call)
        if call.mechanism.position.is_dot_product
        else "its scores are not dot products"
    )


def lengthens_many_keys(call: AttentionInputs) -> bool:
    """Whether a few rows would have all keys first made longer by their positions."""
    position = call.mechanism.position
    few = call.q.shape[2] < call.q.shape[3] and call.q.shape[2] < call.k.shape[2]
    return few and position.is_dot_product and position.needs_positions


def prefixes_reason(call: AttentionInputs) -> str | None:
    """Refuses masks other than padding and the real keys up to each of consecutive queries."""
    if call.mask.attn_mask is not None:
        return "it supports padding and causal masks, but no masks of pairs"
    scattered = call.mask.causal and call.mask.first is None
    return "under a causal mask its queries must be consecutive" if scattered else None


def double_precision_reason(call: AttentionInputs) -> str | None:
    """Refuses types of more than 32 bits."""
    served = call.q.dtype in (torch.float16, torch.bfloat16, torch.float32)
    return None if served else f"it computes in half or single precision, not {call.q.dtype}"


KERNELS: Registry[Kernel] = Registry("kernel", "kernels")

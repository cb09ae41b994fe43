"""What a kernel is: a way to compute the output of a call, and what it cannot do."""

from abc import ABC, abstractmethod
from typing import ClassVar

from jaxtyping import Float
from torch import Tensor

from glasshead.attention.call import Call
from glasshead.registry import Registry


class Kernel(ABC):
    """Computes the output of an attention call, equal to the formula in output and gradients."""

    linear_memory: ClassVar[bool]
    """Memory grows with the number of tokens, not of pairs, forward and backward."""
    takes_bias: ClassVar[bool] = False
    """It honours a call's ``bias``; one that does not is never asked."""

    @abstractmethod
    def refuses(self, call: Call) -> str | None:
        """Why this kernel cannot serve the call, as the end of a sentence; None if it can."""

    def suits(self, call: Call) -> bool:
        """Whether the automatic choice should take it once it can serve."""
        return True

    @abstractmethod
    def __call__(self, call: Call) -> Float[Tensor, "b h q d_v"]:
        """The output."""


KERNELS: Registry[Kernel] = Registry("kernel")

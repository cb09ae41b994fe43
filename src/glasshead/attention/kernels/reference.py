"""The formula as it stands."""

from jaxtyping import Float
from torch import Tensor

from glasshead.attention.kernels.kernel import KERNELS, Kernel
from glasshead.attention.mechanism import AttentionInputs

MOST_SCORES = 2**22
"""Pairs of tokens (times batch and heads) up to which the whole matrix is held: 16 MiB in float32."""


class Reference(Kernel):
    """Scores, weights, output: any mechanism, quadratic memory."""

    linear_memory = False
    takes_bias = True

    def unsupported_reason(self, call: AttentionInputs) -> str | None:
        return None

    def is_preferred(self, call: AttentionInputs) -> bool:
        return call.q.shape[:3].numel() * call.k.shape[2] <= MOST_SCORES

    def __call__(self, call: AttentionInputs) -> Float[Tensor, "b h q d_v"]:
        return call.mechanism(call)[0]


KERNELS.register("reference")(Reference())

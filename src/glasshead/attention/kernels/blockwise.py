"""The formula on a few query rows at a time."""

from jaxtyping import Float
from torch import Tensor

from glasshead.attention.kernels.blocking import MIN_BLOCK_ROWS, in_blocks
from glasshead.attention.kernels.kernel import KERNELS, Kernel
from glasshead.attention.mechanism import AttentionInputs

BLOCK_SCORES = 2**21
"""Scores held at once, over all heads and sequences: 8 MiB in float32, a few times over."""


class Blockwise(Kernel):
    """Any mechanism on any device; memory for a block of rows, which the backward pass computes again."""

    linear_memory = True
    takes_bias = True

    def unsupported_reason(self, call: AttentionInputs) -> str | None:
        return None

    def __call__(self, call: AttentionInputs) -> Float[Tensor, "b h q d_v"]:
        return in_blocks(call, blockwise_rows(call), lambda block: call.mechanism(block)[0])


def blockwise_rows(call: AttentionInputs) -> int:
    """Query rows of one block."""
    batch, heads = call.q.shape[:2]
    return max(MIN_BLOCK_ROWS, BLOCK_SCORES // max(1, batch * heads * call.k.shape[2]))


KERNELS.register("blockwise")(Blockwise())

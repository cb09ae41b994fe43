"""Transformer-XL's relative positions: a content term, a position term and a bias for each."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from glasshead.attention.position import POSITIONS, Heads
from glasshead.attention.sinusoid import Sinusoid


@POSITIONS.register("transformer-xl")
class TransformerXL(Sinusoid):
    """s_ij = [(q_i + u_h) · k_j + (q_i + v_h) · W_h R_{i−j}] / √d.

    R_{i−j} is the sinusoid of the distance, of size d (one more if d is odd), so that the position term is
    an inner product too (`Sinusoid`). Learned per head: u and v ``[H, d]`` and W ``[H, d, d]``, initially
    normal with standard deviation 0.02.

    Source: Dai et al. (2019), section 3.3, where u, v and R are so named and W is W_{k,R}.
    """

    paper = "Dai et al. 2019, section 3.3"
    learned = True
    per_head = True

    def __init__(self, heads: Heads | None = None) -> None:
        super().__init__(heads)
        count, size, _ = self.sizes
        self.u = nn.Parameter(torch.empty(count, size))
        self.v = nn.Parameter(torch.empty(count, size))
        self.w = nn.Parameter(torch.empty(count, size, size + size % 2))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """The initial values."""
        for parameter in self.parameters():
            nn.init.normal_(parameter, std=0.02)

    def parts(
        self, q: Float[Tensor, "b h q d"], scale: float
    ) -> tuple[Float[Tensor, "b h q d"], Float[Tensor, "b h q s"]]:
        dtype = torch.promote_types(q.dtype, torch.float32)
        u, v, w = (each.to(dtype) for each in (self.u, self.v, self.w))
        return (q + u[:, None]) * scale, ((q + v[:, None]) * scale) @ w

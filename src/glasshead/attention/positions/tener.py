"""TENER: sinusoids that know direction as well as distance, and scores that are not scaled."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from glasshead.attention.position import POSITIONS, HeadSizes
from glasshead.attention.positions.sinusoidal import Sinusoid
from glasshead.errors import InputError


@POSITIONS.register("tener")
class Tener(Sinusoid):
    """s_ij = q_i · k_j + q_i · R_{i−j} + u_h · k_j + v_h · R_{i−j}, whatever the scale.

    R_{i−j} is the sinusoid of the signed distance, of size d and not projected: its sines tell left from
    right. There is no 1/√d, which the paper found to suit named entities. Learned per head: u and v
    ``[H, d]``, initially normal with standard deviation 0.02.

    Raises:
        InputError: if d is odd: sines and cosines come in pairs.

    Source: Yan et al. (2019), TENER, direction- and distance-aware attention.
    """

    paper = "Yan et al. 2019"
    learned = True
    per_head = True

    def __init__(self, heads: HeadSizes | None = None) -> None:
        super().__init__(heads)
        count, size, _ = self.sizes
        if size % 2:
            raise InputError(f"tener needs keys of an even size, not {size}: sines and cosines come in pairs")
        self.u = nn.Parameter(torch.empty(count, size))
        self.v = nn.Parameter(torch.empty(count, size))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """The initial values."""
        nn.init.normal_(self.u, std=0.02)
        nn.init.normal_(self.v, std=0.02)

    def parts(
        self, q: Float[Tensor, "b h q d"], scale: float
    ) -> tuple[Float[Tensor, "b h q d"], Float[Tensor, "b h q s"]]:
        dtype = torch.promote_types(q.dtype, torch.float32)
        u, v = self.u.to(dtype), self.v.to(dtype)
        return q + u[:, None], q + v[:, None]

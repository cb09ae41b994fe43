"""Transformer-XL's relative positions: a content term, a position term and a bias for each."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from glasshead.attention.position import POSITIONS, HeadSizes, whole_number
from glasshead.attention.positions.sinusoidal import Sinusoid
from glasshead.errors import ParameterError


@POSITIONS.register("transformer-xl")
class TransformerXL(Sinusoid):
    """s_ij = [(q_i + u_h) · k_j + (q_i + v_h) · W_h R_{i−j}] / √d.

    R_{i−j} is the sinusoid of the distance, one for all heads, so that the position term is an inner product
    too (`Sinusoid`). Its size r is ``relative_dim``: in the paper that of the model, here d unless given
    (one more if d is odd). With r numbers the slowest wave has frequency 10000^{−(r−2)/r}, so a
    larger r tells more distances apart; keys with their features have d + r numbers. Learned per head: u and
    v ``[H, d]`` and W ``[H, d, r]``, initially normal with standard deviation 0.02.

    Raises:
        InputError: if ``relative_dim`` is not an even number above 0.

    Source: Dai et al. (2019), section 3.3, where u, v and R are so named and W is W_{k,R}.
    """

    paper = "Dai et al. 2019, section 3.3"
    learned = True
    per_head = True

    def __init__(self, heads: HeadSizes | None = None, *, relative_dim: int | None = None) -> None:
        super().__init__(heads)
        count, size, _ = self.sizes
        relative = size + size % 2 if relative_dim is None else whole_number("relative_dim", relative_dim)
        if relative % 2:
            raise ParameterError(
                "relative_dim",
                f"must be even, since sines and cosines come in pairs: give {relative + 1}, not {relative}",
            )
        self.u = nn.Parameter(torch.empty(count, size))
        self.v = nn.Parameter(torch.empty(count, size))
        self.w = nn.Parameter(torch.empty(count, size, relative))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """The initial values."""
        for parameter in self.parameters():
            nn.init.normal_(parameter, std=0.02)

    def feature_size(self, size: int) -> int:
        return size + self.w.shape[-1]

    def parts(
        self, q: Float[Tensor, "b h q d"], scale: float
    ) -> tuple[Float[Tensor, "b h q d"], Float[Tensor, "b h q s"]]:
        dtype = torch.promote_types(q.dtype, torch.float32)
        u, v, w = (vector.to(dtype) for vector in (self.u, self.v, self.w))
        return (q + u[:, None]) * scale, ((q + v[:, None]) * scale) @ w

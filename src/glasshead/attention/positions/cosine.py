"""cosFormer's re-weighting: non-negative features, and a cosine that fades with the distance."""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from glasshead.attention.mask import TokenPositions
from glasshead.attention.position import POSITIONS, HeadSizes, Position, whole_number
from glasshead.attention.positions.relative import require_positions
from glasshead.attention.positions.sinusoidal import sines
from glasshead.errors import InputError


@POSITIONS.register("cosine")
class Cosine(Position):
    """s_ij = ReLU(q_i) · ReLU(k_j) · cos(π/2 · (i − j)/M) / √d: an inner product, cos being one.

    ``reach`` is M, a fixed number and never the padded length, 512 unless given; sequences of more
    real tokens are refused, as the cosine would turn negative. With the activation ``sum`` this is the preset
    ``cosformer``, from whose weights the scale cancels.

    Raises:
        InputError: if ``reach`` is not a whole number above 0; on a longer sequence; on a scale that is
        not
            above 0.

    Source: Qin et al. (2022), cosFormer, cos-based re-weighting.
    """

    paper = "Qin et al. 2022"
    is_dot_product = True
    nonnegative_scores = True
    reach: int

    def __init__(self, heads: HeadSizes | None = None, *, reach: int = 512) -> None:
        super().__init__(heads)
        self.reach = whole_number("reach", reach)

    def check(self, longest: int) -> None:
        if longest > self.reach:
            raise InputError(
                f"cosine reaches {self.reach} tokens, not {longest}: "
                f'give {{"name": "cosine", "reach": {longest}}} or more, or cut the texts'
            )

    def features(
        self,
        q: Float[Tensor, "b h q d"],
        k: Float[Tensor, "b h k d"],
        scale: float,
        positions: TokenPositions | None,
    ) -> tuple[Float[Tensor, "b h q f"], Float[Tensor, "b h k f"]]:
        if scale <= 0:
            raise InputError(f"cosine needs a scale above 0, not {scale}")
        positions, dtype = require_positions(positions), torch.promote_types(q.dtype, torch.float32)
        frequency = torch.tensor([math.pi / 2 / self.reach], dtype=torch.float64, device=q.device)
        (sin_q, cos_q), (sin_k, cos_k) = (
            sines(index, frequency, dtype) for index in (positions.query, positions.key)
        )
        queries, keys = q.to(dtype).relu() * scale, k.to(dtype).relu()
        queries = torch.cat([queries * cos_q, queries * sin_q], dim=-1)
        keys = torch.cat([keys * cos_k, keys * sin_k], dim=-1)
        return queries, keys

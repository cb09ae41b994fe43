"""No position: scores are scaled dot products."""

from jaxtyping import Float
from torch import Tensor

from glasshead.attention.mask import TokenPositions
from glasshead.attention.position import POSITIONS, Position, ScoreMod


@POSITIONS.register("none")
class NoPosition(Position):
    """s_ij = q_i · k_j / √d (Vaswani et al. 2017, eq. 1)."""

    paper = "Vaswani et al. 2017, eq. 1"
    is_dot_product = True
    needs_positions = False

    def features(
        self,
        q: Float[Tensor, "b h q d"],
        k: Float[Tensor, "b h k d"],
        scale: float,
        positions: TokenPositions | None,
    ) -> tuple[Float[Tensor, "b h q d"], Float[Tensor, "b h k d"]]:
        return q * scale, k

    def score_mod(
        self, q: Float[Tensor, "b h q d"], scale: float, positions: TokenPositions | None
    ) -> ScoreMod:
        return lambda score, batch, head, query, key: score * scale

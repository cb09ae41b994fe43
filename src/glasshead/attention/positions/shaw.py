"""Relative position representations: learned vectors of the clipped offset, next to keys and values."""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from glasshead.attention.mask import TokenPositions
from glasshead.attention.position import POSITIONS, HeadSizes, Position, ScoreMod, whole_number
from glasshead.attention.positions.relative import offset_of, offset_range, require_positions, skew, unskew


@POSITIONS.register("shaw")
class Shaw(Position):
    """s_ij = q_i · (k_j + a^K_r) / √d, output_i = Σ_j a_ij (v_j + a^V_r), r = clip(j − i, −c, c).

    Learned and shared by all heads: a^K ``[2c + 1, d]`` and a^V ``[2c + 1, d_v]``, initially uniform as
    Glorot and Bengio (2010) have it. ``clip`` is c, 16 unless given.

    Raises:
        InputError: if ``clip`` is not a whole number above 0.

    Source: Shaw, Uszkoreit and Vaswani (2018), eq. 3 and 4.
    """

    paper = "Shaw, Uszkoreit and Vaswani 2018, eq. 3, 4"
    learned = True

    def __init__(self, heads: HeadSizes | None = None, *, clip: int = 16) -> None:
        super().__init__(heads)
        self.clip = whole_number("clip", clip)
        self.keys = nn.Parameter(torch.empty(2 * clip + 1, self.sizes.head_dim))
        self.values = nn.Parameter(torch.empty(2 * clip + 1, self.sizes.value_dim))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """The initial values."""
        nn.init.xavier_uniform_(self.keys)
        nn.init.xavier_uniform_(self.values)

    @property
    def changes_output(self) -> bool:
        return True

    def index(self, offsets: Int[Tensor, "*pairs"]) -> Int[Tensor, "*pairs"]:
        """The row of a^K and a^V that belongs to an offset."""
        return offsets.clamp(-self.clip, self.clip) + self.clip

    def window(self, start: int, positions: TokenPositions) -> tuple[range, Int[Tensor, " line"]]:
        """The keys that are not at one end of the clip for every query, and the rows of the line to them."""
        queries, keys = positions.query.shape[1], positions.key.shape[1]
        first = min(max(start - self.clip + 1, 0), keys)
        last = min(max(start + queries - 1 + self.clip, first), keys)
        inner = range(first, last)
        return inner, self.index(offset_range(start, queries, inner, positions.key.device))

    def scores(
        self,
        q: Float[Tensor, "b h q d"],
        k: Float[Tensor, "b h k d"],
        scale: float,
        positions: TokenPositions | None,
    ) -> Float[Tensor, "b h q k"]:
        positions = require_positions(positions)
        q = q * scale
        table = self.keys.to(q.dtype)
        scores = q @ k.transpose(-1, -2)
        if positions.start is None:
            index = self.index(positions.offsets()).expand_as(scores)
            return scores + (q @ table.T).gather(-1, index)
        inner, rows = self.window(positions.start, positions)
        # In place: the gradient of a product does not need the product.
        scores[..., : inner.start] += q @ table[:1].T
        scores[..., inner.start : inner.stop] += skew(q @ table[rows].T)
        scores[..., inner.stop :] += q @ table[-1:].T
        return scores

    def score_mod(
        self, q: Float[Tensor, "b h q d"], scale: float, positions: TokenPositions | None
    ) -> ScoreMod:
        table = q * scale @ self.keys.to(q.dtype).T  # [B, H, Q, 2c + 1]
        offset = offset_of(require_positions(positions))
        return lambda score, batch, head, query, key: (
            score * scale + table[batch, head, query, self.index(offset(batch, query, key))]
        )

    def output(
        self,
        weights: Float[Tensor, "b h q k"],
        v: Float[Tensor, "b h k d_v"],
        positions: TokenPositions | None,
    ) -> Float[Tensor, "b h q d_v"]:
        positions = require_positions(positions)
        table = self.values.to(v.dtype)
        output = weights @ v
        if positions.start is None:
            index = self.index(positions.offsets()).expand_as(weights)
            sums = weights.new_zeros(*weights.shape[:3], len(table)).scatter_add(-1, index, weights)
            return output + sums @ table
        inner, rows = self.window(positions.start, positions)
        output += weights[..., : inner.start].sum(dim=-1, keepdim=True) * table[0]
        output += unskew(weights[..., inner.start : inner.stop]) @ table[rows]
        output += weights[..., inner.stop :].sum(dim=-1, keepdim=True) * table[-1]
        return output

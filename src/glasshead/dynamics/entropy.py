"""How widely attention is spread."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor


def entropies(weights: Float[Tensor, "rows n"], mask: Bool[Tensor, "rows n"]) -> Float[Tensor, " kept"]:
    """−Σ p log p / log n with p = |a| / Σ|a| of every row over two tokens or more: 0 one, 1 all alike."""
    size = weights.abs().masked_fill(~mask, 0.0)
    total, length = size.sum(dim=-1), mask.sum(dim=-1)
    rows = (length > 1) & (total > 0)
    p = size[rows] / total[rows, None]
    return torch.special.entr(p).sum(dim=-1) / length[rows].log()

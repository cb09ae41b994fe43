"""How one attention score moves, for any activation φ_i = g(s_i) / Σ_k h(s_k) and any score function.

Huang, Yang and Wang (2024), Proposition 1: the formula that tests and the page of errata hold against
autograd; the library itself records measured changes. It holds for y = σ(VᵀW) of one text whose Q_i and K_i
are free parameters of their own; with shared W_q and W_k the scores also move each other.
"""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

Elementwise = Callable[[Tensor], Tensor]


def slope_norms(
    score: Callable[[Tensor, Tensor], Tensor], query: Float[Tensor, "n d"], key: Float[Tensor, "n d"]
) -> Float[Tensor, " n"]:
    """Δ_I = ‖∂s_i/∂Q_i‖² + ‖∂s_i/∂K_i‖² ≥ 0 of every token, for s_i = score(Q_i, K_i) of rows."""
    by_query, by_key = torch.func.grad(lambda q, k: score(q, k).sum(), argnums=(0, 1))(query, key)
    return by_query.square().sum(dim=1) + by_key.square().sum(dim=1)


def general_update(
    scores: Float[Tensor, " n"],
    polarity: Float[Tensor, " n"],
    inner: Float[Tensor, " n"],
    slope: float | Tensor,
    g: Elementwise,
    h: Elementwise,
) -> Float[Tensor, " n"]:
    """ds_i/dτ = −Δ_I Σ_j π_j o_j · σ′ ∂R/∂y (eq. 4), with o = VᵀW and ``slope`` = σ′ ∂R/∂y.

    π_j = I[j = i] g′(s_i) / Σ_k h(s_k) − w_j h′(s_i) / Σ_k h(s_k).
    """
    ones = torch.ones_like(scores)
    top, by_top = torch.func.jvp(g, (scores,), (ones,))[:2]
    bottom, by_bottom = torch.func.jvp(h, (scores,), (ones,))[:2]
    total = bottom.sum()
    pooled = (top / total) @ polarity  # Σ_j w_j o_j
    return -inner * (by_top * polarity - by_bottom * pooled) / total * slope


def tanhmax_update(
    scores: Float[Tensor, " n"],
    polarity: Float[Tensor, " n"],
    inner: Float[Tensor, " n"],
    slope: float | Tensor,
) -> Float[Tensor, " n"]:
    """Eq. 7, with the minus sign of eq. 4 that is missing there:

    ds_i/dτ = −Δ_I [w̃_i o_i − ŵ_i Σ_j ŵ_j o_j] σ′ ∂R/∂y, where ŵ is TanhMax of the scores and w̃_i its
    e^{s_i} + e^{−s_i} over the same sum (eqs. 8 and 9, whose sums run over k).
    """
    both = torch.stack([scores, -scores]).flatten().softmax(dim=0).unflatten(0, (2, -1))
    wide, signed = both[0] + both[1], both[0] - both[1]
    return -inner * (wide * polarity - signed * (signed @ polarity)) * slope

"""Effective attention: the part of the weights that the output of the head can show."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor


def effective_weights(
    weights: Float[Tensor, "*batch rows n"],
    T: Float[Tensor, "*batch n d"],
    mask: Bool[Tensor, "*batch n"] | None = None,
    *,
    embed_dim: int | None = None,
    eps: float | None = None,
) -> Float[Tensor, "*batch rows n"]:
    """A U Uᵀ, with U an orthonormal basis of the column space of T: A without its part in LN(T).

    Of all weights with the output A T it has the smallest norm; it is A where T has full row rank. Its rows
    need not sum to one, and weights may be negative. ``mask`` is true on the keys that the rows may attend
    to; others get 0. Pass rows that see different keys one by one, as ``weights[..., None, :]`` with T
    ``[..., None, n, d]``. Computed in float64; ``eps`` is the machine epsilon of the type in which T was
    computed, by default that of T, ``embed_dim`` d_e where T is given in fewer coordinates. The threshold of
    the rank is that of `glasshead.identifiability.rank_threshold`.

    Source: Brunner et al. (2019), effective attention.
    """
    values = T.double()
    keys = torch.tensor(T.shape[-2], device=T.device)
    if mask is not None:
        values, weights = (
            values.masked_fill(~mask[..., None], 0.0),
            weights.masked_fill(~mask[..., None, :], 0.0),
        )
        keys = mask.sum(dim=-1)
    left, sizes, _ = torch.linalg.svd(values, full_matrices=False)
    rounding = keys.clamp(min=T.shape[-1] if embed_dim is None else embed_dim) * (
        eps or torch.finfo(T.dtype).eps
    )
    floor = rounding[..., None] * sizes[..., :1]  # [*batch, 1]
    basis = left * (sizes > floor)[..., None, :]
    return (weights.double() @ basis @ basis.mT).to(weights.dtype)

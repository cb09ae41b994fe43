"""Numerical rank: how many directions of a matrix stand out of its rounding."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from glasshead.arrays import Floats

FLOAT32_EPS = 2.0**-23
"""The machine epsilon of float32."""


def rank_threshold(tokens: int, embed_dim: int, eps: float, norm: float) -> float:
    """max(d_s, d_e) · ε · ‖T‖₂: singular values below it count as zero.

    ``tokens`` is d_s, ``embed_dim`` d_e (the columns of T), ``eps`` the machine epsilon of the type in which
    T was computed, ``norm`` the largest singular value of T.

    Source: Bhardwaj et al. (2021), footnote 4.
    """
    return max(tokens, embed_dim) * eps * norm


@dataclass(frozen=True)
class ColumnSpace:
    """The column space of T [n, d], or of the part of T that is orthogonal to the constant 1.

    ``basis`` U [n, r] and ``sizes`` σ [r] are its left singular vectors and singular values above the
    threshold; ``dropped`` is the largest singular value below it, ``floor`` the threshold.
    """

    basis: Floats
    sizes: Floats
    dropped: float
    floor: float

    @property
    def margin(self) -> float:
        """How clear the rank is: the smallest counted singular value divided by the threshold; ∞ if none
        counts."""
        return float(self.sizes[-1] / self.floor) if len(self.sizes) and self.floor > 0 else math.inf


def column_space(
    T: Floats, *, embed_dim: int | None = None, eps: float = FLOAT32_EPS, centred: bool = False
) -> ColumnSpace:
    """The column space of T [n, d] by singular values, with the threshold of T itself.

    ``centred`` subtracts the mean row first: [T, 1] has the columns of the centred T and 1, which are
    orthogonal to each other, so rank [T, 1] = 1 + rank of the centred T. ``embed_dim`` is d_e where T is
    given in fewer coordinates.
    """
    n, d = T.shape
    norm = float(np.linalg.norm(T, 2)) if T.size else 0.0
    floor = rank_threshold(n, embed_dim or d, eps, norm)
    left, sizes, _ = np.linalg.svd(T - T.mean(axis=0) if centred else T, full_matrices=False)
    # A centred T has one direction less, and what rounding leaves of it is no direction.
    count = min(int((sizes > floor).sum()), n - 1 if centred else n)
    dropped = float(sizes[count]) if count < len(sizes) else 0.0
    return ColumnSpace(left[:, :count], sizes[:count], dropped, floor)

"""Weights at the edge of what gives the same output: where a linear function of them is largest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from glasshead.arrays import Floats
from glasshead.identifiability.lp.polytopes import ROUNDING, WEIGHT_DOMAINS, Polytope
from glasshead.identifiability.lp.rank import column_space
from glasshead.identifiability.lp.simplex import Vertex, initial_vertices, maximise


@dataclass(frozen=True)
class SameOutput:
    """All weights a′ that an activation can produce with a′ T = a T, to find their extremes.

    T [n, d] and a [n] in float64; ``kind``, ``embed_dim`` and ``eps`` as for `intervals`.
    """

    T: Floats
    a: Floats
    polytope: Polytope
    vertex: Vertex

    @classmethod
    def of(cls, T: Floats, a: Floats, *, kind: str, embed_dim: int, eps: float) -> SameOutput | None:
        """None if a is the only solution, if nothing bounds the weights, or if rounding leaves the set."""
        domain = WEIGHT_DOMAINS[kind]
        space = column_space(T, embed_dim=embed_dim, eps=eps, centred=domain.sums_to_one)
        if domain.polytope is None or len(a) <= len(space.sizes) + domain.sums_to_one:
            return None
        polytope = domain.polytope(a, space, 0.0)
        (vertex,) = initial_vertices(polytope.A[None], polytope.start[None])
        return None if vertex is None else cls(T, a, polytope, vertex)

    def extremes(self, functions: Floats) -> Floats:
        """argmax Σ w_i a′_i for each row w of ``functions`` [L, n]: The result is [L, n], each checked to
        give the same output; a itself where no maximum was found."""
        A, start = self.polytope.A, self.polytope.start
        objectives = functions @ self.polytope.to_weights.T
        ends = maximise(A[None], [self.vertex], objectives)
        results = np.tile(self.a, (len(functions), 1))
        for row in np.flatnonzero(np.isfinite(ends.value)):
            x = np.zeros(A.shape[1])
            x[ends.basic[row]] = np.linalg.solve(A[:, ends.basic[row]], A @ start)
            weights = np.maximum(x, 0.0) @ self.polytope.to_weights
            if self.is_same(weights, x):
                results[row] = weights
        return results

    def is_same(self, weights: Floats, x: NDArray[np.float64]) -> bool:
        """Whether they can be produced, and give the same output, up to rounding."""
        before, after = self.a @ self.T, weights @ self.T
        size = float(np.abs(self.a) @ np.abs(self.T).sum(axis=1)) or 1.0
        return bool(x.min() > -ROUNDING and np.abs(after - before).max(initial=0.0) <= ROUNDING * size)

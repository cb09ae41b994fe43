"""The farthest weights that another query draws, where queries have one or two numbers: all can be tried.

The curves of queries are circles around the model's own, so dense that no score moves by more than `STEP`
from one query to the next, and lines far away (where queries have one number, steps that grow with it).
There the weights of softmax lie on one key or, where two are tied, on both: along the normal of an edge of
the convex hull of the keys. Between two queries on the two sides of the model's own prediction there is one
that gives it, and between that and each one that just does. The best of all begin a climb. Where one number
is read off the weights this leaves out nothing that is much farther: with steps a quarter as long what is
found is the same to within `ACCURACY`.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float
from scipy.spatial import ConvexHull
from torch import Tensor

from glasshead.attention import Activation
from glasshead.audits.adversary.distances import Distance

ACCURACY = 0.005
"""Share of the largest distance by which a farther map may have been missed."""
DIMENSIONS = 2
STEP, FEWEST = 1.0, 64
RADII = np.geomspace(0.05, 300.0, 48)
LINES = 30.0, 2.0  # the first distance of the lines along a normal, and the ratio of one to the next
TIE = np.linspace(-40.0, 40.0, 161)  # by how much one key is ahead of the other
NEGLIGIBLE = 30.0  # so much behind, a key has no weight
FARTHEST = 1e6
HALVINGS = 24
KEPT = 12  # queries of a text that begin a climb
POINTS = 2_000_000  # numbers of a block of queries


@dataclass(frozen=True)
class QueryPlane:
    """The weights φ(s + K δ) of one text by its queries δ, and z = Σ a_i o_i, which is to stay between two
    ``planes``; ``own`` are the weights to depart from, z_own what they give."""

    scores: Float[Tensor, " n"]
    keys: Float[Tensor, "n d"]
    polarity: Float[Tensor, " n"]
    activation: Activation
    planes: tuple[float, float]
    distance: Distance
    domain: str

    def weights(self, queries: Float[Tensor, "q d"]) -> Float[Tensor, "q n"]:
        """Weights of queries."""
        scores = self.scores + queries @ self.keys.T
        return self.activation.weights(scores, torch.ones_like(scores, dtype=torch.bool))

    def read(self, queries: Float[Tensor, "q d"]) -> tuple[Float[Tensor, " q"], Float[Tensor, " q"]]:
        """z, and how far the weights are from the own, block by block."""
        own = self.weights(queries.new_zeros(1, queries.shape[1]))
        parts = []
        for block in queries.split(max(POINTS // len(self.keys), 1)):
            weights = self.weights(block)
            parts.append((weights @ self.polarity, self.distance(own, weights).sum(dim=-1)))
        return tuple(torch.cat(part) for part in zip(*parts, strict=True))  # type: ignore[return-value]

    def inside(self, z: Float[Tensor, " q"]) -> Bool[Tensor, " q"]:
        """Whether the prediction stays."""
        return (self.planes[0] <= z) & (z <= self.planes[1])

    def farthest(self) -> tuple[Float[Tensor, "kept d"], float]:
        """The queries to climb from, farthest first, and the largest distance of all that were tried."""
        own = self.scores.new_zeros(1, self.keys.shape[1])
        middle = float(self.read(own)[0])
        curves = list(self.curves())
        points = torch.cat(curves)
        z, _ = self.read(points)
        last = torch.tensor([len(curve) for curve in curves]).cumsum(0) - 1
        starts = torch.ones(len(points), dtype=torch.bool)
        starts[last] = False
        (one,) = starts.nonzero(as_tuple=True)
        above, inside = z > middle, self.inside(z)
        crossing = one[above[one] != above[one + 1]]
        through = self.halve(
            points[crossing], points[crossing + 1], lambda z, ends: (z > middle) == (ends > middle)
        )
        pairs = [(through, points[crossing]), (through, points[crossing + 1])]
        leaving = one[inside[one] != inside[one + 1]]
        swapped = inside[leaving + 1, None]
        pairs.append(
            (
                torch.where(swapped, points[leaving + 1], points[leaving]),
                torch.where(swapped, points[leaving], points[leaving + 1]),
            )
        )
        ends = [self.halve(*pair, lambda z, ends: self.inside(z)) for pair in pairs]
        feasible = torch.cat([own, points[inside], through, *ends])
        z, distances = self.read(feasible)
        distances = distances.masked_fill(~self.inside(z), 0.0)
        order = distances.argsort(descending=True)[:KEPT]
        return feasible[order], float(distances.max())

    def halve(
        self,
        low: Float[Tensor, "q d"],
        high: Float[Tensor, "q d"],
        stays: Callable[[Tensor, Tensor], Tensor],
    ) -> Float[Tensor, "q d"]:
        """The last points on the ways from some queries to others of which it is true that they stay."""
        if not len(low):
            return low
        ends, _ = self.read(low)
        near, far = low.new_zeros(len(low), 1), low.new_ones(len(low), 1)
        for _ in range(HALVINGS):
            middle = (near + far) / 2
            z, _ = self.read(low + middle * (high - low))
            good = stays(z, ends)[:, None]
            near, far = torch.where(good, middle, near), torch.where(good, far, middle)
        return low + near * (high - low)

    def curves(self) -> Iterator[Float[Tensor, "q d"]]:
        """All queries, as points on curves."""
        span = float((self.keys - self.keys.mean(dim=0)).norm(dim=1).max()) * 2
        if self.keys.shape[1] == 1:
            count = int(2 * RADII[-1] * max(span, 1.0) / STEP) | 1
            near, far = torch.linspace(-RADII[-1], RADII[-1], count, dtype=self.keys.dtype), self.far()
            yield torch.cat([-far.flip(0), near, far])[:, None]
            return
        for radius in RADII.tolist():
            count = max(int(2 * np.pi * radius * span / STEP), FEWEST)
            angles = torch.linspace(0, 2 * np.pi, count + 1, dtype=self.keys.dtype)
            yield radius * torch.stack([angles.cos(), angles.sin()], dim=1)
        yield from self.lines()

    def far(self) -> Float[Tensor, " q"]:
        """Queries of one number so far away that of two keys, however near, one alone has weight."""
        keys = self.keys[:, 0] if self.domain == "simplex" else torch.cat([self.keys[:, 0], -self.keys[:, 0]])
        gaps = keys.sort().values.diff()
        reach = NEGLIGIBLE + float(self.scores.max() - self.scores.min())
        nearest = float(gaps[gaps > reach / FARTHEST].min()) if (gaps > reach / FARTHEST).any() else math.inf
        last = max(reach / nearest, float(RADII[-1]))
        count = math.ceil(math.log(last / RADII[-1]) / math.log1p(STEP / reach)) + 1
        return torch.from_numpy(np.geomspace(RADII[-1], last, count)[1:]).to(self.keys)

    def lines(self) -> Iterator[Float[Tensor, "q d"]]:
        """Far away, across the normals along which two keys are tied and ahead of all others."""
        keys = self.keys.numpy()
        points = keys if self.domain == "simplex" else np.concatenate([keys, 0 * keys[:1], -keys])
        if len(points) < 3 or np.linalg.matrix_rank(points - points[0]) < 2:
            return
        hull = ConvexHull(points)
        spread = float(self.scores.max() - self.scores.min())
        for pair, normal in zip(hull.simplices, hull.equations[:, :2], strict=True):
            along = np.array([-normal[1], normal[0]])
            apart = abs(float((points[pair[0]] - points[pair[1]]) @ along))
            heights = points @ normal
            behind = np.delete(heights[pair[0]] - heights, pair)
            gap = float(behind[behind > 0].min(initial=np.inf))
            end = min((NEGLIGIBLE + spread) / gap, FARTHEST)
            first, ratio = LINES
            count = max(int(np.ceil(np.log(max(end / first, 1.0)) / np.log(ratio))), 0) + 1
            for size in np.minimum(first * ratio ** np.arange(count), max(end, first)):
                yield torch.from_numpy(size * normal + (TIE / max(apart, 1 / FARTHEST))[:, None] * along)

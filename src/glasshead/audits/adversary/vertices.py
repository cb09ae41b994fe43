"""The farthest weights with the same prediction, exactly, where the output is linear in the weights.

The distance of two maps is convex in the second. Over the polytope of all weights that an activation can
produce, cut by the two planes between which the prediction stays, it is therefore largest at a vertex; every
vertex lies on an edge of the uncut polytope, so at most two tokens carry weight.
"""

from dataclasses import dataclass

import numpy as np
import torch

from glasshead.arrays import AnyFloats, Integers
from glasshead.audits.adversary.distances import Distance


@dataclass(frozen=True)
class Corners:
    """The vertices of all weights that an activation can produce: ``sign`` on ``token``, 0 elsewhere."""

    token: Integers
    sign: AnyFloats


def corners(domain: str, n: int) -> Corners | None:
    """The vertices of a weight domain of n tokens (its closure): e_i of the simplex, with 0 of Σ a < 1, with
    −e_i of Σ |a| < 1; None of one without bounds."""
    tokens = np.arange(n)
    if domain == "simplex":
        return Corners(tokens, np.ones(n))
    if domain == "below-one":
        return Corners(np.append(tokens, 0), np.append(np.ones(n), 0.0))
    if domain == "cross":
        return Corners(np.tile(tokens, 2), np.repeat([1.0, -1.0], n))
    return None


def farthest_vertex(
    weights: AnyFloats, polarity: AnyFloats, domain: str, planes: tuple[float, float], distance: Distance
) -> AnyFloats:
    """argmax d(a, a′) over the closure of the weights a′ [n] of a domain with low ≤ Σ a′_i o_i ≤ high.

    ``weights`` a [n], ``polarity`` o [n], and ``planes`` (low, high), between which Σ a_i o_i lies. Where the
    edge of two corners k, l crosses a plane Σ a′ o = c, its point is t k + (1 − t) l with
    t = (c − o_l) / (o_k − o_l); the candidates are these, and the corners between the planes. d is a sum over
    tokens, so that of a candidate is that of the zero map but for two terms. O(n²).

    Source: the ε-max of Jain and Wallace (2019), section 4.2.2, which they approach by gradients.
    """
    points, a = corners(domain, len(weights)), torch.from_numpy(weights)
    assert points is not None
    reach = points.sign * polarity[points.token]
    zero = distance(a, torch.zeros_like(a))

    def gain(token: Integers, weight: AnyFloats) -> AnyFloats:
        return (distance(a[token], torch.as_tensor(weight)) - zero[token]).numpy()

    best, choice = -np.inf, (0, 0, 1.0)
    inside = np.flatnonzero((planes[0] <= reach) & (reach <= planes[1]))
    if len(inside):
        values = gain(points.token[inside], points.sign[inside])
        at = int(values.argmax())
        best, choice = float(values[at]), (int(inside[at]), int(inside[at]), 1.0)
    for plane in planes:
        above, below = np.flatnonzero(reach > plane), np.flatnonzero(reach < plane)
        if not (np.isfinite(plane) and len(above) and len(below)):
            continue
        up, down = above[:, None], below[None, :]
        t = (plane - reach[down]) / (reach[up] - reach[down])
        values = gain(points.token[up], t * points.sign[up])
        values += gain(points.token[down], (1 - t) * points.sign[down])
        # Both signs of one token: no edge, and two terms of one token do not add up.
        opposite = (points.token[up] == points.token[down]) & (points.sign[up] * points.sign[down] < 0)
        values[opposite] = -np.inf
        row, column = divmod(int(values.argmax()), len(below))
        if values[row, column] > best:
            best, choice = float(values[row, column]), (int(above[row]), int(below[column]), t[row, column])
    first, second, share = choice
    result = np.zeros_like(weights)
    result[points.token[first]] += share * points.sign[first]
    result[points.token[second]] += (1 - share) * points.sign[second]
    return result

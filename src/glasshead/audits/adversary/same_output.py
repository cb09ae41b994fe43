"""The farthest weights that give the same output of the head: between what was found and a bound."""

import numpy as np
import torch

from glasshead.arrays import Floats
from glasshead.audits.adversary.distances import Distance
from glasshead.identifiability import AttentionRow, SameOutput

OBJECTIVES, ASCENTS = 16, 20
GAIN = 1e-9  # what an ascent must still gain to go on


def farthest_same_output(
    row: AttentionRow, distance: Distance, largest: float, rng: np.random.Generator
) -> tuple[float, float, Floats]:
    """A distance that was found, one that none exceeds, and the weights [n] of the first.

    max d(a, a′) over the weights with a′ T = a T. d is convex and a sum over tokens, so between the ends of
    the interval of a weight its term lies below the chord; the largest sum of chords, a linear program, is
    the bound. From its weights, and those of random linear functions, the ascent goes on to the maximum of
    w = ∂d/∂a′ at what it has: no such step loses, but where it stops another vertex may be farther still.
    Both are 0 where the weights are identifiable; the bound is NaN where an interval was not found, and at
    most ``largest``, which no distance exceeds.
    """
    program = SameOutput.of(row.T, row.weights, kind=row.kind, embed_dim=row.embed_dim, eps=row.eps)
    if program is None:
        return 0.0, 0.0, row.weights
    own = torch.from_numpy(row.weights)

    def distances(weights: Floats) -> Floats:
        return np.asarray(distance(own, torch.from_numpy(weights)).sum(dim=-1), dtype=np.float64)

    def slopes(weights: Floats) -> Floats:
        others = torch.from_numpy(weights).requires_grad_()
        (slope,) = torch.autograd.grad(distance(own, others).sum(), others)
        return np.asarray(slope, dtype=np.float64)

    chords, offset = chords_of(row, distance)
    best = program.extremes(np.concatenate([chords[None], rng.standard_normal((OBJECTIVES, len(own)))]))
    reached = distances(best)
    for _ in range(ASCENTS):
        further = program.extremes(slopes(best))
        values = distances(further)
        rising = values > reached + GAIN
        if not rising.any():
            break
        best[rising], reached[rising] = further[rising], values[rising]
    bound = offset + float(row.intervals(functions=chords[None]).high[0])
    top = int(reached.argmax())
    return float(reached[top]), float(np.clip(bound, reached[top], largest)), best[top]


def chords_of(row: AttentionRow, distance: Distance) -> tuple[Floats, float]:
    """Σ_i d_i(a_i, x_i) ≤ Σ_i c_i x_i + offset for all weights x in their intervals: c [n] and the offset."""
    intervals = row.intervals()
    ends = torch.from_numpy(np.stack([intervals.low, intervals.high]))
    low, high = np.asarray(distance(torch.from_numpy(row.weights), ends), dtype=np.float64)
    width = intervals.high - intervals.low
    slope = np.divide(high - low, width, out=np.zeros_like(width), where=width > 0)
    return slope, float((low - slope * intervals.low).sum())

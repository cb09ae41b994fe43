"""How far scores of tokens agree with a rationale: the tokens that people have marked.

All tables are [N, n], a text in each row; ``mask`` says where there are tokens.
"""

import numpy as np
from numpy.typing import NDArray

from glasshead.arrays import AnyFloats, Flags


def precision_recall_area(scores: AnyFloats, rationale: Flags, mask: Flags) -> AnyFloats:
    """The area under the precision-recall curve of every text [N], by trapezoids.

    Σ_t (R_t − R_{t−1}) (P_t + P_{t−1}) / 2 over the distinct scores t from the largest down, from R = 0 and
    P = 1; NaN where nothing or everything is marked.

    Source: DeYoung et al. 2020 (``auc(recall, precision)``), which is not average precision.
    """
    placed = np.where(mask, scores, -np.inf)
    order = np.argsort(-placed, axis=1, kind="stable")
    placed = np.take_along_axis(placed, order, axis=1)
    hits = np.take_along_axis(rationale & mask, order, axis=1).cumsum(axis=1)
    # A point of the curve stands behind the last of equal scores.
    steps = np.ones(mask.shape, dtype=bool)
    steps[:, :-1] = placed[:, :-1] != placed[:, 1:]
    steps &= np.isfinite(placed)
    row, place = np.nonzero(steps)
    marked = (rationale & mask).sum(axis=1)
    recall = hits[row, place] / np.maximum(marked, 1)[row]
    precision = hits[row, place] / (place + 1)
    starts = np.diff(row, prepend=-1) > 0
    recall_before = np.where(starts, 0.0, np.roll(recall, 1))
    precision_before = np.where(starts, 1.0, np.roll(precision, 1))
    trapezoids = (recall - recall_before) * (precision + precision_before) / 2
    area = np.bincount(row, weights=trapezoids, minlength=len(mask))
    return np.where((marked == 0) | (marked == mask.sum(axis=1)), np.nan, area)


def top_tokens(scores: AnyFloats, mask: Flags, k: int) -> Flags:
    """The k tokens of each text with the largest scores above 0; for ties, the first."""
    order = np.argsort(-np.where(mask, scores, -np.inf), axis=1, kind="stable")
    top = np.zeros(mask.shape, dtype=bool)
    np.put_along_axis(top, order[:, :k], True, axis=1)
    return top & mask & (scores > 0)


def pointing_hits(scores: AnyFloats, marked: Flags, mask: Flags) -> AnyFloats:
    """For every text [N], 1 if the token with the largest score is marked, else 0; for ties, the share that
    is marked.

    Source: Zhang et al. (2018), the pointing game.
    """
    known = np.where(mask, scores, -np.inf)
    largest = mask & (known == known.max(axis=1, keepdims=True, initial=-np.inf))
    return _ratio((largest & marked).sum(axis=1), largest.sum(axis=1))


def token_f1(predicted: Flags, rationale: Flags) -> AnyFloats:
    """2 |p ∩ r| / (|p| + |r|) of every text [N], the harmonic mean of precision and recall; NaN where both
    are empty."""
    size = predicted.sum(axis=1) + rationale.sum(axis=1)
    return _ratio(2 * (predicted & rationale).sum(axis=1), size)


def intersection_over_union(predicted: Flags, rationale: Flags) -> AnyFloats:
    """|p ∩ r| / |p ∪ r| of every text [N]; NaN where both are empty."""
    return _ratio((predicted & rationale).sum(axis=1), (predicted | rationale).sum(axis=1))


def _ratio(part: NDArray[np.integer], whole: NDArray[np.integer]) -> AnyFloats:
    return np.where(whole > 0, part / np.maximum(whole, 1), np.nan)

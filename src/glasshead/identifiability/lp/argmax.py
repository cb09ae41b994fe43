"""Could another token have the largest weight?"""

from __future__ import annotations

import numpy as np

from glasshead.identifiability.lp.intervals import SAME_WEIGHT, Intervals, maximise_all
from glasshead.identifiability.lp.polytopes import WEIGHT_DOMAINS
from glasshead.identifiability.lp.rank import Floats, column_space

BATCH = 4


def argmax_may_change(
    T: Floats, a: Floats, known: Intervals, *, kind: str, embed_dim: int, eps: float, tolerance: float = 0.0
) -> bool | None:
    """Whether some other token k can have a′_k ≥ a′_j, where j has the largest weight now.

    One linear program for each rival, max a′_k − a′_j, the likeliest first. ``known`` are the intervals of
    all weights of the row, or of the largest. None where weights have signs, or no solver has an answer.
    """
    domain = WEIGHT_DOMAINS[kind]
    if domain.polytope is None or kind == "cross":
        return None
    if len(a) < 2 or (known.nullity <= 0 and tolerance <= 0):
        return False
    top = int(a.argmax())
    space = column_space(T, embed_dim=embed_dim, eps=eps, centred=domain.sums_to_one)
    unit = domain.unit(a)
    polytope = domain.polytope(a / unit, space, tolerance * float(np.linalg.norm(a @ T)) / unit)
    high = known.high if len(known.high) == len(a) else a
    rivals = np.array([k for k in np.argsort(-high, kind="stable") if k != top])
    if len(known.high) == len(a) and not np.isnan(known.high).any():
        rivals = rivals[high[rivals] >= known.low[top] - SAME_WEIGHT * unit]
    unknown = False
    for start in range(0, len(rivals), BATCH):
        batch = rivals[start : start + BATCH]
        functions = np.eye(len(a))[batch] - np.eye(len(a))[top]
        values, failed = maximise_all(polytope.A, polytope.start, functions @ polytope.to_weights.T, False)
        if (values >= -SAME_WEIGHT).any():
            return True
        unknown |= bool(failed)
    return None if unknown else False

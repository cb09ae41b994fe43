"""Attention weights that a head's output allows: rank, polytopes, intervals; numpy alone."""

from glasshead.feasible.highs import maxima as highs_maxima
from glasshead.feasible.intervals import Intervals, intervals
from glasshead.feasible.rank import SINGLE, Directions, directions, threshold
from glasshead.feasible.sets import RANGES

__all__ = [
    "RANGES",
    "SINGLE",
    "Directions",
    "Intervals",
    "directions",
    "highs_maxima",
    "intervals",
    "threshold",
]

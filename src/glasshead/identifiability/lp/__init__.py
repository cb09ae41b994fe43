"""Attention weights that a head's output allows: rank, polytopes, intervals; numpy alone."""

from glasshead.identifiability.lp.highs import highs_maxima
from glasshead.identifiability.lp.intervals import Intervals, intervals
from glasshead.identifiability.lp.polytopes import RANGES
from glasshead.identifiability.lp.rank import SINGLE, Directions, directions, threshold

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

"""Attention weights that a head's output allows: rank, polytopes, intervals; numpy alone."""

from glasshead.identifiability.lp.highs import highs_maxima
from glasshead.identifiability.lp.intervals import Intervals, intervals
from glasshead.identifiability.lp.polytopes import WEIGHT_DOMAINS
from glasshead.identifiability.lp.rank import FLOAT32_EPS, ColumnSpace, column_space, rank_threshold

__all__ = [
    "FLOAT32_EPS",
    "WEIGHT_DOMAINS",
    "ColumnSpace",
    "Intervals",
    "column_space",
    "highs_maxima",
    "intervals",
    "rank_threshold",
]

"""Rank collapse: how fast depth makes all tokens alike."""

from glasshead.papers.collapse.depth_collapse import (
    CollapseSample,
    collapse_by_depth,
    rank_collapse,
    read_sample,
)
from glasshead.papers.collapse.random_collapse import composite_norm, gaussian_collapse, log_ranks, residual

__all__ = [
    "CollapseSample",
    "collapse_by_depth",
    "composite_norm",
    "gaussian_collapse",
    "log_ranks",
    "rank_collapse",
    "read_sample",
    "residual",
]

"""The minima that trainings of token classifiers reach, and the loss between them."""

from glasshead.papers.minima.compare import compare_minima, curvatures
from glasshead.papers.minima.loss_landscape import curvature, losses_between, match_hidden_units, polish

__all__ = ["compare_minima", "curvature", "curvatures", "losses_between", "match_hidden_units", "polish"]

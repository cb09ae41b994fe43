"""The transition from positional to semantic attention in a solvable model."""

from glasshead.papers.solvable.curve import solve_transition
from glasshead.papers.solvable.loss import TransitionSettings
from glasshead.papers.solvable.simulation import Trained, train_from
from glasshead.papers.solvable.state_evolution import FixedPoint, critical_alpha, solve

__all__ = [
    "FixedPoint",
    "Trained",
    "TransitionSettings",
    "critical_alpha",
    "solve",
    "solve_transition",
    "train_from",
]

"""Trainings that build on the attention of another run, and how far their maps and predictions are from
it."""

from glasshead.papers.other_run.adversarial import AdversarialAttention, adversary_loss
from glasshead.papers.other_run.frozen import FrozenAttention
from glasshead.papers.other_run.map_divergence import map_divergence
from glasshead.papers.other_run.sweep import adversaries_by_weight, adversary_curve, train_adversaries

__all__ = [
    "AdversarialAttention",
    "FrozenAttention",
    "adversaries_by_weight",
    "adversary_curve",
    "adversary_loss",
    "map_divergence",
    "train_adversaries",
]

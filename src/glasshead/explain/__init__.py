"""Explanations of predictions: one file, one method."""

from glasshead.explain.explainer import EXPLAINERS, Explainer, View, look
from glasshead.explain.observation import Observation, observe
from glasshead.explain.targets import TARGETS
from glasshead.explain.words import by_word
from glasshead.registry import import_siblings

import_siblings(__name__, __path__)

__all__ = [
    "EXPLAINERS",
    "TARGETS",
    "Explainer",
    "Observation",
    "View",
    "by_word",
    "look",
    "observe",
]

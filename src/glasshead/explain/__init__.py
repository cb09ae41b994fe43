"""Explanations of predictions: one file, one method."""

from glasshead.explain.explainer import EXPLAINERS, Explainer, View, look
from glasshead.explain.intervals import with_intervals
from glasshead.explain.observation import Algebra, Observation, Sentences, observe
from glasshead.explain.passes import Passes
from glasshead.explain.sentences import by_sentence
from glasshead.explain.targets import TARGETS
from glasshead.explain.words import by_word
from glasshead.reading.place import LEVELS, ROWS, Place, Reading
from glasshead.registry import import_siblings

import_siblings(__name__, __path__)

__all__ = [
    "EXPLAINERS",
    "LEVELS",
    "ROWS",
    "TARGETS",
    "Algebra",
    "Explainer",
    "Observation",
    "Passes",
    "Place",
    "Reading",
    "Sentences",
    "View",
    "by_sentence",
    "by_word",
    "look",
    "observe",
    "with_intervals",
]

"""Explanations of predictions: one file, one method."""

from glasshead.explainers.aggregate_sentences import by_sentence, sentence_numbers
from glasshead.explainers.aggregate_words import by_word
from glasshead.explainers.attention_observation import Algebra, Observation, Sentences, observe
from glasshead.explainers.explainer import EXPLAINERS, Explainer, View, check_texts, look, standing
from glasshead.explainers.forward_observation import Passes, shaken, signs, signs_of
from glasshead.explainers.interval_arithmetic import Ends
from glasshead.explainers.intervals import check_tolerance, check_weights, with_intervals
from glasshead.explainers.targets import TARGETS, probability
from glasshead.registry import import_siblings

import_siblings(__name__, __path__)

__all__ = [
    "EXPLAINERS",
    "TARGETS",
    "Algebra",
    "Ends",
    "Explainer",
    "Observation",
    "Passes",
    "Sentences",
    "View",
    "by_sentence",
    "by_word",
    "check_texts",
    "check_tolerance",
    "check_weights",
    "look",
    "observe",
    "probability",
    "sentence_numbers",
    "shaken",
    "signs",
    "signs_of",
    "standing",
    "with_intervals",
]

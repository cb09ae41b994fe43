"""Models of ours, registered with Hugging Face's Auto classes, and `plug` for everybody else's."""

from glasshead.models.classifier import EncodedClassifier
from glasshead.models.dispatch import mechanism_of
from glasshead.models.doctor import doctor
from glasshead.models.encoder import Encoder, EncoderConfig
from glasshead.models.encoder_classifier import EncoderClassifier
from glasshead.models.evaluating import evaluating
from glasshead.models.gauge import (
    ClassSigns,
    Gauge,
    default_target,
    fix_gauge,
    fix_gauges,
    sides,
    target_polarity,
    target_score,
    text_sums,
)
from glasshead.models.hierarchical_classifier import HierarchicalClassifier, HierarchicalConfig
from glasshead.models.labels import class_names
from glasshead.models.load import load, load_weights, quietly
from glasshead.models.pair_classifier import PairEncoderClassifier, PairEncoderConfig
from glasshead.models.plug import plug, unplug
from glasshead.models.pooled import ENCODERS, PooledClassifier, PooledConfig, PooledOutput
from glasshead.models.recommender import NewsRecommender, NewsRecommenderConfig
from glasshead.models.registry import MODELS
from glasshead.models.segments import Segments
from glasshead.models.structure import attention_modules, positions_of
from glasshead.models.text_classifier import TextClassifier, as_logits, is_regression
from glasshead.models.vectors import read_vectors

__all__ = [
    "ENCODERS",
    "MODELS",
    "ClassSigns",
    "EncodedClassifier",
    "Encoder",
    "EncoderClassifier",
    "EncoderConfig",
    "Gauge",
    "HierarchicalClassifier",
    "HierarchicalConfig",
    "NewsRecommender",
    "NewsRecommenderConfig",
    "PairEncoderClassifier",
    "PairEncoderConfig",
    "PooledClassifier",
    "PooledConfig",
    "PooledOutput",
    "Segments",
    "TextClassifier",
    "as_logits",
    "attention_modules",
    "class_names",
    "default_target",
    "doctor",
    "evaluating",
    "fix_gauge",
    "fix_gauges",
    "is_regression",
    "load",
    "load_weights",
    "mechanism_of",
    "plug",
    "positions_of",
    "quietly",
    "read_vectors",
    "sides",
    "target_polarity",
    "target_score",
    "text_sums",
    "unplug",
]

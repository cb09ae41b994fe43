"""Models of ours, as Hugging Face `PreTrainedModel`s registered with the Auto classes."""

from glasshead.models.gauge import Gauge, default_target, fix_gauge, target_polarity
from glasshead.models.labels import class_names
from glasshead.models.pooled import ENCODERS, PooledClassifier, PooledConfig, PooledOutput, as_logits
from glasshead.models.registry import MODELS
from glasshead.models.vectors import read_vectors

__all__ = [
    "ENCODERS",
    "MODELS",
    "Gauge",
    "PooledClassifier",
    "PooledConfig",
    "PooledOutput",
    "as_logits",
    "class_names",
    "default_target",
    "fix_gauge",
    "read_vectors",
    "target_polarity",
]

"""Models of ours, registered with Hugging Face's Auto classes, and `plug` for everybody else's."""

from glasshead.models.dispatch import mechanism_of
from glasshead.models.doctor import doctor
from glasshead.models.gauge import Gauge, default_target, fix_gauge, target_polarity
from glasshead.models.labels import class_names
from glasshead.models.load import load
from glasshead.models.plug import attention_modules, plug, unplug
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
    "attention_modules",
    "class_names",
    "default_target",
    "doctor",
    "fix_gauge",
    "load",
    "mechanism_of",
    "plug",
    "read_vectors",
    "target_polarity",
    "unplug",
]

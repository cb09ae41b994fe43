"""The catalogue of model families, and their introduction to Hugging Face's Auto classes."""

from transformers import AutoConfig, AutoModelForSequenceClassification

from glasshead.models.pooled import PooledClassifier, PooledConfig
from glasshead.registry import Registry

MODELS: Registry[type[PooledClassifier]] = Registry("model")
MODELS.register("pooled")(PooledClassifier)

AutoConfig.register(PooledConfig.model_type, PooledConfig)
AutoModelForSequenceClassification.register(PooledConfig, PooledClassifier)

"""The catalogue of model families, and their introduction to Hugging Face's Auto classes."""

from transformers import AutoConfig, AutoModelForImageClassification, AutoModelForSequenceClassification

from glasshead.models.convolutional_vit import (
    ConvolutionalViTConfig,
    ConvolutionalViTForImageClassification,
)
from glasshead.models.cross_encoder import CrossEncoderClassifier
from glasshead.models.encoder_classifier import EncoderClassifier
from glasshead.models.hierarchical_classifier import HierarchicalClassifier
from glasshead.models.pair_classifier import PairEncoderClassifier
from glasshead.models.pooled import PooledClassifier
from glasshead.models.text_classifier import TextClassifier
from glasshead.registry import Registry

MODELS: Registry[type[TextClassifier]] = Registry("model", "models")


def register_model(name: str, family: type[TextClassifier]) -> None:
    """Add a family of classifiers: to what can be trained, and to Hugging Face's Auto classes."""
    MODELS.register(name)(family)
    AutoConfig.register(family.config_class.model_type, family.config_class)
    AutoModelForSequenceClassification.register(family.config_class, family)


register_model("pooled", PooledClassifier)
register_model("encoder", EncoderClassifier)
register_model("pair-encoder", PairEncoderClassifier)
register_model("cross-encoder", CrossEncoderClassifier)
register_model("hierarchical", HierarchicalClassifier)

AutoConfig.register(ConvolutionalViTConfig.model_type, ConvolutionalViTConfig)
AutoModelForImageClassification.register(ConvolutionalViTConfig, ConvolutionalViTForImageClassification)

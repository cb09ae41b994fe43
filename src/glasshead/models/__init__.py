"""Our own models, registered with Hugging Face's Auto classes.

After the import `from_pretrained` knows every folder that we save, those of plugged models included.
"""

from glasshead.dispatch import KEY  # the import registers the attention of plugged models
from glasshead.extensions import attach_extensions
from glasshead.models.cross_encoder import CrossEncoderClassifier, CrossEncoderConfig
from glasshead.models.encoder import (
    Encoder,
    EncoderConfig,
    SinusoidalPositions,
    WordEmbedding,
    check_encoder,
    initialise,
    token_positions,
    vectors_of_places,
)
from glasshead.models.encoder_classifier import EncoderClassifier
from glasshead.models.hierarchical_classifier import HierarchicalClassifier, HierarchicalConfig
from glasshead.models.pair_classifier import PairEncoderClassifier, PairEncoderConfig
from glasshead.models.pooled import (
    ENCODERS,
    PooledClassifier,
    PooledConfig,
    PooledOutput,
    embedding_of,
    encoder_size,
    pooling_of,
)
from glasshead.models.registry import MODELS, register_model
from glasshead.models.segments import SegmentLayout
from glasshead.models.text_classifier import REGRESSION, TextClassifier, as_logits, is_regression, output_size
from glasshead.models.transformer_classifier import TransformerClassifier
from glasshead.models.vision import IMAGE_MODELS, VisionConfig
from glasshead.models.word_vectors import read_vectors

__all__ = [
    "ENCODERS",
    "IMAGE_MODELS",
    "MODELS",
    "REGRESSION",
    "CrossEncoderClassifier",
    "CrossEncoderConfig",
    "Encoder",
    "EncoderClassifier",
    "EncoderConfig",
    "HierarchicalClassifier",
    "HierarchicalConfig",
    "PairEncoderClassifier",
    "PairEncoderConfig",
    "PooledClassifier",
    "PooledConfig",
    "PooledOutput",
    "SegmentLayout",
    "SinusoidalPositions",
    "TextClassifier",
    "TransformerClassifier",
    "VisionConfig",
    "WordEmbedding",
    "as_logits",
    "check_encoder",
    "embedding_of",
    "encoder_size",
    "initialise",
    "is_regression",
    "output_size",
    "pooling_of",
    "read_vectors",
    "register_model",
    "token_positions",
    "vectors_of_places",
]

attach_extensions("models")

"""Our own models, registered with Hugging Face's Auto classes.

After the import `from_pretrained` knows every folder that we save, those of plugged models included.
"""

from glasshead.dispatch import KEY  # noqa: F401 - the import registers the attention of plugged models
from glasshead.models.cross_encoder import CrossEncoderClassifier, CrossEncoderConfig
from glasshead.models.encoder import Encoder, EncoderConfig, SinusoidalPositions, WordEmbedding, initialise
from glasshead.models.encoder_classifier import EncoderClassifier
from glasshead.models.hierarchical_classifier import HierarchicalClassifier, HierarchicalConfig
from glasshead.models.news_recommender import NewsRecommender, NewsRecommenderConfig
from glasshead.models.pair_classifier import PairEncoderClassifier, PairEncoderConfig
from glasshead.models.pooled import ENCODERS, SCORE_FIELDS, PooledClassifier, PooledConfig, PooledOutput
from glasshead.models.registry import MODELS
from glasshead.models.segments import SegmentLayout
from glasshead.models.text_classifier import REGRESSION, TextClassifier, as_logits, is_regression
from glasshead.models.token_classifier import TokenClassifier, TokenClassifierConfig
from glasshead.models.transformer_classifier import TransformerClassifier
from glasshead.models.vision import IMAGE_MODELS, VisionConfig
from glasshead.models.word_vectors import read_vectors

__all__ = [
    "ENCODERS",
    "IMAGE_MODELS",
    "MODELS",
    "REGRESSION",
    "SCORE_FIELDS",
    "CrossEncoderClassifier",
    "CrossEncoderConfig",
    "Encoder",
    "EncoderClassifier",
    "EncoderConfig",
    "HierarchicalClassifier",
    "HierarchicalConfig",
    "NewsRecommender",
    "NewsRecommenderConfig",
    "PairEncoderClassifier",
    "PairEncoderConfig",
    "PooledClassifier",
    "PooledConfig",
    "PooledOutput",
    "SegmentLayout",
    "SinusoidalPositions",
    "TextClassifier",
    "TokenClassifier",
    "TokenClassifierConfig",
    "TransformerClassifier",
    "VisionConfig",
    "WordEmbedding",
    "as_logits",
    "initialise",
    "is_regression",
    "read_vectors",
]

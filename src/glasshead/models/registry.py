"""The catalogue of model families, and their introduction to Hugging Face's Auto classes."""

from transformers import (
    AutoConfig,
    AutoModel,
    AutoModelForImageClassification,
    AutoModelForSequenceClassification,
)

from glasshead.models.convolutional_vit import (
    ConvolutionalViTConfig,
    ConvolutionalViTForImageClassification,
)
from glasshead.models.cross_encoder import CrossEncoderClassifier
from glasshead.models.encoder_classifier import EncoderClassifier
from glasshead.models.hierarchical_classifier import HierarchicalClassifier
from glasshead.papers.recommend.news_recommender import (NewsRecommender, NewsRecommenderConfig)
from glasshead.models.pair_classifier import PairEncoderClassifier
from glasshead.models.pooled import PooledClassifier
from glasshead.models.token_classifier import TokenClassifier
from glasshead.models.transformer_classifier import TransformerClassifier
from glasshead.registry import Registry

Family = type[PooledClassifier] | type[TransformerClassifier] | type[TokenClassifier]
MODELS: Registry[Family] = Registry("model")
MODELS.register("pooled")(PooledClassifier)
MODELS.register("encoder")(EncoderClassifier)
MODELS.register("pair-encoder")(PairEncoderClassifier)
MODELS.register("cross-encoder")(CrossEncoderClassifier)
MODELS.register("hierarchical")(HierarchicalClassifier)
MODELS.register("token-classifier")(TokenClassifier)

for family in MODELS.values():
    AutoConfig.register(family.config_class.model_type, family.config_class)
    AutoModelForSequenceClassification.register(family.config_class, family)

AutoConfig.register(ConvolutionalViTConfig.model_type, ConvolutionalViTConfig)
AutoModelForImageClassification.register(ConvolutionalViTConfig, ConvolutionalViTForImageClassification)

AutoConfig.register(NewsRecommenderConfig.model_type, NewsRecommenderConfig)
AutoModel.register(NewsRecommenderConfig, NewsRecommender)

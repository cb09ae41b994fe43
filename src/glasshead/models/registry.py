"""The catalogue of model families, and their introduction to Hugging Face's Auto classes."""

from transformers import AutoConfig, AutoModel, AutoModelForSequenceClassification

from glasshead.models.cross_encoder import CrossEncoderClassifier
from glasshead.models.encoder_classifier import EncoderClassifier
from glasshead.models.hierarchical_classifier import HierarchicalClassifier
from glasshead.models.news_recommender import NewsRecommender, NewsRecommenderConfig
from glasshead.models.pair_classifier import PairEncoderClassifier
from glasshead.models.pooled import PooledClassifier
from glasshead.models.transformer_classifier import TransformerClassifier
from glasshead.registry import Registry

Family = type[PooledClassifier] | type[TransformerClassifier]
MODELS: Registry[Family] = Registry("model")
MODELS.register("pooled")(PooledClassifier)
MODELS.register("encoder")(EncoderClassifier)
MODELS.register("pair-encoder")(PairEncoderClassifier)
MODELS.register("cross-encoder")(CrossEncoderClassifier)
MODELS.register("hierarchical")(HierarchicalClassifier)

for family in MODELS.values():
    AutoConfig.register(family.config_class.model_type, family.config_class)
    AutoModelForSequenceClassification.register(family.config_class, family)

AutoConfig.register(NewsRecommenderConfig.model_type, NewsRecommenderConfig)
AutoModel.register(NewsRecommenderConfig, NewsRecommender)

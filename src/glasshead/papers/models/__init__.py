"""Models that only the papers need, registered with Hugging Face's Auto classes."""

from transformers import AutoConfig, AutoModel, AutoModelForSequenceClassification

from glasshead.models import register_model
from glasshead.papers.models.imposed import SCORE_FIELDS, ImposedClassifier, ImposedConfig
from glasshead.papers.models.news_recommender import NewsRecommender, NewsRecommenderConfig
from glasshead.papers.models.token_classifier import TokenClassifier, TokenClassifierConfig

__all__ = [
    "SCORE_FIELDS",
    "ImposedClassifier",
    "ImposedConfig",
    "NewsRecommender",
    "NewsRecommenderConfig",
    "TokenClassifier",
    "TokenClassifierConfig",
]

register_model("token-classifier", TokenClassifier)
AutoConfig.register(ImposedConfig.model_type, ImposedConfig)
AutoModelForSequenceClassification.register(ImposedConfig, ImposedClassifier)
AutoConfig.register(NewsRecommenderConfig.model_type, NewsRecommenderConfig)
AutoModel.register(NewsRecommenderConfig, NewsRecommender)

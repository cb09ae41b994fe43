"""Models that only papers need, registered with Hugging Face's Auto classes."""

from transformers import AutoConfig, AutoModel

from glasshead.models import register_model
from glasshead.papers.models.news_recommender import NewsRecommender, NewsRecommenderConfig
from glasshead.papers.models.token_classifier import TokenClassifier, TokenClassifierConfig

__all__ = ["NewsRecommender", "NewsRecommenderConfig", "TokenClassifier", "TokenClassifierConfig"]

register_model("token-classifier", TokenClassifier)
AutoConfig.register(NewsRecommenderConfig.model_type, NewsRecommenderConfig)
AutoModel.register(NewsRecommenderConfig, NewsRecommender)

"""A news recommender, from logs to ranking (Wu, Wu and Huang 2021)."""

from glasshead.recommend.audit import audit_recommender
from glasshead.recommend.config import NEWS_PRESETS
from glasshead.recommend.evaluate import as_numbers, rank
from glasshead.recommend.explanation import explain_recommendation
from glasshead.recommend.mind import BEHAVIORS, NewsLogs, describe_logs, read_logs, require_clicks
from glasshead.recommend.prediction_file import prediction_lines, score_lines
from glasshead.recommend.run import load_recommender
from glasshead.recommend.synthetic_logs import FACTS, NewsLogOptions, news_logs
from glasshead.recommend.train import train_recommender

__all__ = [
    "BEHAVIORS",
    "FACTS",
    "NEWS_PRESETS",
    "NewsLogOptions",
    "NewsLogs",
    "as_numbers",
    "audit_recommender",
    "describe_logs",
    "explain_recommendation",
    "load_recommender",
    "news_logs",
    "prediction_lines",
    "rank",
    "read_logs",
    "require_clicks",
    "score_lines",
    "train_recommender",
]

"""A news recommender, from logs to ranking (Wu, Wu and Huang 2021)."""

from glasshead.papers.recommend.audit import audit_recommender
from glasshead.papers.recommend.config import NEWS_PRESETS
from glasshead.papers.recommend.evaluate import as_numbers, rank
from glasshead.papers.recommend.explanation import explain_recommendation
from glasshead.papers.recommend.mind import BEHAVIORS, NewsLogs, describe_logs, read_logs, require_clicks
from glasshead.papers.recommend.prediction_file import prediction_lines, score_lines
from glasshead.papers.recommend.run import load_recommender
from glasshead.papers.recommend.synthetic_logs import FACTS_FILE, NewsLogOptions, news_logs
from glasshead.papers.recommend.train import train_recommender

__all__ = [
    "BEHAVIORS",
    "FACTS_FILE",
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

"""glasshead recommend: news from click logs; one file per command."""

from glasshead.cli.recommend import evaluate, generate, rank, train  # importing a file adds its command
from glasshead.cli.recommend.group import recommend

__all__ = ["evaluate", "generate", "rank", "recommend", "train"]

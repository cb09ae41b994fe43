"""glasshead recommend: news from click logs; one file per command."""

from glasshead.cli.recommend import evaluate, generate, train  # importing a file adds its command
from glasshead.cli.recommend.group import recommend

__all__ = ["evaluate", "generate", "recommend", "train"]

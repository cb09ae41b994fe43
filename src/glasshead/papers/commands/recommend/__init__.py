"""glasshead recommend: news from click logs; one file per command."""

from glasshead.papers.commands.recommend import audit, evaluate, explain, generate, rank, train
from glasshead.papers.commands.recommend.group import recommend

__all__ = ["audit", "evaluate", "explain", "generate", "rank", "recommend", "train"]

"""glasshead recommend: news from click logs; one file per command."""

from glasshead.cli.recommend import (  # importing a file adds its command
    audit,
    evaluate,
    explain,
    generate,
    rank,
    train,
)
from glasshead.cli.recommend.group import recommend

__all__ = ["audit", "evaluate", "explain", "generate", "rank", "recommend", "train"]

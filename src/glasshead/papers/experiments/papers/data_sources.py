"""Data that several papers are reproduced on."""

from glasshead.papers.experiments.source import DataSource

NEWS20 = DataSource("20news_sports", "20 Newsgroups, baseball and hockey")
SST2 = DataSource("sst2", "SST-2")
IMDB = DataSource("imdb", "IMDB")
AG_10K = DataSource("ag_news_lower", "AG News, 10,000 train texts")
PRESETS = {"s0-code": "published code", "s0-paper": "section 5.1"}

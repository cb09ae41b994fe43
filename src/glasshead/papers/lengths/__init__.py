"""Ranks of heads by the length of a text."""

from glasshead.papers.lengths.length_sampling import LengthSample, read_job_texts, sample_texts
from glasshead.papers.lengths.logit_rank_by_length import logit_ranks_by_length
from glasshead.papers.lengths.rank_by_length import ranks_by_length

__all__ = ["LengthSample", "logit_ranks_by_length", "ranks_by_length", "read_job_texts", "sample_texts"]

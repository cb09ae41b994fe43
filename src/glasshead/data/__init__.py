"""Text classification data in one schema, synthetic data with known truth, word-level tokenizers."""

from glasshead.data.coverage import Coverage, coverage
from glasshead.data.describe import describe, has_ratings, in_words
from glasshead.data.encode import Encoded, encode, occurrences
from glasshead.data.load import load, select
from glasshead.data.options import LoadOptions
from glasshead.data.synthetic import DATASETS, Generator, SyntheticOptions, truth
from glasshead.data.tokenizer import train_tokenizer

__all__ = [
    "DATASETS",
    "Coverage",
    "Encoded",
    "Generator",
    "LoadOptions",
    "SyntheticOptions",
    "coverage",
    "describe",
    "encode",
    "has_ratings",
    "in_words",
    "load",
    "occurrences",
    "select",
    "train_tokenizer",
    "truth",
]

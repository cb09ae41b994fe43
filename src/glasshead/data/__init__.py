"""Text classification data in one schema, synthetic data with known truth, word-level tokenizers."""

from glasshead.data.describe import describe
from glasshead.data.load import LoadOptions, load
from glasshead.data.synthetic import DATASETS, Generator, SyntheticOptions, truth
from glasshead.data.tokenizer import counts, train_tokenizer

__all__ = [
    "DATASETS",
    "Generator",
    "LoadOptions",
    "SyntheticOptions",
    "counts",
    "describe",
    "load",
    "train_tokenizer",
    "truth",
]

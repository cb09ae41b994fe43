"""Text classification data in one schema, synthetic data with known truth, word-level tokenizers."""

from glasshead.data.describe import describe
from glasshead.data.encode import Encoded, encode, occurrences
from glasshead.data.load import load
from glasshead.data.options import LoadOptions
from glasshead.data.synthetic import DATASETS, Generator, SyntheticOptions, truth
from glasshead.data.tokenizer import train_tokenizer

__all__ = [
    "DATASETS",
    "Encoded",
    "Generator",
    "LoadOptions",
    "SyntheticOptions",
    "describe",
    "encode",
    "load",
    "occurrences",
    "train_tokenizer",
    "truth",
]

"""Text classification data in one schema, synthetic data with known truth, word-level tokenizers."""

from glasshead.data.batching import PAIRS, TOKENS, Inputs, batches, heads_of, layers_of, longest
from glasshead.data.coverage import Coverage, coverage
from glasshead.data.describe import describe, has_ratings, in_words
from glasshead.data.encode import LONGEST, Encoded, check_utf8, encode, joined, occurrences
from glasshead.data.load import load, select
from glasshead.data.options import LoadOptions
from glasshead.data.synthetic import DATASETS, Generator, SyntheticOptions, truth
from glasshead.data.synthetic_vocabulary import NEUTRAL, listed
from glasshead.data.token_groups import token_groups
from glasshead.data.tokenizer import train_tokenizer

__all__ = [
    "DATASETS",
    "LONGEST",
    "NEUTRAL",
    "PAIRS",
    "TOKENS",
    "Coverage",
    "Encoded",
    "Generator",
    "Inputs",
    "LoadOptions",
    "SyntheticOptions",
    "batches",
    "check_utf8",
    "coverage",
    "describe",
    "encode",
    "has_ratings",
    "heads_of",
    "in_words",
    "joined",
    "layers_of",
    "listed",
    "load",
    "longest",
    "occurrences",
    "select",
    "token_groups",
    "train_tokenizer",
    "truth",
]

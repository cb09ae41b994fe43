"""Let language models write, and read afterwards what each token was written from.

A model writes first, by any strategy, and nothing is watched meanwhile. One pass over prompt and answer then
gives every row of attention and every target.
"""

from glasshead.generation.explain import METHODS, MapRequest, WrittenWithModel, check_methods
from glasshead.generation.generate import (
    check_writing,
    generate,
    generate_texts,
    open_writer,
)
from glasshead.generation.method import RowMethod
from glasshead.generation.strategies import STRATEGIES, Strategy, parse_strategy, sampling_probabilities

__all__ = [
    "METHODS",
    "STRATEGIES",
    "MapRequest",
    "RowMethod",
    "Strategy",
    "WrittenWithModel",
    "check_methods",
    "check_writing",
    "generate",
    "generate_texts",
    "open_writer",
    "parse_strategy",
    "sampling_probabilities",
]

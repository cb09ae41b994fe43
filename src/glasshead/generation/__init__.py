"""Let language models write, and explain afterwards what each token was written from.

A model writes first, by any strategy, and nothing is watched meanwhile. One pass over prompt and answer then
gives every row of attention and every target.
"""

from glasshead.generation.explain import METHODS, MapRequest, WrittenWithModel, check_methods, make_map
from glasshead.generation.generate import (
    check_writing,
    generate,
    generate_texts,
    open_writer,
    writing_model,
)
from glasshead.generation.method import RowMethod
from glasshead.generation.reading import keeps_every_token
from glasshead.generation.spans import read_prompt
from glasshead.generation.strategies import STRATEGIES, Strategy, parse_strategy, sampling_probabilities
from glasshead.generation.text import ReadText

__all__ = [
    "METHODS",
    "STRATEGIES",
    "MapRequest",
    "ReadText",
    "RowMethod",
    "Strategy",
    "WrittenWithModel",
    "check_methods",
    "check_writing",
    "generate",
    "generate_texts",
    "keeps_every_token",
    "make_map",
    "open_writer",
    "parse_strategy",
    "read_prompt",
    "sampling_probabilities",
    "writing_model",
]

"""What a field of a question may hold."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

MOST_LETTERS = 10_000
"""Characters of a text."""
Kind = Literal["classifier", "language model", "guesser", "answerer", "encoder", "image classifier"]
"""What a model can be asked."""
Images = Literal["", "alone", "by place", "with captions", "with text"]
"""Whether a model reads images, and with which texts."""
Text = Annotated[str, Field(max_length=MOST_LETTERS)]
Word = Annotated[str, Field(max_length=1000)]
"""A name; those of folders and classes may be long."""


def number_or_word(value: Any) -> Any:
    """An address has letters only: what looks like a number is one, and nothing is nothing."""
    if isinstance(value, str):
        return int(value) if value.isdecimal() and len(value) < 6 else value or None
    return value


def word_or_nothing(value: Any) -> Any:
    """An empty field of a form is not an answer."""
    return None if value == "" else value


NumberOrWord = Annotated[
    Annotated[int, Field(ge=0, le=100_000)] | Word | None, BeforeValidator(number_or_word)
]

"""What a model is held against that has not read the text."""

from collections.abc import Mapping
from typing import Any

REGRESSION, TOKEN, GIVEN_ANSWER = "regression", "token", "answer"
"""Tasks of an audit, as its card names them; that of a classifier has no name."""


def guess_in_words(facts: Mapping[str, Any]) -> str:
    """How one guesses without reading, by the task that the facts of a card name."""
    return {
        REGRESSION: "always guessing the mean rating",
        TOKEN: "guessing each token as often as it is asked for",
    }.get(facts.get("task", ""), "always guessing the commonest class")

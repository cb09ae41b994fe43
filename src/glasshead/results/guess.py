"""What a model is compared with that has not read the text."""

from collections.abc import Mapping
from typing import Any

REGRESSION, TOKEN, GIVEN_ANSWER = "regression", "token", "answer"
"""Tasks of an audit, as its card names them; that of a classifier has no name."""


def guess_in_words(facts: Mapping[str, Any]) -> str:
    """The guess that needs no input, by the task in the facts of a card."""
    return {
        REGRESSION: "always guessing the mean rating",
        TOKEN: "guessing each token as often as it is the target",
    }.get(facts.get("task", ""), "always guessing the commonest class")

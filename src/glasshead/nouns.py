"""What inputs and their units are called: sentences are about texts and tokens, and reworded for images."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

WORDS = re.compile(r"\b(?<!special )(?<!class )(?:(an?) )?(texts?|tokens?|words?)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Nouns:
    """What an input is called and what its units are, one of them and several."""

    text: str
    texts: str
    token: str
    tokens: str

    def count(self, number: int) -> str:
        """``1 text``, ``2 texts``."""
        return f"1 {self.text}" if number == 1 else f"{number:,} {self.texts}"

    def reword(self, sentence: str) -> str:
        """A sentence of this library about texts and their tokens or words as one about what these are.

        What somebody else wrote, such as the name of a class, is put in afterwards.
        """
        return sentence if self == TEXTS else WORDS.sub(self._replace, sentence)

    def _replace(self, match: re.Match[str]) -> str:
        article, word = match.groups()
        name = {"text": self.text, "texts": self.texts, "word": self.token, "words": self.tokens}.get(
            word.lower(), self.token if word.lower() == "token" else self.tokens
        )
        if article is not None:
            name = f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
        return name[0].upper() + name[1:] if match[0][0].isupper() else name


TEXTS = Nouns("text", "texts", "token", "tokens")
IMAGES = Nouns("image", "images", "patch", "patches")
INPUTS = "inputs"
"""The fact of a result that says what its inputs are."""


def nouns_of(facts: Mapping[str, Any]) -> Nouns:
    """Of what a result speaks by its facts; of texts, where an older one does not say it."""
    return IMAGES if facts.get(INPUTS) == IMAGES.texts else TEXTS

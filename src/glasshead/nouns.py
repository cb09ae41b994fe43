"""What inputs and their units are called: sentences are about texts and tokens, and reworded for images."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

KEPT = r"(?:special|class) tokens?|first token(?!s)|in words"
"""What is no unit of an input, or no input: a class token is one of a model that reads patches, too."""
WORDS = re.compile(rf"(?<![\w-])(?:({KEPT})|(an? )?(texts?|tokens?|words?))(?![\w-])", re.IGNORECASE)


@dataclass(frozen=True)
class Nouns:
    """What an input is called and what its units are, one of them and several."""

    text: str
    texts: str
    token: str
    tokens: str

    @property
    def words(self) -> str:
        """What units are called where those of a text are words."""
        return self.reword("words")

    def count(self, number: int) -> str:
        """``1 text``, ``2 texts``."""
        return f"1 {self.text}" if number == 1 else f"{number:,} {self.texts}"

    def reword(self, sentence: str) -> str:
        """A sentence of this library about texts and their tokens or words as one about what these are.

        What somebody else wrote, such as the name of a class, is put in afterwards; names with hyphens stay.
        """
        return sentence if self == TEXTS else WORDS.sub(self._replace, sentence)

    def _replace(self, match: re.Match[str]) -> str:
        kept, article, word = match.groups()
        if kept is not None:
            return match[0]
        is_input = word.lower().startswith("text")
        one, several = (self.text, self.texts) if is_input else (self.token, self.tokens)
        name = several if word.lower().endswith("s") else one
        if article is not None:
            name = f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
        return name[0].upper() + name[1:] if match[0][0].isupper() else name


TEXTS = Nouns("text", "texts", "token", "tokens")
IMAGES = Nouns("image", "images", "patch", "patches")
INPUTS = "inputs"
"""The fact of a result that says what its inputs are."""


def nouns_of(*facts: Mapping[str, Any]) -> Nouns:
    """Of what results speak by their facts; of texts, where one does not say it."""
    return IMAGES if {each.get(INPUTS) for each in facts} == {IMAGES.texts} else TEXTS

"""What inputs and their units are called: texts of tokens and words, or images of patches."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any


@dataclass(frozen=True)
class Nouns:
    """What an input is called and what its units are, one of them and several; ``word`` and ``words`` are
    what the units of a text are called where they are not split into tokens."""

    text: str
    texts: str
    token: str
    tokens: str
    word: str
    words: str

    @property
    def a_text(self) -> str:
        """``a text``, ``an image``."""
        return with_article(self.text)

    @property
    def a_token(self) -> str:
        """``a token``, ``a patch``."""
        return with_article(self.token)

    @property
    def a_word(self) -> str:
        """``a word``, ``a patch``."""
        return with_article(self.word)

    def count(self, number: int) -> str:
        """``1 text``, ``2 texts``."""
        return f"1 {self.text}" if number == 1 else f"{number:,} {self.texts}"

    def fill(self, template: str, **values: object) -> str:
        """A sentence from a template with fields such as ``{tokens}``, ``{a_text}`` and ``{Texts}``.

        Other fields are ``values``, which are put in as they are, whatever they contain.
        """
        names = {field.name: getattr(self, field.name) for field in fields(self)}
        names |= {f"a_{one}": getattr(self, f"a_{one}") for one in ("text", "token", "word")}
        capitals = {name.capitalize(): noun.capitalize() for name, noun in names.items()}
        return template.format(**names, **capitals, **values)


def common_nouns(nouns: Iterable[Nouns]) -> Nouns:
    """What inputs are called together: images and texts, each by itself, are images and captions."""
    kinds = set(nouns)
    kinds = {IMAGE_TEXT_NOUNS} if kinds == {IMAGE_TEXT_NOUNS, SEVERAL_IMAGES_NOUNS} else kinds
    return kinds.pop() if len(kinds) == 1 else CAPTION_NOUNS if kinds else TEXTS


def with_article(noun: str) -> str:
    """A noun behind its indefinite article."""
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


TEXTS = Nouns("text", "texts", "token", "tokens", "word", "words")
IMAGE_NOUNS = Nouns("image", "images", "patch", "patches", "patch", "patches")
IMAGE_TEXT_NOUNS = Nouns(
    "text with its image",
    "texts with images",
    "token",
    "tokens",
    "word or image token",
    "words and image tokens",
)
SEVERAL_IMAGES_NOUNS = replace(IMAGE_TEXT_NOUNS, text="text with its images")
CAPTION_NOUNS = Nouns("image or caption", "images and captions", "part", "parts", "part", "parts")
INPUTS = "inputs"
"""The fact of a result that says what its inputs are."""


def nouns_of(*facts: Mapping[str, Any]) -> Nouns:
    """What results speak of by their facts: of texts, where one does not say it."""
    return IMAGE_NOUNS if {fact.get(INPUTS) for fact in facts} == {IMAGE_NOUNS.texts} else TEXTS

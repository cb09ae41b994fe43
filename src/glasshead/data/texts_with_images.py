"""A text with an image in it: what a model reads of both is one sequence of words and image tokens."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from io import BytesIO
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import torch
from jaxtyping import Bool, Int
from torch import Tensor

from glasshead.data.encoded import Encoded
from glasshead.data.encoded_images import Box
from glasshead.data.pictures import Picture, decode_pixels
from glasshead.errors import InputError
from glasshead.nouns import IMAGE_TEXT_NOUNS, Nouns

MOST_SHOWN = 640
"""Pixels of the longer side of an image on a page."""


class ImagePlaces(NamedTuple):
    """Left, top, right and bottom of what each image token stands for, in pixels of the image, and a name for
    it."""

    boxes: tuple[Box, ...]
    names: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class TextImage:
    """The image in a text, as a processor makes it ready for a model, and where its tokens are in the image.

    ``span`` is where the placeholders of its tokens stand in the text, with the marks between them.
    ``pixels`` are what the processor made of it (pixel values, sizes, grids). ``count`` image tokens stand
    for it, all with the id ``token``. Those that are not ``seen`` are the same for every image, such as marks
    of new lines. ``places`` are those of the seen ones; None where they are not known. ``types`` says what
    the types of tokens tell apart, where a model has them: "images", or "answers" behind prompts.
    """

    picture: Picture
    span: tuple[int, int]
    pixels: Mapping[str, Tensor]
    token: int
    seen: Bool[np.ndarray, " count"]
    places: ImagePlaces | None = None
    types: str | None = None

    @property
    def count(self) -> int:
        """How many tokens stand for the image."""
        return len(self.seen)

    @cached_property
    def shown(self) -> tuple[str, float]:
        """The image as a data URI, perhaps smaller, and by how much."""
        pixels = decode_pixels(self.picture)
        scale = min(1.0, MOST_SHOWN / max(pixels.size))
        if scale < 1:
            width, height = (max(round(length * scale), 1) for length in pixels.size)
            pixels = pixels.resize((width, height))
        file = BytesIO()
        pixels.save(file, "PNG")
        return f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}", scale

    @property
    def names(self) -> list[str]:
        """What the seen tokens are called: by their places in the image, or by their numbers."""
        if self.places is not None:
            return list(self.places.names)
        return [f"image token {number}" for number in range(1, int(self.seen.sum()) + 1)]


class TextWithImage(str):
    """The whole text that a model reads, with a placeholder for every image token, and the image. The first
    ``prompt`` characters are the prompt, and what follows is an answer."""

    image: TextImage
    prompt: int

    @classmethod
    def of(cls, text: str, image: TextImage, prompt: int | None = None) -> Self:
        """A text about an image."""
        result = cls(text)
        result.image, result.prompt = image, len(text) if prompt is None else prompt
        return result

    def __add__(self, answer: str) -> Self:
        """The same with an answer behind it."""
        return self.of(str.__add__(self, answer), self.image, self.prompt)


@dataclass(frozen=True, eq=False)
class EncodedTextsWithImages(Encoded):
    """Tokens of texts with an image in each. Image tokens are words of their own, and stay where they are:
    what a model knows of them comes from the image, and it counts them.

    ``given`` has two numbers for each text: which of the ``images`` it has, and how many tokens its prompt.
    """

    edits: ClassVar[tuple[str, ...]] = ("mean-embedding",)
    nouns: ClassVar[Nouns] = IMAGE_TEXT_NOUNS

    images: tuple[TextImage, ...] = field(default=())

    @property
    def removals(self) -> tuple[str, ...]:
        return self.edits

    @property
    def asks_each(self) -> bool:
        return self.question is not None

    def image_of(self, row: int) -> TextImage:
        """The image of a text."""
        assert self.given is not None
        return self.images[int(self.given[row, 0])]

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know of where image tokens are."""
        if all(image.places is not None for image in self.images):
            return ()
        return (
            "where in the image each of its tokens is could not be measured, so image tokens are numbered in "
            "the order in which the model reads them",
        )

    def name_tokens(self, row: int, names: Sequence[str]) -> list[str]:
        """The names of the tokens of a text, those of image tokens by their places in the image."""
        image, result = self.image_of(row), list(names)
        places = np.flatnonzero(seen_tokens(self.ids[row].numpy(), image))
        for place, name in zip(places, image.names, strict=True):
            result[place] = name
        return result

    def baseline(self, tokenizer: Any) -> Encoded:
        """Refuse: no token stands for a part of an image that is not there."""
        raise InputError(
            "texts with images have no baseline, since no padding stands for an image token: use the method "
            f"'gradient' or {self.erasure!r}"
        )

    def drawing(self, index: int, text: str) -> dict[str, Any]:
        """The text without the placeholders of image tokens, which stand in no character of it."""
        start, end = self.image_of(index).span

        def moved(place: int) -> int:
            return place if place <= start else max(place - (end - start), start)

        image, keep = self.image_of(index), self.mask[index].numpy()
        drawn: dict[str, Any] = {
            "text": text[:start] + text[end:],
            "offsets": tuple((moved(int(a)), moved(int(b))) for a, b in self.offsets[index][keep]),
        }
        if image.places is not None:
            boxes: list[Box | None] = [None] * int(keep.sum())
            shown, scale = image.shown
            places = np.flatnonzero(seen_tokens(self.ids[index].numpy(), image))
            for place, (left, top, right, bottom) in zip(places, image.places.boxes, strict=True):
                boxes[place] = (
                    round(left * scale), round(top * scale), round(right * scale), round(bottom * scale)
                )  # fmt: skip
            drawn |= {"image": shown, "boxes": tuple(boxes)}
        return drawn


def seen_tokens(ids: Int[np.ndarray, " n"], image: TextImage) -> Bool[np.ndarray, " n"]:
    """Which tokens of a text depend on its image."""
    seen = np.zeros(len(ids), dtype=bool)
    seen[np.flatnonzero(ids == image.token)] = image.seen
    return seen


def with_images(encoded: Encoded, texts: Sequence[Any]) -> EncodedTextsWithImages:
    """Encoded texts as those with an image in each.

    Raises:
        InputError: if one has none, or was cut to what the model reads.
    """
    if not all(isinstance(text, TextWithImage) for text in texts):
        raise InputError("some of these texts have an image and some have none: explain them apart")
    images = {id(text.image): text.image for text in texts}
    numbers = {key: number for number, key in enumerate(images)}
    words = encoded.words.copy()
    given = np.zeros((len(texts), 2), dtype=np.int64)
    for row, text in enumerate(texts):
        own, image = encoded.ids[row].numpy(), text.image
        count = int((own == image.token).sum())
        if count != image.count:
            raise InputError(
                f"the image needs {image.count} tokens, and with the text the model reads {count} of them: "
                "give a shorter text or a smaller image"
            )
        words[row] = number_units(words[row], seen_tokens(own, image))
        ends = encoded.offsets[row, :, 1]
        prompt = encoded.mask[row].numpy() & (ends <= text.prompt)
        given[row] = numbers[id(image)], int(np.flatnonzero(prompt)[-1]) + 1 if prompt.any() else 0
    parts = {one.name: getattr(encoded, one.name) for one in fields(encoded)}
    return EncodedTextsWithImages(
        **parts | {"words": words, "given": torch.from_numpy(given)}, images=tuple(images.values())
    )


def number_units(words: Int[np.ndarray, " n"], seen: Bool[np.ndarray, " n"]) -> Int[np.ndarray, " n"]:
    """Words and image tokens numbered in their order; −1 for what is neither."""
    units = (words >= 0) | seen
    before = np.concatenate([[-2], words[:-1]])
    begins = units & (seen | (words != before))
    return np.where(units, begins.cumsum() - 1, -1)

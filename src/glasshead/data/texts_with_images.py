"""A text with images in it: what a model reads of all is one sequence of words and image tokens."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from glasshead.data.encoded import Encoded
from glasshead.data.encoded_images import Box
from glasshead.data.pictures import Picture, as_data_uri, decode_pixels
from glasshead.errors import InputError
from glasshead.nouns import IMAGE_TEXT_NOUNS, Nouns

MOST_SHOWN = 640
"""Pixels of the longer side of an image on a page."""


class ImagePlaces(NamedTuple):
    """Left, top, right and bottom of what each image token stands for, in pixels of the image, and a name for
    it."""

    boxes: tuple[Box, ...]
    names: tuple[str, ...]

    @property
    def distances_from_centre(self) -> Float[np.ndarray, " parts"]:
        """How far the middle of each is from that of all, whose height and width are one."""
        boxes = np.array(self.boxes)
        middles, low, high = (
            (boxes[:, :2] + boxes[:, 2:]) / 2,
            boxes[:, :2].min(axis=0),
            boxes[:, 2:].max(axis=0),
        )
        return np.asarray(np.linalg.norm((middles - low) / (high - low) - 0.5, axis=1))


@dataclass(frozen=True, eq=False)
class TextImages:
    """The images in a text, as a processor makes them ready together for a model, and where their tokens are
    in them.

    ``spans`` are the places of the placeholders of each image in the text, with the marks between them.
    ``pixels`` are what the processor made of the images (pixel values, sizes, grids). One token after the
    other stands for the images, all with the id ``token``. ``owners`` has for each of them the number of its
    image, counted from 0, or −1 for those that are the same for every image, such as marks of new lines.
    ``places`` are those of the tokens of each image; None where they are not known. ``types`` says what the
    types of tokens tell apart, where a model has them: "images", or "answers" behind prompts.
    """

    pictures: tuple[Picture, ...]
    spans: tuple[tuple[int, int], ...]
    pixels: Mapping[str, Tensor]
    token: int
    owners: Int[np.ndarray, " count"]
    places: tuple[ImagePlaces | None, ...]
    types: str | None = None

    def __deepcopy__(self, memo: Any) -> Self:
        return self  # nothing changes it

    @property
    def count(self) -> int:
        """The number of image tokens."""
        return len(self.owners)

    @property
    def seen(self) -> Bool[np.ndarray, " count"]:
        """Which image tokens depend on an image."""
        return self.owners >= 0

    @property
    def content(self) -> bytes:
        """The file of the image; of several, each after its length, and before them how many they are."""
        files = [picture.content for picture in self.pictures]
        if len(files) == 1:
            return files[0]
        return b"".join(len(one).to_bytes(8, "little") + one for one in (str(len(files)).encode(), *files))

    @cached_property
    def shown(self) -> tuple[tuple[str, float], ...]:
        """Each image as a data URI, perhaps smaller, and by how much: several take the room of one."""
        drawn, most = [], MOST_SHOWN / np.sqrt(len(self.pictures))
        for picture in self.pictures:
            pixels = decode_pixels(picture)
            scale = min(1.0, float(most / max(pixels.size)))
            drawn.append((as_data_uri(pixels, scale), scale))
        return tuple(drawn)

    def titles(self) -> list[str]:
        """What each image is called."""
        return [f"image {number}" for number in range(1, len(self.pictures) + 1)]

    @property
    def names(self) -> list[str]:
        """The names of the seen tokens: their places in the image, or their numbers; of several images with
        the number of theirs."""
        several, names = len(self.pictures) > 1, list[str]()
        counts = [0] * len(self.pictures)
        for owner in self.owners[self.seen].tolist():
            places, number = self.places[owner], counts[owner]
            counts[owner] += 1
            if places is not None:
                name = places.names[number]
                names.append(f"image {owner + 1}, {name}" if several else name)
            else:
                name = f"token {number + 1}"
                names.append(f"image {owner + 1}, {name}" if several else f"image {name}")
        return names

    @property
    def boxes(self) -> list[Box | None]:
        """The places of the seen tokens, each in its image."""
        parts = [None if places is None else iter(places.boxes) for places in self.places]
        owners = self.owners[self.seen].tolist()
        return [None if (own := parts[owner]) is None else next(own) for owner in owners]

    @property
    def distances_from_centre(self) -> Float[np.ndarray, " parts"] | None:
        """How far each seen token is from the middle of its image; None where a place is not known."""
        found = np.zeros(int(self.seen.sum()))
        for number, places in enumerate(self.places):
            if places is None:
                return None
            found[self.owners[self.seen] == number] = places.distances_from_centre
        return found

    @property
    def notes(self) -> tuple[str, ...]:
        """A remark on the places of their tokens."""
        if all(places is not None for places in self.places):
            return ()
        return (
            (
                "the places of image tokens could not be measured, so they are numbered in the order in "
                "which the model reads them"
            ),
        )

    def adjacent_parts(self) -> Bool[np.ndarray, "parts parts"] | None:
        """Which seen tokens share an edge in one image; None where a place is not known."""
        boxes, owners = self.boxes, self.owners[self.seen]
        if None in boxes:
            return None
        return share_edges(np.array(boxes)) & (owners[:, None] == owners)

    def name_tokens(self, ids: Int[np.ndarray, " n"], names: Sequence[str]) -> list[str]:
        """The names of the tokens of a text, those of image tokens by their places in the images."""
        result = list(names)
        for place, name in zip(np.flatnonzero(seen_tokens(ids, self)), self.names, strict=True):
            result[place] = name
        return result

    def written(self, text: str) -> tuple[str, Callable[[int, int], tuple[int, int]]]:
        """A text without the placeholders, of several images with their titles instead, and where in that
        the characters between two places are; those of a placeholder are none."""
        titles = self.titles() if len(self.pictures) > 1 else [""]
        parts, here, moves = list[str](), 0, list[tuple[int, int, int, int]]()
        for (start, end), title in zip(self.spans, titles, strict=True):
            own = f"[{title}]" if title else ""
            own += " " if own and text[end : end + 1].strip() else ""
            parts += [text[here:start], own]
            length = sum(map(len, parts))
            moves.append((start, end, length - len(own), length))
            here = end

        def moved(first: int, last: int) -> tuple[int, int]:
            shift = 0
            for start, end, begins, stops in moves:
                if last <= start:
                    break
                if first < end:
                    return min(first + shift, begins), begins
                shift = stops - end
            return first + shift, last + shift

        return "".join([*parts, text[here:]]), moved

    def drawing(self, ids: Int[np.ndarray, " n"], offsets: Sequence[Any], text: str) -> dict[str, Any]:
        """A text without the placeholders of image tokens, where each of its tokens is in it and, where that
        is known, in which image and where."""
        written, moved = self.written(text)
        drawn: dict[str, Any] = {
            "text": written,
            "offsets": tuple(moved(int(a), int(b)) for a, b in offsets),
        }
        if len(self.pictures) > 1 or self.places[0] is not None:
            boxes: list[Box | None] = [None] * len(ids)
            numbers: list[int | None] = [None] * len(ids)
            own = zip(
                np.flatnonzero(seen_tokens(ids, self)),
                self.owners[self.seen].tolist(),
                self.boxes,
                strict=True,
            )
            for place, owner, box in own:
                numbers[place] = owner + 1
                if box is not None:
                    scale = self.shown[owner][1]
                    left, top, right, bottom = (round(edge * scale) for edge in box)
                    boxes[place] = left, top, right, bottom
            images = tuple(image for image, _ in self.shown)
            drawn |= {"images": images, "boxes": tuple(boxes), "image_numbers": tuple(numbers)}
        return drawn


class TextWithImages(str):
    """The whole text that a model reads, with a placeholder for every image token, and the images. The first
    ``prompt`` characters are the prompt, and what follows is an answer."""

    images: TextImages
    prompt: int
    other: TextWithImages | None = None
    """Another question about the images, with the same answer."""

    @classmethod
    def of(cls, text: str, images: TextImages, prompt: int | None = None) -> Self:
        """A text about images."""
        result = cls(text)
        result.images, result.prompt = images, len(text) if prompt is None else prompt
        return result

    @property
    def written(self) -> str:
        """The text without the placeholders."""
        return self.images.written(self)[0]

    def __add__(self, answer: str) -> Self:
        """The same with an answer behind it."""
        return self.of(str.__add__(self, answer), self.images, self.prompt)


@dataclass(frozen=True, eq=False)
class EncodedTextsWithImages(Encoded):
    """Tokens of texts with images in each. Image tokens count as words and keep their places, because the
    model counts them.

    ``given`` has two numbers for each text: which of the ``images`` it has, and how many tokens its prompt
    has.
    """

    edits: ClassVar[tuple[str, ...]] = ("mean-embedding",)
    nouns: ClassVar[Nouns] = IMAGE_TEXT_NOUNS

    images: tuple[TextImages, ...] = field(default=())

    @property
    def removals(self) -> tuple[str, ...]:
        return self.edits

    @property
    def asks_each(self) -> bool:
        return self.question is not None

    def digest(self, row: int) -> bytes:
        """A digest of the images of a text, independent of their number."""
        return self.images_of(row).content

    def images_of(self, row: int) -> TextImages:
        """The images of a text."""
        assert self.given is not None
        return self.images[int(self.given[row, 0])]

    @property
    def images_read(self) -> list[TextImages]:
        """The images that some of these texts have."""
        assert self.given is not None
        return [self.images[number] for number in self.given[:, 0].unique().tolist()]

    @property
    def notes(self) -> tuple[str, ...]:
        """A remark on the places of image tokens."""
        return tuple(dict.fromkeys(note for images in self.images for note in images.notes))

    def in_image(self, row: int) -> Bool[np.ndarray, " tokens"]:
        return seen_tokens(self.ids[row].numpy(), self.images_of(row))

    def adjacent_parts(self, row: int) -> Bool[np.ndarray, "parts parts"] | None:
        return self.images_of(row).adjacent_parts()

    def name_tokens(self, row: int, names: Sequence[str]) -> list[str]:
        return self.images_of(row).name_tokens(self.ids[row].numpy(), names)

    def baseline(self, token: int) -> Encoded:
        """Not supported: no token represents a missing part of an image."""
        raise InputError(
            "texts with images have no baseline, since there is no padding for image tokens: use the method "
            f"'gradient' or {self.erasure!r}"
        )

    def drawing(self, index: int, text: str) -> dict[str, Any]:
        keep = self.mask[index].numpy()
        return self.images_of(index).drawing(self.ids[index].numpy()[keep], self.offsets[index][keep], text)


def share_edges(boxes: Int[np.ndarray, "n 4"]) -> Bool[np.ndarray, "n n"]:
    """Which of some boxes share an edge, to a pixel."""
    left, top, right, bottom = boxes.T[:, :, None]
    beside = np.abs(right - left.T) <= 1
    below = np.abs(bottom - top.T) <= 1
    across = np.minimum(right, right.T) - np.maximum(left, left.T) > 1
    down = np.minimum(bottom, bottom.T) - np.maximum(top, top.T) > 1
    touch = (beside & down) | (below & across)
    return np.asarray(touch | touch.T)


def seen_tokens(ids: Int[np.ndarray, " n"], images: TextImages) -> Bool[np.ndarray, " n"]:
    """Which tokens of a text depend on its images."""
    seen = np.zeros(len(ids), dtype=bool)
    seen[np.flatnonzero(ids == images.token)] = images.seen
    return seen


def with_images(encoded: Encoded, texts: Sequence[Any]) -> EncodedTextsWithImages:
    """Encoded texts as those with images in each.

    Raises:
        InputError: if one has none, or was cut to what the model reads.
    """
    if not all(isinstance(text, TextWithImages) for text in texts):
        raise InputError("some of these texts have an image and some have none: explain them separately")
    images = {id(text.images): text.images for text in texts}
    numbers = {key: number for number, key in enumerate(images)}
    words = encoded.words.copy()
    given = np.zeros((len(texts), 2), dtype=np.int64)
    for row, text in enumerate(texts):
        own, seen = encoded.ids[row].numpy(), text.images
        count = int((own == seen.token).sum())
        if count != seen.count:
            raise InputError(
                f"this text has {seen.count} image tokens, and the model reads {count} of them: give a "
                "shorter text, or smaller images"
            )
        words[row] = number_units(words[row], seen_tokens(own, seen))
        ends = encoded.offsets[row, :, 1]
        prompt = encoded.mask[row].numpy() & (ends <= text.prompt)
        given[row] = numbers[id(seen)], int(np.flatnonzero(prompt)[-1]) + 1 if prompt.any() else 0
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

"""Parts of a photo that is read with a text are painted over, and the model looks at the photo again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from PIL import Image
from torch import Tensor, nn

from glasshead.data import (
    FILLS,
    EncodedTextsWithImages,
    Fill,
    ImageTextReader,
    Inputs,
    Picture,
    TextImages,
    decode_pixels,
    length_of,
    reader_of,
)
from glasshead.errors import pluralise
from glasshead.explainers.explanation_context import ExplanationContext
from glasshead.explainers.removals.mean_embedding import average_embeddings
from glasshead.explainers.removals.removal import logits_edited
from glasshead.huggingface import SeeingModel, see


def no_pixels(context: ExplanationContext) -> str | None:
    """Why no parts of these photos can be painted over; None: they can."""
    encoded = context.encoded
    assert isinstance(encoded, EncodedTextsWithImages)
    if any(None in images.places for images in encoded.images_read):
        return (
            "the places of image tokens could not be measured, so no pixels belong to a token: "
            "use the method 'erasure-mean-embedding'"
        )
    if not isinstance(reader_of(context.tokenizer), ImageTextReader) or seeing_in(context.model) is None:
        return "this model does not look at its image again: use the method 'erasure-mean-embedding'"
    return None


def lack_pixels(context: ExplanationContext) -> str | None:
    """That image tokens share pixels, as an overview does with tiles, or have none, as those of padding."""
    encoded = context.encoded
    assert isinstance(encoded, EncodedTextsWithImages)
    places = (own for images in encoded.images_read for own in images.places)
    boxes = [np.array(own.boxes) for own in places if own is not None]
    sharing, empty = any(map(share_pixels, boxes)), sum(map(count_empty, boxes))
    remarks = ["image tokens share pixels, so removing one also changes others"] * sharing
    if empty:
        tokens = pluralise(empty, "image token")
        remarks.append(f"{tokens} outside the photo cannot be removed: zero there means not measured")
    return "; ".join(remarks) or None


def share_pixels(boxes: Int[np.ndarray, "n 4"]) -> bool:
    """Whether two boxes have a pixel in common."""
    times = np.zeros((boxes[:, 3].max(), boxes[:, 2].max()), dtype=int)
    for left, top, right, bottom in boxes:
        times[top:bottom, left:right] += 1
    return bool((times > 1).any())


def count_empty(boxes: Int[np.ndarray, "n 4"]) -> int:
    """How many boxes have no pixel."""
    return int((boxes[:, 2:] <= boxes[:, :2]).any(axis=1).sum())


def logits_of_painted(
    context: ExplanationContext,
    texts: Int[Tensor, " variants"],
    removed: Bool[Tensor, "variants tokens"],
    fill: Fill,
) -> Float[Tensor, "variants classes"]:
    """Logits of texts whose photos have something else where removed image tokens are; words that are removed
    become the average word."""
    encoded, model = context.encoded, context.model
    seeing = seeing_in(model)
    assert isinstance(encoded, EncodedTextsWithImages)
    assert seeing is not None
    assert encoded.given is not None
    painter = Painter(context, fill)
    in_image = torch.from_numpy(np.stack([encoded.in_image(row) for row in range(len(encoded.ids))]))[texts]
    numbers = encoded.given[texts, 0].tolist()

    @contextmanager
    def paint(rows: Tensor, inputs: Inputs) -> Iterator[None]:
        vectors = []
        for row in rows.tolist():
            gone = removed[row, in_image[row]].numpy()
            number = numbers[row]
            if gone.any():
                vectors.append(see(seeing.model, painter.pixels(encoded.images[number], gone)))
            else:
                vectors.append(seeing.vectors[number])
        words = (removed & ~in_image)[rows, : length_of(inputs)].to(model.device)
        with ExitStack() as stack:
            stack.enter_context(seeing.looking_at(vectors))
            if words.any():
                stack.enter_context(average_embeddings(model, inputs, words))
            yield

    return logits_edited(context, texts, paint)


class Painter:
    """Photos with parts of them painted over, as a processor makes them ready for a model."""

    def __init__(self, context: ExplanationContext, fill: Fill) -> None:
        reader = reader_of(context.tokenizer)
        assert isinstance(reader, ImageTextReader)
        self.reader, self.fill = reader, fill
        self.photos: dict[int, list[tuple[Tensor, Tensor]]] = {}

    def pixels(self, images: TextImages, gone: Bool[np.ndarray, " seen"]) -> dict[str, Tensor]:
        """What the processor makes of images without some of their seen tokens."""
        if id(images) not in self.photos:
            self.photos[id(images)] = [*map(self.photo, images.pictures)]
        painted = [photo.clone() for photo, _ in self.photos[id(images)]]
        owners, boxes = images.owners[images.seen], images.boxes
        for token in np.flatnonzero(gone):
            box, number = boxes[token], owners[token]
            assert box is not None
            part = slice(None), slice(None), slice(box[1], box[3]), slice(box[0], box[2])
            painted[number][part] = self.photos[id(images)][number][1][part]
        return self.reader.pixels_of([*map(as_image, painted)])

    def photo(self, picture: Picture) -> tuple[Tensor, Tensor]:
        """The pixels of a photo, and what is painted over them."""
        own = np.array(decode_pixels(picture))
        photo = torch.from_numpy(own).permute(2, 0, 1)[None].float()
        return photo, FILLS[self.fill](photo, self.reader.normalise)


def as_image(pixels: Float[Tensor, "1 3 h w"]) -> Image.Image:
    """Pixels from 0 to 255 as an image."""
    return Image.fromarray(pixels[0].permute(1, 2, 0).round().clamp(0, 255).byte().numpy())


def seeing_in(model: nn.Module) -> SeeingModel | None:
    """The part of a model that looks at images."""
    return next((part for part in model.modules() if isinstance(part, SeeingModel)), None)

"""An image processor before a model: images in, patches out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self
from zlib import crc32

import numpy as np
import torch
from jaxtyping import UInt8
from PIL import Image

from glasshead.data.encoded_images import EncodedImages, Normalisation, PatchGrid
from glasshead.data.image_columns import images_of
from glasshead.data.image_folders import list_images
from glasshead.data.pictures import Picture, as_picture, decode_pixels, is_folder
from glasshead.data.unit_reader import UnitReader
from glasshead.errors import InputError, ParameterError
from glasshead.nouns import IMAGE_NOUNS, Nouns

OTHER_SHAPES = ((40, 64), (64, 40))
"""Two sizes of images that a processor has to bring to one."""


@dataclass(frozen=True)
class ImageReader(UnitReader):
    """What takes the place of a tokenizer: a Transformers image processor, and the places of patches.

    The processor scales and crops. Its normalisation is done here, because the pixels before it are drawn,
    and are replaced in removed patches.
    """

    processor: Any
    grid: PatchGrid
    normalise: Normalisation
    nouns: ClassVar[Nouns] = IMAGE_NOUNS
    pad_token: ClassVar[str] = "the colour that the image processor subtracts"
    usual_blocks: ClassVar[int] = 4
    usual_limit: ClassVar[int] = 20

    def inputs(self, sources: Sequence[Any]) -> list[Any]:
        pictures: list[Picture] = []
        for source in (image for own in sources for image in images_of(own)):
            folder = Path(source).expanduser() if isinstance(source, str | Path) else None
            if folder is not None and is_folder(folder):
                pictures += map(as_picture, list_images(folder))
            else:
                pictures.append(as_picture(source))
        return pictures

    def encode(self, inputs: Sequence[Any]) -> EncodedImages:
        pictures = [as_picture(image) for image in inputs]
        pixels = np.empty((len(pictures), 3, self.grid.height, self.grid.width), dtype=np.uint8)
        frames = np.empty((len(pictures), 4))
        for number, picture in enumerate(pictures):
            image = decode_pixels(picture)
            pixels[number], frames[number] = process_image(self.processor, image), self.frame_of(image)
        patches = self.grid.rows * self.grid.columns
        ids = np.zeros((len(pictures), self.grid.length), dtype=np.int64)
        for patch in range(patches):
            left, top, right, bottom = self.grid.box(patch)
            for number, own in enumerate(pixels[:, :, top:bottom, left:right]):
                # No two places are alike to a model that knows where they are.
                ids[number, self.grid.special + patch] = crc32(np.ascontiguousarray(own).tobytes(), patch)
        words = np.tile(np.concatenate([np.full(self.grid.special, -1), np.arange(patches)]), (len(ids), 1))
        return EncodedImages(
            torch.from_numpy(ids),
            torch.ones(ids.shape, dtype=torch.bool),
            words,
            np.zeros((*ids.shape, 2), dtype=np.int64),
            pixels=torch.from_numpy(pixels),
            frames=frames,
            grid=self.grid,
            normalise=self.normalise,
            pictures=tuple(pictures),
        )

    def frame_of(self, image: Image.Image) -> tuple[float, float, float, float]:
        """Left, top, right and bottom of the part that the processor keeps, in pixels of the image."""
        width, height = image.size
        if not getattr(self.processor, "do_center_crop", False):
            return 0, 0, width, height
        rows, columns = process_image(self.processor, image, do_center_crop=False).shape[1:]
        left, top = (columns - self.grid.width) // 2, (rows - self.grid.height) // 2
        across, down = width / columns, height / rows
        return (
            left * across, top * down, (left + self.grid.width) * across, (top + self.grid.height) * down,
        )  # fmt: skip

    def names(self, units: Sequence[int]) -> list[str]:
        others = (f"[special {number}]" for number in range(2, self.grid.special + 1))
        special = ["[class]", *others] if self.grid.special else []
        places = [
            f"row {patch // self.grid.columns + 1}, column {patch % self.grid.columns + 1}"
            for patch in range(self.grid.rows * self.grid.columns)
        ]
        return [*special, *places][: len(units)]

    def save_pretrained(self, folder: str | Path) -> None:
        self.processor.save_pretrained(folder)

    def cost_note(self, inputs: int, total: int) -> str | None:
        patches, units = self.grid.rows * self.grid.columns, len(np.unique(self.grid.block_of_patch))
        if inputs == total and units == patches:
            return None
        parts = [f"{inputs} of {total:,} images" if inputs < total else f"{total:,} images"]
        if units < patches:
            parts.append(f"{units} blocks of an image as units instead of its {patches} patches")
        more = total * patches / (inputs * units)
        return (
            f"the audit used {', with '.join(parts)}: all would take about {more:,.0f} times as many passes"
        )

    def with_blocks(self, blocks: int | None) -> Self:
        """A reader with ``blocks`` blocks of patches in each direction, which are removed as a whole.

        Raises:
            InputError: on a number below 2.
        """
        if blocks is not None and blocks < 2:
            raise ParameterError("blocks", f"must be at least 2, not {blocks}: one block is the whole image")
        return replace(self, grid=replace(self.grid, blocks=blocks))


class CaptionedImage(NamedTuple):
    """An image and one text about it, for a model that compares both."""

    picture: Picture
    caption: str


@dataclass(frozen=True)
class CaptionReader(ImageReader):
    """For models that compare images with texts: it holds the tokenizer, too."""

    tokenizer: Any = None

    def inputs(self, sources: Sequence[Any]) -> list[Any]:
        """Images, or images with a caption each, given as ``{"image": …, "text": …}``.

        Raises:
            InputError: on both at once, and as `ImageReader.inputs`.
        """
        if any(isinstance(own, Mapping) and "images" in own for own in sources):
            raise InputError("this model compares one image with its caption: give one image for each text")
        captioned = [isinstance(own, Mapping) and {"image", "text"} <= set(own) for own in sources]
        if not any(captioned):
            return [*super().inputs(sources)]
        if not all(captioned):
            raise InputError(
                "some of these images have a caption and some have none: explain them separately"
            )
        for own in sources:
            if not isinstance(own["text"], str) or not own["text"].strip():
                raise InputError("the caption of an image must be a text that is not empty")
        return [CaptionedImage(as_picture(own["image"]), own["text"]) for own in sources]

    def save_pretrained(self, folder: str | Path) -> None:
        super().save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)


def process_image(processor: Any, image: Image.Image, **options: bool) -> UInt8[np.ndarray, "3 h w"]:
    """The pixels of an image as the processor scales and cuts them, from 0 to 255."""
    options |= {"do_rescale": False, "do_normalize": False}
    pixels = processor([image], return_tensors="np", **options)["pixel_values"][0]
    return np.clip(np.rint(pixels), 0, 255).astype(np.uint8)


def normalisation_of(processor: Any) -> Normalisation:
    """The normalisation that a processor applies after resizing."""
    scale = float(processor.rescale_factor) if getattr(processor, "do_rescale", True) else 1.0
    normalises = getattr(processor, "do_normalize", True)
    mean, deviation = (
        tuple(map(float, getattr(processor, name))) if normalises else (default,) * 3
        for name, default in (("image_mean", 0.0), ("image_std", 1.0))
    )
    return Normalisation(scale, mean, deviation)


def image_size(processor: Any) -> tuple[int, int]:
    """Height and width of what a processor makes of every image.

    Raises:
        InputError: if images of other shapes get other sizes, or other pixels than can be drawn.
    """
    rng = np.random.default_rng(0)
    images = [Image.fromarray(rng.integers(0, 256, (*shape, 3), dtype=np.uint8)) for shape in OTHER_SHAPES]
    try:
        plain = [process_image(processor, image) for image in images]
        read = [np.asarray(processor([image], return_tensors="np")["pixel_values"][0]) for image in images]
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise InputError(
            f"{type(processor).__name__} makes no pixels from an image: give the image processor of the model"
        ) from error
    if plain[0].ndim != 3:
        raise InputError(
            f"{type(processor).__name__} cuts images into patches itself, and Glasshead reads whole images "
            "of one height and width: this model is not supported"
        )
    if plain[0].shape != plain[1].shape or len(plain[0]) != 3:
        raise InputError(
            f"{type(processor).__name__} gives images of different shapes different sizes, but patches need "
            "one size: set its height and width"
        )
    normalise = normalisation_of(processor)
    for own, expected in zip(plain, read, strict=True):
        if not np.allclose(normalise(torch.from_numpy(own)[None].float())[0].numpy(), expected, atol=1e-2):
            raise InputError(f"{type(processor).__name__} changes colours in an unknown way")
    return plain[0].shape[1], plain[0].shape[2]

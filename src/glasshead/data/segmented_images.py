"""Images of which every pixel has a class: tables with a column of masks, as data sets of segmentation have
them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from jaxtyping import Int
from PIL import Image, ImageOps

from glasshead.data.image_columns import IMAGE_COLUMNS, read_cell
from glasshead.data.label_columns import columns_of
from glasshead.data.options import LoadOptions
from glasshead.data.pictures import Picture, check_size, damage_named, decode_pixels, open_image
from glasshead.data.pixel_arrays import is_pixel_array
from glasshead.data.schema import NoLabelError
from glasshead.errors import InputError, brief
from glasshead.spelling import spell

if TYPE_CHECKING:
    from datasets import Dataset, DatasetDict

IMAGES = (*IMAGE_COLUMNS, "pixel_values")
MASKS = ("annotation", "mask", "segmentation", "segmentation_mask", "label", "labels")
"""What columns of masks are called."""
NO_CLASS = 255
"""The class of pixels that have none."""
NUMBERS = ("1", "L", "P", "I")
"""Modes of Pillow whose pixels are whole numbers, and so those that begin with I;16."""


class SegmentedImage(NamedTuple):
    """An image and its mask, whose pixels are the numbers of classes."""

    image: Picture
    mask: Picture

    def classes(self, processor: Any, height: int, width: int) -> Int[np.ndarray, "h w"]:
        """The class of each pixel that a model reads, as its processor scales the mask; 255: none.

        Raises:
            InputError: if the mask cannot be read, is coloured, or has another size than the image, and if
            the processor does not read masks.
        """
        image, mask = decode_pixels(self.image), decode_mask(self.mask)
        if image.size != mask.shape[::-1]:
            raise InputError(
                f"the mask {self.mask} has {mask.shape[1]:,} × {mask.shape[0]:,} pixels, and its image "
                f"{image.width:,} × {image.height:,}: give masks of the size of their images"
            )
        try:
            read = processor([image], segmentation_maps=[mask], return_tensors="np")
        except (TypeError, ValueError, KeyError) as error:
            raise InputError(
                f"{type(processor).__name__} does not read masks ({brief(error)}): give the image processor "
                "of the model"
            ) from error
        classes = np.asarray(read["labels"][0]) if "labels" in read else np.empty(0)
        if classes.shape != (height, width):
            raise InputError(f"{type(processor).__name__} does not scale masks in the same way as images")
        return classes.astype(np.int64)


def decode_mask(picture: Picture) -> Int[np.ndarray, "h w"]:
    """The numbers in a mask, upright as its image.

    Raises:
        InputError: if it cannot be read, or is coloured.
    """
    with damage_named(picture.name), open_image(picture.content) as opened:
        check_size(picture.name, opened)
        opened.load()
        mask = ImageOps.exif_transpose(opened)
        if mask.mode == "LA" and mask.getchannel("A").getextrema() == (255, 255):
            mask = mask.getchannel("L")
        if mask.mode not in NUMBERS and not mask.mode.startswith("I;16"):
            raise InputError(
                f"the mask {picture} is coloured: save the number of each pixel's class (mode L or P)"
            )
        return compact(np.array(mask), picture.name)


def compact(numbers: np.ndarray, name: str) -> np.ndarray:
    """Whole numbers in eight bits, or in sixteen where there are larger ones.

    Raises:
        InputError: on numbers that are no classes.
    """
    low, high = (int(numbers.min()), int(numbers.max())) if numbers.size else (0, 0)
    if not 0 <= low <= high < 2**16:
        raise InputError(
            f"the mask {name} has numbers from {low} to {high}: use classes from 0, and 255 for none"
        )
    return numbers.astype(np.uint8 if high < 2**8 else np.uint16)


def as_mask(cell: object, name: str) -> object:
    """A mask of whole numbers in memory as an image of Pillow that keeps them; other cells as they are."""
    if isinstance(cell, Image.Image) and cell.mode == "I":
        cell = np.array(ImageOps.exif_transpose(cell))
    if not (isinstance(cell, list) or is_pixel_array(cell)):
        return cell
    numbers = np.asarray(cell)
    is_mask = numbers.ndim == 2 and numbers.size and numbers.dtype.kind in "biu"
    return Image.fromarray(compact(numbers, name)) if is_mask else cell


def read_segmented(
    source: str | Path | Dataset | DatasetDict, split: str, options: LoadOptions
) -> list[SegmentedImage]:
    """The rows of a split.

    Raises:
        NoLabelError: if there are no masks.
        InputError: if there is no such split, or a cell is not an image.
    """
    columns = columns_of(source, split, options)
    image = name_of(columns.values, options.text_column, IMAGES)
    mask = name_of(columns.values, options.label_column, MASKS)
    if image is None or mask is None:
        raise NoLabelError(
            f"{columns.source} has no column of images and one of masks (its columns are "
            f"{', '.join(columns.values)}): name them with {spell('text_column')} and {spell('label_column')}"
        )
    folder = Path(source).parent if isinstance(source, str | Path) else Path()
    cells = zip(columns.values[image], columns.values[mask], strict=True)
    return [
        SegmentedImage(
            *(
                read_cell(f"{columns.source} row {row}", cell, [folder])
                for cell in (pixels, as_mask(numbers, f"of row {row}"))
            )
        )
        for row, (pixels, numbers) in enumerate(cells, 1)
    ]


def name_of(columns: Mapping[str, Any], named: str | None, usual: tuple[str, ...]) -> str | None:
    """The column that is named, else the first that is called so."""
    return next((name for name in ((named,) if named else usual) if name in columns), None)

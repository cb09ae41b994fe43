"""Image sets by name that need no file: handwritten digits, and squares whose truth is known."""

from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from glasshead.data.image_folders import IMAGE, LABEL
from glasshead.data.marks import MARKS
from glasshead.data.pictures import Picture
from glasshead.data.read import Columns
from glasshead.registry import Registry

SIZE, SIDE = 24, 6
"""Pixels of a planted image and of its square."""
EACH = 600
"""Planted images of each class."""
SQUARE_COLOURS = {"red": (220, 40, 40), "green": (40, 190, 60), "blue": (50, 70, 220)}
PIXEL_NOISE = 40


@dataclass(frozen=True)
class ImageSet:
    """A named image set: what it is, and how its columns are made."""

    description: str
    columns: Callable[[str], Columns]


IMAGE_SETS: Registry[ImageSet] = Registry("image set")


def load_digits(name: str) -> Columns:
    """1,797 digits of 8 × 8 pixels with 17 shades of grey.

    Source: Alpaydin and Kaynak (1998), as `sklearn.datasets.load_digits` has them.
    """
    from sklearn.datasets import load_digits

    digits_set = load_digits()
    shades = np.rint(digits_set.images * (255 / 16)).astype(np.uint8)
    pictures = [as_png(f"digit {number}", pixels) for number, pixels in enumerate(shades)]
    return Columns(name, {IMAGE: pictures, LABEL: [str(label) for label in digits_set.target]}, {})


def squares(name: str) -> Columns:
    """Grey noise with a square of 6 × 6 pixels, whose colour is the class; everything else says nothing.

    The square stands on a grid of 6 pixels, and ``marks`` is its box [left, top, right, bottom].
    """
    rng = np.random.default_rng(0)
    pictures, labels, marks = [], [], []
    for number in range(EACH * len(SQUARE_COLOURS)):
        label = list(SQUARE_COLOURS)[number % len(SQUARE_COLOURS)]
        grey = rng.integers(128 - PIXEL_NOISE, 128 + PIXEL_NOISE, size=(SIZE, SIZE, 1)).repeat(3, axis=2)
        left, top = (SIDE * rng.integers(SIZE // SIDE, size=2)).tolist()
        grey[top : top + SIDE, left : left + SIDE] = SQUARE_COLOURS[label]
        pictures.append(as_png(f"square {number}", grey.astype(np.uint8)))
        labels.append(label)
        marks.append([[left, top, left + SIDE, top + SIDE]])
    return Columns(name, {IMAGE: pictures, LABEL: labels, MARKS: marks}, {})


def as_png(name: str, pixels: NDArray[np.uint8]) -> Picture:
    """Pixels as a picture, without a loss."""
    file = BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    return Picture(name, file.getvalue())


IMAGE_SETS.register("digits")(
    ImageSet("handwritten digits of 8 × 8 pixels, 1,797 images (scikit-learn's load_digits)", load_digits)
)
IMAGE_SETS.register("squares")(
    ImageSet("a coloured square in grey noise, whose colour is the class and whose place is marked", squares)
)

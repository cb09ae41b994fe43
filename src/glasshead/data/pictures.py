"""An image by its name: as it is stored, and as upright pixels of red, green and blue."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from struct import error as StructError
from typing import Any

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from glasshead.data.pixel_arrays import is_pixel_array, pixels_of_array
from glasshead.errors import InputError

IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".tif", ".tiff", ".ppm", ".pgm")
MOST_PIXELS = 64_000_000
"""A larger image is none that a classifier reads, and may be made to fill the memory."""
BITS_16 = 65_535.0
IMAGE_AXES = 3
"""Axes of an array that is one image."""
NAMELESS = "image"
"""What an image is called that came from no file."""
WHITE = (255, 255, 255)
PNG_MODES = ("1", "L", "LA", "P", "RGB", "RGBA")


@dataclass(frozen=True)
class Picture:
    """An image file in memory, which is called by its name wherever a text would be shown."""

    name: str
    content: bytes

    def __str__(self) -> str:
        return self.name


def read_picture(path: Path) -> Picture:
    """The bytes of an image file.

    Raises:
        InputError: if there is none.
    """
    try:
        return Picture(picture_name(path), path.read_bytes())
    except OSError as error:
        raise InputError(f"cannot read the image {path}: {error.strerror or error}") from error


def as_picture(source: object) -> Picture:
    """A picture of what somebody has: a path, the bytes of a file, an image of Pillow, an array, or a cell of
    `datasets.Image`.

    Raises:
        InputError: if it is none.
    """
    if isinstance(source, Picture):
        return source
    if isinstance(source, Image.Image):
        return picture_of(picture_name(getattr(source, "filename", "") or NAMELESS), source)
    if is_pixel_array(source):
        return picture_of(NAMELESS, Image.fromarray(pixels_of_array(source)))
    if isinstance(source, Mapping) and {"bytes", "path"} <= set(source):
        content, path = source["bytes"], source["path"]
        if content is None and path is not None:
            return read_picture(Path(path))
        return Picture(picture_name(path or NAMELESS), content or b"")
    if isinstance(source, bytes | bytearray):
        return Picture(NAMELESS, bytes(source))
    if isinstance(source, Mapping) and "pixel_values" in source:
        raise InputError(
            "pixels that an image processor made are no image: give the images from which it made them"
        )
    if isinstance(source, str | Path):
        path = Path(source).expanduser()
        if not is_file(path):
            raise InputError(f"{str(source)!r} is no file: this model reads images, so give files of images")
        return read_picture(path)
    raise InputError(
        f"{type(source).__name__} is no image: give a file, an image that Pillow has opened, or an array"
    )


def picture_name(path: str | Path) -> str:
    """What an image file is called: its name, below that of its folder, in which others may have the same."""
    path = Path(path)
    return "/".join(part for part in (path.parent.name, path.name) if part)


def picture_of(name: str, image: Image.Image) -> Picture:
    """An image that Pillow has opened, upright, as the bytes of a PNG.

    Raises:
        InputError: if its pixels cannot be read, or are of a kind that a PNG cannot hold.
    """
    file = io.BytesIO()
    with damage_named(name):
        check_size(name, image)
        upright = ImageOps.exif_transpose(image)
        # PNG keeps sixteen bits, alpha and grey as they are.
        as_it_is = upright.mode in PNG_MODES or upright.mode.startswith("I;16")
        (upright if as_it_is else to_rgb(name, upright)).save(file, "PNG")
    return Picture(name, file.getvalue())


def is_file(path: Path) -> bool:
    """Whether there is such a file; a long text is no name of one."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def is_folder(path: Path) -> bool:
    """Whether there is such a folder."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def is_image(value: Any) -> bool:
    """Whether a value in memory is an image: one of Pillow, or an array of its shape."""
    is_array = is_pixel_array(value) and len(value.shape) == IMAGE_AXES
    return isinstance(value, Picture | Image.Image) or is_array


def is_picture_cell(value: Any) -> bool:
    """Whether a cell of a table holds an image."""
    if isinstance(value, Picture | Image.Image):
        return True
    return isinstance(value, Mapping) and {"bytes", "path"} <= set(value)


def decode_pixels(picture: Picture) -> Image.Image:
    """The pixels, upright, in eight bits of red, green and blue.

    What a camera noted of its orientation (EXIF) is applied; grey and palettes become colours, sixteen bits
    eight, and what is transparent lies on white. Of several frames the first counts.

    Raises:
        InputError: if the bytes are no image, or a truncated one, and on more than `MOST_PIXELS`.
    """
    with damage_named(picture.name), warnings.catch_warnings():
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # the limit here is a lower one
        with Image.open(io.BytesIO(picture.content)) as opened:
            check_size(picture.name, opened)
            opened.load()
            return to_rgb(picture.name, ImageOps.exif_transpose(opened))


@contextmanager
def damage_named(name: str) -> Iterator[None]:
    """Raise InputError, which names the image, for what Pillow says of one that it cannot read."""
    try:
        yield
    except InputError:
        raise
    except Image.DecompressionBombError:
        raise InputError(too_large(name)) from None
    except UnidentifiedImageError:
        raise InputError(
            f"{name} is no image that can be read: give one of {', '.join(IMAGE_SUFFIXES)}"
        ) from None
    except (OSError, SyntaxError, ValueError, EOFError, StructError) as error:
        raise InputError(f"{name} is truncated or damaged ({error}): save it again") from None


def check_size(name: str, image: Image.Image) -> None:
    """Raise InputError before the pixels of an image are unpacked that are too many."""
    if image.width * image.height > MOST_PIXELS:
        raise InputError(too_large(name, f", {image.width:,} × {image.height:,}"))


def too_large(name: str, size: str = "") -> str:
    """What is wrong with a huge image."""
    return f"{name} has more than {MOST_PIXELS:,} pixels{size}: scale it down first"


def to_rgb(name: str, image: Image.Image) -> Image.Image:
    """Eight bits of red, green and blue; `Image.convert` would cut sixteen bits off at 255.

    Raises:
        InputError: on floating-point pixels, of which nobody knows what is white.
    """
    if image.mode == "F":
        raise InputError(f"{name} has floating-point pixels: save it with 8 or 16 bits")
    if image.mode.startswith("I"):
        grey = np.asarray(image).astype(np.float64).clip(0, BITS_16)
        return Image.fromarray(np.rint(grey * (255 / BITS_16)).astype(np.uint8)).convert("RGB")
    if image.has_transparency_data:
        solid = image.convert("RGBA")
        paper = Image.new("RGBA", solid.size, (*WHITE, 255))
        return Image.alpha_composite(paper, solid).convert("RGB")
    return image.convert("RGB")

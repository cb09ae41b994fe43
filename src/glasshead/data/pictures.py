"""An image by its name: as it is stored, and as upright pixels of red, green and blue."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from struct import error as StructError
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageOps, UnidentifiedImageError

from glasshead.data.pixel_arrays import is_pixel_array, pixels_of_array
from glasshead.errors import InputError
from glasshead.quiet import without_warnings

IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".tif", ".tiff", ".ppm", ".pgm")
FORMATS = ("PNG", "JPEG", "BMP", "DIB", "GIF", "WEBP", "TIFF", "PPM")
"""Pillow's names of the formats that are read."""
MOST_PIXELS = 64_000_000
"""A larger image is none that a classifier reads, and may be made to fill the memory."""
BITS_16 = 65_535.0
IMAGE_AXES = 3
"""Axes of an array that is one image."""
NAMELESS = "image"
"""What an image is called that came from no file."""
WHITE = (255, 255, 255)
Edge = tuple[int, int, int, int]
"""The ends of a line: left, top, right and bottom."""
LINE = ((5, (0, 0, 0)), (2, WHITE))
"""Width and colour of a line that is seen on any image: a white one on a black one."""
PNG_MODES = ("1", "L", "LA", "P", "RGB", "RGBA")


@dataclass(frozen=True)
class Picture:
    """An image file in memory; its name is shown where a text would be."""

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
    """A picture from a path, the bytes of a file, an image of Pillow, an array, or a cell of
    `datasets.Image`.

    Raises:
        InputError: if it is not one.
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
        raise InputError("these are pixels from an image processor, not an image: give the original images")
    if isinstance(source, str | Path):
        path = Path(source).expanduser()
        if not is_file(path):
            raise InputError(f"{str(source)!r} is not a file: this model reads images, so give image files")
        return read_picture(path)
    raise InputError(
        f"{type(source).__name__} is not an image: give a file, an image that Pillow has opened, or an array"
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


def as_data_uri(pixels: Image.Image, scale: float, edges: Sequence[Edge] = ()) -> str:
    """An image in another size, as a page holds it, with lines along some ``edges``; a larger one keeps its
    pixels as squares."""
    if scale != 1:
        width, height = (max(round(length * scale), 1) for length in pixels.size)
        pixels = pixels.resize((width, height), Image.Resampling.NEAREST if scale > 1 else None)
    if edges:
        pixels = pixels.copy()
        draw = ImageDraw.Draw(pixels)
        for width, colour in LINE:
            for edge in edges:
                draw.line(edge, colour, width)
    file = io.BytesIO()
    pixels.save(file, "PNG")
    return f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}"


def is_file(path: Path) -> bool:
    """Whether there is such a file; a long text is not a name of one."""
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


def decode_pixels(picture: Picture, most: int = MOST_PIXELS) -> Image.Image:
    """The pixels, upright, in eight bits of red, green and blue.

    The orientation from the camera (EXIF) is applied; grey and palettes become colours, sixteen bits become
    eight, and transparent pixels become white. Only the first of several frames is used.

    Raises:
        InputError: if the bytes are not an image, or a truncated one, and on more than ``most`` pixels.
    """
    with (
        damage_named(picture.name),
        without_warnings(category=Image.DecompressionBombWarning),  # Pillow's own limit is a higher one
        open_image(picture.content) as opened,
    ):
        check_size(picture.name, opened, most)
        opened.load()
        return to_rgb(picture.name, ImageOps.exif_transpose(opened))


def open_image(content: bytes) -> Image.Image:
    """An image of a usual format: others run programs (PostScript) or read other files."""
    return Image.open(io.BytesIO(content), formats=FORMATS)


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
            f"{name} is not an image that can be read: give one of {', '.join(IMAGE_SUFFIXES)}"
        ) from None
    except (OSError, SyntaxError, ValueError, EOFError, StructError) as error:
        raise InputError(f"{name} is truncated or damaged ({error}): save it again") from None


def check_size(name: str, image: Image.Image, most: int = MOST_PIXELS) -> None:
    """Raise InputError before the pixels of an image are unpacked that are too many."""
    if image.width * image.height > most:
        raise InputError(too_large(name, f", {image.width:,} × {image.height:,}", most))


def too_large(name: str, size: str = "", most: int = MOST_PIXELS) -> str:
    """What is wrong with a huge image."""
    return f"{name} has more than {most:,} pixels{size}: scale it down first"


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

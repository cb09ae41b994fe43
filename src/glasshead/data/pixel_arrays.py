"""An image as an array of NumPy or a tensor of torch → eight bits of red, green and blue."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from glasshead.errors import InputError

SHAPES = "give height × width × 3, 3 × height × width, or height × width of greys"


def is_pixel_array(value: Any) -> bool:
    """Whether a value is an array, or a tensor."""
    return hasattr(value, "shape") and hasattr(value, "dtype") and hasattr(value, "__array__")


def pixels_of_array(array: Any) -> NDArray[np.uint8]:
    """The pixels [height, width, 3] of numbers from 0 to 255 in uint8, or from 0 to 1 in floating point; two
    axes are greys.

    Raises:
        InputError: on another shape, one that has three colours at both ends, other numbers, and numbers out
            of their range.
    """
    if hasattr(array, "detach"):  # of torch, whose bfloat16 NumPy does not know
        array = array.detach().cpu()
        array = array.float() if array.is_floating_point() else array
    pixels = np.asarray(array)
    size = " × ".join(map(str, pixels.shape))
    if pixels.ndim == 2 and pixels.size:
        return bytes_of(pixels[..., None].repeat(3, axis=2))
    if pixels.ndim != 3 or 3 not in (pixels.shape[0], pixels.shape[2]) or not pixels.size:
        raise InputError(f"an array of {size or 'one number'} is not an image: {SHAPES}")
    if pixels.shape[0] == pixels.shape[2]:
        raise InputError(f"an array of {size} may have its colours first or last: give a Pillow image")
    if pixels.shape[0] == 3:
        pixels = pixels.transpose(1, 2, 0)
    return bytes_of(pixels)


def bytes_of(pixels: NDArray[Any]) -> NDArray[np.uint8]:
    """Pixels in eight bits.

    Raises:
        InputError: on other numbers than `pixels_of_array` takes.
    """
    if np.issubdtype(pixels.dtype, np.floating):
        low, high = float(pixels.min()), float(pixels.max())
        if not 0 <= low <= high <= 1:  # NaN is in no range
            raise InputError(
                f"pixels from {low:.3g} to {high:.3g} in floating point are not supported: give 0 to 1, "
                "before any normalisation, or uint8"
            )
        return np.rint(pixels * 255).astype(np.uint8)
    if pixels.dtype != np.uint8:
        raise InputError(f"pixels of the type {pixels.dtype} are not supported: give uint8, or floats 0 to 1")
    return np.ascontiguousarray(pixels)

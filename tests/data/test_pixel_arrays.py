"""Arrays and tensors are the images that Pillow makes of them, or are refused."""

import numpy as np
import pytest
import torch
from PIL import Image

import glasshead
from glasshead.data import as_picture, as_sources, decode_pixels
from glasshead.errors import InputError
from image_families import image_model, processor

PIXELS = np.random.default_rng(0).integers(0, 256, (12, 10, 3), dtype=np.uint8)
FLOATS = PIXELS / 255
ARRAYS = {
    "bytes": PIXELS,
    "colours first": PIXELS.transpose(2, 0, 1),
    "floats": FLOATS,
    "float32, colours first": FLOATS.astype(np.float32).transpose(2, 0, 1),
    "a tensor": torch.from_numpy(PIXELS),
    "a tensor as torchvision has it": torch.from_numpy(FLOATS).float().permute(2, 0, 1),
    "a tensor with a gradient": torch.from_numpy(FLOATS).requires_grad_(),
}


@pytest.mark.parametrize("array", ARRAYS.values(), ids=ARRAYS)
def test_every_kind_of_array_is_the_same_picture(array):
    picture = as_picture(array)
    assert str(picture) == "image"
    assert np.array_equal(np.asarray(decode_pixels(picture)), PIXELS)


@pytest.mark.parametrize("grey", [PIXELS[..., 0], FLOATS[:3, :3, 0], torch.from_numpy(FLOATS[..., 0])])
def test_two_axes_are_greys_as_pillow_has_them(grey):
    read = np.asarray(decode_pixels(as_picture(grey)))
    own = PIXELS[: len(grey), : grey.shape[1], 0]
    assert np.array_equal(read, np.asarray(Image.fromarray(own, "L").convert("RGB")))


def test_half_precision_is_the_same_picture_up_to_its_rounding():
    pixels = np.asarray(decode_pixels(as_picture(torch.from_numpy(FLOATS).bfloat16())))
    assert np.abs(pixels.astype(int) - PIXELS).max() <= 1


def test_three_axes_are_one_image_and_four_are_several():
    assert len(as_sources(PIXELS)) == len(as_sources(torch.from_numpy(PIXELS))) == 1
    assert len(as_sources(np.stack([PIXELS, PIXELS]))) == 2
    assert as_sources(np.array(["a", "b"])) == ["a", "b"]


@pytest.mark.parametrize(
    ("array", "said"),
    [
        (PIXELS[0, 0], "an array of 3 is not an image"),
        (PIXELS[:0, :, 0], "an array of 0 × 10 is not an image"),
        (PIXELS[..., :1], "an array of 12 × 10 × 1 is not an image"),
        (PIXELS[:0], "an array of 0 × 10 × 3 is not an image"),
        (np.float64(0.5), "an array of one number is not an image"),
        (PIXELS[:3], "3 × 10 × 3 may have its colours first or last"),
        (PIXELS.astype(np.int64), "pixels of the type int64"),
        (PIXELS > 9, "pixels of the type bool"),
        (torch.from_numpy(PIXELS).int(), "pixels of the type int32"),
        (PIXELS.astype(np.float32), "pixels from 0 to 255 in floating point"),
        (FLOATS * 2 - 1, "pixels from -1 to 1 in floating point"),
        (np.full((4, 4, 3), np.nan), "pixels from nan to nan"),
    ],
)
def test_what_could_be_meant_in_two_ways_is_refused(array, said):
    with pytest.raises(InputError, match=said):
        as_picture(array)


def test_an_array_is_explained_as_its_image_is():
    options = {"tokenizer": processor(), "method": "attention"}
    of_image = glasshead.explain(image_model(), Image.fromarray(PIXELS), **options)
    for given in (PIXELS, torch.from_numpy(PIXELS).permute(2, 0, 1), [PIXELS]):
        of_array = glasshead.explain(image_model(), given, **options)
        np.testing.assert_allclose(of_array[0].scores, of_image[0].scores)
    several = glasshead.explain(image_model(), np.stack([PIXELS, 255 - PIXELS]), **options)
    assert len(several) == 2

"""Images changed at random while a model is trained, so that it sees none twice as it is."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import pad

from glasshead.registry import Registry

Augmentation = Callable[[Float[Tensor, "b c h w"]], Float[Tensor, "b c h w"]]
MOST_SHIFT = 8
"""Images move by up to an eighth of their side."""

AUGMENTATIONS: Registry[Augmentation] = Registry("augmentation")


@AUGMENTATIONS.register("shift")
def shift(pixels: Float[Tensor, "b c h w"]) -> Float[Tensor, "b c h w"]:
    """Each image moved by up to an eighth of its sides; its edge pixels fill what becomes free."""
    height, width = pixels.shape[2:]
    down, right = max(height // MOST_SHIFT, 1), max(width // MOST_SHIFT, 1)
    padded = pad(pixels, (right, right, down, down), mode="replicate")
    moved = torch.empty_like(pixels)
    places = zip(
        torch.randint(2 * down + 1, (len(pixels),)).tolist(),
        torch.randint(2 * right + 1, (len(pixels),)).tolist(),
        strict=True,
    )
    for number, (top, left) in enumerate(places):
        moved[number] = padded[number, :, top : top + height, left : left + width]
    return moved


@AUGMENTATIONS.register("shift+flip")
def shift_and_flip(pixels: Float[Tensor, "b c h w"]) -> Float[Tensor, "b c h w"]:
    """Shift images, and turn every second one as in a mirror; not for digits and letters."""
    flipped = torch.rand(len(pixels)) < 0.5
    moved = shift(pixels)
    moved[flipped] = moved[flipped].flip(3)
    return moved

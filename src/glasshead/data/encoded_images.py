"""Images → one batch of pixels that remembers where every patch stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, Self

import numpy as np
import torch
from jaxtyping import Bool, Float, Int, UInt8
from torch import Tensor
from torch.nn.functional import avg_pool2d

from glasshead.data.encoded import Encoded
from glasshead.data.pictures import Edge, Picture, as_data_uri, decode_pixels
from glasshead.nouns import IMAGE_NOUNS, Nouns

Box = tuple[int, int, int, int]
Fill = Literal["neutral-colour", "mean-colour", "blur"]
"""What stands where a patch was: the colour that the processor subtracts, the mean colour of the image, or
the image out of focus."""
DIRECTIONS = {"left": (0, -1), "right": (0, 1), "above": (-1, 0), "below": (1, 0)}
"""How many rows down and columns to the right the patch stands on each side of another."""
MOST_SHOWN = 480
"""Pixels of the longer side of an image on a page."""
BLUR = 0.25
"""The window of the blur, as a share of the longer side of the image."""


@dataclass(frozen=True)
class PatchGrid:
    """The places of the patches of an image, in pixels and among the tokens of a model.

    ``special`` tokens of the model (a class token, a distillation token, registers) come before the patches,
    which follow row by row. In each direction, patches are divided into ``blocks`` (None: each patch is a
    block).
    """

    rows: int
    columns: int
    height: int
    width: int
    special: int
    blocks: int | None = None

    @property
    def length(self) -> int:
        """Tokens of an image."""
        return self.special + self.rows * self.columns

    @property
    def block_of_patch(self) -> Int[np.ndarray, " patches"]:
        """The number of the block of each patch, row by row."""
        if self.blocks is None:
            return np.arange(self.rows * self.columns)
        rows, columns = (np.arange(n) * min(self.blocks, n) // n for n in (self.rows, self.columns))
        return (rows[:, None] * self.blocks + columns).ravel()

    @property
    def owner(self) -> Int[Tensor, " tokens"]:
        """The first token of the block of each token; special tokens represent themselves."""
        _, first, place = np.unique(self.block_of_patch, return_index=True, return_inverse=True)
        return torch.from_numpy(np.concatenate([np.arange(self.special), self.special + first[place]]))

    def box(self, patch: int) -> Box:
        """Left, top, right and bottom of a patch, in pixels."""
        row, column = divmod(patch, self.columns)
        lefts, tops = (
            [round(size * place / parts) for place in (own, own + 1)]
            for size, parts, own in ((self.width, self.columns, column), (self.height, self.rows, row))
        )
        return lefts[0], tops[0], lefts[1], tops[1]

    def patches_at(
        self, boxes: Sequence[Sequence[float]], frame: Sequence[float]
    ) -> Bool[np.ndarray, " patches"]:
        """Which patches share a pixel with boxes in an image cropped to ``frame``: left, top, right and
        bottom in its own pixels."""
        left, top, right, bottom = frame
        scale = np.array([self.width / (right - left), self.height / (bottom - top)] * 2)
        touched = np.zeros(self.rows * self.columns, dtype=bool)
        own = np.array([self.box(patch) for patch in range(len(touched))])
        for box in boxes:
            left, top, right, bottom = (np.array(box) - [*frame[:2]] * 2) * scale
            touched |= (own[:, 0] < right) & (left < own[:, 2]) & (own[:, 1] < bottom) & (top < own[:, 3])
        return touched


@dataclass(frozen=True)
class Normalisation:
    """Pixels of 0 to 255 → what a model reads: (pixel · ``scale`` − mean) / deviation, colour by colour."""

    scale: float
    mean: tuple[float, ...]
    deviation: tuple[float, ...]

    def __call__(self, pixels: Float[Tensor, "b c h w"]) -> Float[Tensor, "b c h w"]:
        mean, deviation = (torch.tensor(values)[:, None, None] for values in (self.mean, self.deviation))
        return (pixels * self.scale - mean) / deviation

    @property
    def neutral(self) -> Float[Tensor, "c 1 1"]:
        """The colour that becomes zeros."""
        return torch.tensor(self.mean)[:, None, None] / self.scale


@dataclass(frozen=True, eq=False)
class EncodedImages(Encoded):
    """The pixels of images, cropped and scaled as a model reads them, and the places of their patches.

    ``ids`` are numbers that are equal where patches are, ``words`` the numbers of patches, −1 for special
    tokens. ``frames`` are the parts that were kept of the ``pictures``: left, top, right and bottom in
    their own pixels. ``asks_region``: the question marks patches, which are outlined.
    """

    pixels: UInt8[Tensor, "images c h w"] = field(default_factory=lambda: torch.empty(0))
    frames: Float[np.ndarray, "images 4"] = field(default_factory=lambda: np.empty((0, 4)))
    grid: PatchGrid = field(default_factory=lambda: PatchGrid(1, 1, 1, 1, 0))
    normalise: Normalisation = field(default_factory=lambda: Normalisation(1.0, (0.0,), (1.0,)))
    pictures: tuple[Picture, ...] = ()
    asks_region: bool = False

    edits: ClassVar[tuple[str, ...]] = ("neutral-colour", "mean-colour", "blur", "masked")
    nouns: ClassVar[Nouns] = IMAGE_NOUNS
    in_line: ClassVar[bool] = False
    shows_halves: ClassVar[bool] = True

    def inputs(
        self, rows: slice | Tensor = slice(None), device: torch.device | str = "cpu"
    ) -> dict[str, Tensor]:
        """What a model is called with for some of the images; ``attention_mask`` says how many tokens it
        makes of each."""
        pixels = self.pixels[rows]
        values = pixels if pixels.is_floating_point() else self.normalise(pixels.float())
        inputs = {"pixel_values": values, "attention_mask": self.mask[rows].long()}
        if self.question is not None:
            inputs["question"] = self.question[rows]
        return {name: tensor.to(device) for name, tensor in inputs.items()}

    @staticmethod
    def cut(inputs: dict[str, Tensor], length: int) -> dict[str, Tensor]:
        """Inputs as they are, since all images of a model have one size."""
        return inputs

    def take(self, rows: slice | np.ndarray | Int[Tensor, " rows"]) -> Self:
        places = rows.numpy() if isinstance(rows, Tensor) else rows
        pictures = tuple(self.pictures[number] for number in np.arange(len(self.pictures))[places])
        return replace(
            super().take(rows), pixels=self.pixels[rows], frames=self.frames[places], pictures=pictures
        )

    @cached_property
    def owner(self) -> Int[Tensor, "images tokens"]:
        return self.grid.owner.expand(self.ids.shape)

    def fill_patches(self, removed: Bool[Tensor, "images tokens"], fill: Fill) -> EncodedImages:
        """The images, with some patches replaced."""
        patches = removed[:, self.grid.special :].reshape(-1, 1, self.grid.rows, self.grid.columns)
        gone = torch.zeros(len(patches), 1, *self.pixels.shape[2:], dtype=torch.bool)
        for patch in range(self.grid.rows * self.grid.columns):
            left, top, right, bottom = self.grid.box(patch)
            row, column = divmod(patch, self.grid.columns)
            gone[:, :, top:bottom, left:right] = patches[:, :, row : row + 1, column : column + 1]
        pixels = self.pixels.float()
        others = FILLS[fill](pixels, self.normalise)
        return replace(self, pixels=self.normalise(torch.where(gone, others, pixels)))

    def neighbours(self, words: Int[np.ndarray, " n"]) -> dict[str, Int[np.ndarray, " n"]]:
        place_of = np.full(self.grid.rows * self.grid.columns, -1)
        place_of[words[words >= 0]] = np.flatnonzero(words >= 0)
        row, column = np.divmod(words, self.grid.columns)
        neighbours = {}
        for name, (down, right) in DIRECTIONS.items():
            below, across = row + down, column + right
            inside = (below >= 0) & (below < self.grid.rows) & (across >= 0) & (across < self.grid.columns)
            patch = np.where(inside, below * self.grid.columns + across, 0)
            neighbours[name] = np.where(inside & (words >= 0), place_of[patch], -1)
        return neighbours | {"itself": np.arange(len(words))}

    def distances(self, words: Int[np.ndarray, " n"]) -> Float[np.ndarray, "n n"]:
        """How many patches lie between the middles of two; NaN for special tokens, which have no place."""
        places = np.stack(np.divmod(words, self.grid.columns), axis=1).astype(float)
        places[words < 0] = np.nan
        return np.asarray(np.linalg.norm(places - places[:, None], axis=-1))

    def baseline(self, token: int) -> EncodedImages:
        """Zeros, the colour that the processor subtracts; the mean colour of an image may reveal its
        class."""
        return replace(self, pixels=torch.zeros(self.pixels.shape))

    def find_marked(self, texts: Sequence[Any], marks: Sequence[Any]) -> Bool[np.ndarray, "images tokens"]:
        """Which patches share a pixel with a box of their image."""
        special = np.zeros(self.grid.special, dtype=bool)
        return np.array(
            [
                np.concatenate([special, self.grid.patches_at(boxes or [], frame)])
                for boxes, frame in zip(marks, self.frames, strict=True)
            ]
        ).reshape(self.ids.shape)

    def drawing(self, index: int, text: str) -> dict[str, Any]:
        """The original image as a data URI, and the box of each token; special tokens have none."""
        pixels, (left, top, right, bottom) = decode_pixels(self.pictures[index]), self.frames[index]
        across, down = (right - left) / self.grid.width, (bottom - top) / self.grid.height
        enlarged = max(int(np.ceil(1 / across)), int(np.ceil(1 / down)))  # no patch is less than a pixel
        if self.asks_region:  # lines of some pixels must not hide it
            enlarged = max(enlarged, MOST_SHOWN // (2 * max(pixels.size)))
        scale = min(MOST_SHOWN / max(pixels.size), enlarged)
        boxes = [
            (
                round((left + own_left * across) * scale),
                round((top + own_top * down) * scale),
                round((left + own_right * across) * scale),
                round((top + own_bottom * down) * scale),
            )
            for own_left, own_top, own_right, own_bottom in map(
                self.grid.box, range(self.grid.rows * self.grid.columns)
            )
        ]
        edges = self.region_edges(index, boxes) if self.asks_region else ()
        shown = as_data_uri(pixels, scale, edges)
        return {"images": (shown,), "boxes": (*[None] * self.grid.special, *boxes)}

    def region_edges(self, index: int, boxes: Sequence[Box]) -> list[Edge]:
        """The sides at which the marked patches touch others, or the edge of the image."""
        assert self.question is not None
        asked = self.question[index, self.grid.special :].bool().numpy()
        neighbours, edges = self.neighbours(np.arange(len(asked))), []
        for patch in np.flatnonzero(asked).tolist():
            left, top, right, bottom = boxes[patch]
            sides = {
                "left": (left, top, left, bottom), "right": (right, top, right, bottom),
                "above": (left, top, right, top), "below": (left, bottom, right, bottom),
            }  # fmt: skip
            beside = {side: neighbours[side][patch] for side in sides}
            edges += [edge for side, edge in sides.items() if beside[side] < 0 or not asked[beside[side]]]
        return edges


def neutral_colour(pixels: Float[Tensor, "b c h w"], normalise: Normalisation) -> Float[Tensor, "b c h w"]:
    """One colour for all images, which says nothing of any of them."""
    return normalise.neutral.to(pixels).expand_as(pixels)


def mean_colour(pixels: Float[Tensor, "b c h w"], normalise: Normalisation) -> Float[Tensor, "b c h w"]:
    """The mean colour of each image in every place."""
    return pixels.mean(dim=(2, 3), keepdim=True).expand_as(pixels)


def blur(pixels: Float[Tensor, "b c h w"], normalise: Normalisation) -> Float[Tensor, "b c h w"]:
    """The mean colour around each pixel, without what is beyond the edges."""
    window = max(int(BLUR * max(pixels.shape[2:])) // 2 * 2 + 1, 3)
    for sides in ((window, 1), (1, window)):  # a mean of means
        padding = sides[0] // 2, sides[1] // 2
        pixels = avg_pool2d(pixels, sides, stride=1, padding=padding, count_include_pad=False)
    return pixels


FILLS = {"neutral-colour": neutral_colour, "mean-colour": mean_colour, "blur": blur}

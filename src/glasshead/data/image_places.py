"""Where the tokens of an image are in it: measured, since a processor scales, cuts, pads and divides it as it
likes, and a model merges what it reads.

A grey image gets coloured squares, and what counts is which vectors change. Places are guessed: grids over
the image, over what is left of it, or over what is padded around it; tiles with or without an overview. The
guess is taken for which the changes fit best to how much of each token a square covers, if it fits better
than the same guess half a token to each side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import isqrt
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Int
from numpy.typing import NDArray
from PIL import Image

from glasshead.data.encoded_images import Box
from glasshead.data.texts_with_images import ImagePlaces
from glasshead.errors import InputError

Look = Callable[[Image.Image], NDArray[np.float64]]
"""The vectors [tokens, d] that a model makes of an image."""
LookAtAll = Callable[[Sequence[Image.Image]], NDArray[np.float64]]
"""The vectors of several images in one text."""
Size = tuple[int, int]
"""Width and height of an image."""
Measured = tuple[Bool[np.ndarray, " tokens"], ImagePlaces | None]
"""Which tokens depend on an image, and where these are in it; None: that cannot be told."""
Frame = tuple[float, float, float, float]
"""Left, top, right and bottom of what a processor makes of an image, in pixels of this."""
Boxes = NDArray[np.float64]
"""Left, top, right and bottom of tokens [tokens, 4], as parts of a frame."""
GREY, OTHER = (128, 128, 128), (255, 64, 0)
SQUARES = 12
"""Images with a square that are looked at."""
SIDES = (0.12, 0.32)
"""The sides of a square, as parts of those of the image: at most a tenth of it."""
ALIKE = 1e-3
"""Vectors that differ by less than this part of the largest are those of the same image."""
SAME = 1e-5
"""A vector that changes by less than this part of the largest change is the same for every image."""
LITTLE = 0.02
"""What moves no vector by more than this part of the farthest is cut off: a little of it is blended in."""
MARGIN = 0.1
"""Of the side of a square that may be cut out of an image."""
HALVINGS = 6
"""Steps in which the side of such a square is found."""
FIT = 0.5
"""The least correlation of changes with what is covered."""
MOST_TILES = 36
"""Tiles of an image."""


class Guess(NamedTuple):
    """Where tokens may be: boxes, as parts of a frame, and what they are called."""

    boxes: Boxes
    names: tuple[str, ...]


def find_places_of_all(
    look: LookAtAll, sizes: Sequence[Size], alone: Callable[[Size], Measured]
) -> tuple[Int[np.ndarray, " tokens"], tuple[ImagePlaces | None, ...]]:
    """The number of the image on which each token of several images in one text depends (−1: on none), and
    where the tokens of each image are in it. Images are measured one by one if the model gives them the same
    vectors together as ``alone``.

    Raises:
        InputError: if a token depends on several images.
    """
    noises = [noise_of(size, seed) for seed, size in enumerate(sizes)]
    together, apart = look(noises), np.concatenate([look([noise]) for noise in noises])
    if together.shape == apart.shape and np.abs(together - apart).max() <= ALIKE * np.abs(together).max():
        found = [alone(size) for size in sizes]
        each = [np.where(seen, number, -1) for number, (seen, _) in enumerate(found)]
        return np.concatenate(each), tuple(places for _, places in found)
    greys = [Image.new("RGB", size, GREY) for size in sizes]
    owners, places = np.full(len(together), -1), list[ImagePlaces | None]()
    for number, noise in enumerate(noises):
        own, own_places = places_of_one(look, greys, number, noise)
        if (owners[own] >= 0).any():
            raise InputError(
                "this model mixes the images of a text before its language model reads them, so no image "
                "token belongs to one of them: give one image"
            )
        owners[own] = number
        places.append(own_places)
    return owners, tuple(places)


def places_of_one(
    look: LookAtAll, greys: Sequence[Image.Image], number: int, noise: Image.Image
) -> tuple[Int[np.ndarray, " own"], ImagePlaces | None]:
    """The tokens that depend on one of several images, and where they are in it."""

    def look_at_one(image: Image.Image) -> NDArray[np.float64]:
        return look([*greys[:number], image, *greys[number + 1 :]])

    moved = np.linalg.norm(look_at_one(noise) - look(greys), axis=1)
    own = np.flatnonzero(moved > SAME * moved.max(initial=0))
    if not len(own):
        return own, None
    return own, find_places(lambda image: look_at_one(image)[own[0] : own[-1] + 1], noise.size)[1]


def noise_of(size: Size, seed: int) -> Image.Image:
    """An image of noise."""
    width, height = size
    return Image.fromarray(np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8))


def find_places(look: Look, size: Size) -> Measured:
    """Which tokens depend on an image of a width and height, and where these are in it; None: that cannot be
    told."""
    rng = np.random.default_rng(0)
    grey = look(Image.new("RGB", size, GREY))
    noise = look(noise_of(size, 0))
    moved = np.linalg.norm(noise - grey, axis=1)
    seen = moved > SAME * moved.max(initial=0)
    squares = [draw_square(rng, size) for _ in range(SQUARES)]
    changes = np.array([changes_by(look, grey, size, *square)[seen] for square in squares])
    covered = np.array([square for square, _ in squares], dtype=float)
    best, best_fit = None, FIT
    kept = frames(look, grey, size, float(moved.max(initial=0)))
    for guess in guesses(seen):
        for frame in kept:
            boxes = in_frame(guess.boxes, frame)
            fit = fit_of(changes, covered, boxes)
            if fit > best_fit:
                best, best_fit = (guess, boxes), fit
    if best is None:
        return seen, None
    guess, boxes = best
    sides = boxes[:, 2:] - boxes[:, :2]
    for across, down in ((0.5, 0.0), (-0.5, 0.0), (0.0, 0.5), (0.0, -0.5)):
        shift = sides * [across, down]
        if fit_of(changes, covered, boxes + np.concatenate([shift, shift], axis=1)) >= best_fit:
            return seen, None
    return seen, ImagePlaces(tuple(whole_pixels(box, size) for box in boxes), guess.names)


def draw_square(rng: np.random.Generator, size: tuple[int, int]) -> tuple[Box, tuple[int, ...]]:
    """Where a square is, and its colour."""
    sides = [max(round(rng.uniform(*SIDES) * length), 1) for length in size]
    left, top = (int(rng.integers(0, length - side + 1)) for length, side in zip(size, sides, strict=True))
    colour = rng.permutation([255, int(rng.integers(0, 256)), 0])
    return (left, top, left + sides[0], top + sides[1]), tuple(map(int, colour))


def changes_by(
    look: Look, grey: NDArray[np.float64], size: tuple[int, int], box: Box, colour: tuple[int, ...]
) -> NDArray[np.float64]:
    """By how much a square changes each vector, as parts of the largest change."""
    image = Image.new("RGB", size, GREY)
    image.paste(colour, box)
    moved = np.linalg.norm(look(image) - grey, axis=1)
    return np.asarray(moved / max(moved.max(initial=0), np.finfo(float).tiny))


def guesses(seen: Bool[np.ndarray, " tokens"]) -> Iterator[Guess]:
    """Where the tokens that depend on an image may be."""
    runs = np.diff(np.flatnonzero(np.concatenate([[True], ~seen, [True]]))) - 1
    runs = runs[runs > 0]
    if len(runs) > 1:  # marks of new lines behind the rows of a fine grid, perhaps behind an overview
        rows, columns = len(runs), int(runs[-1])
        rest = int(runs[0]) - columns
        if (runs[1:] == columns).all():
            fine = grid(rows, columns)
            if rest == 0:
                yield fine
            elif rest > 0 and isqrt(rest) ** 2 == rest:
                yield joined(overview(isqrt(rest)), fine)
        return
    count = int(seen.sum())
    for rows in divisors(count):
        yield grid(rows, count // rows)
    for down in range(1, MOST_TILES + 1):
        for across in range(1, MOST_TILES // down + 1):
            for before, behind in ((0, 0), (1, 0), (0, 1)):
                parts = down * across + before + behind
                side = isqrt(count // parts)
                if down * across == 1 or side**2 * parts != count:
                    continue
                tiled = tiles(down, across, side)
                yield (
                    joined(overview(side), tiled)
                    if before
                    else joined(tiled, overview(side))
                    if behind
                    else tiled
                )


def divisors(count: int) -> list[int]:
    """The numbers that divide another."""
    return [number for number in range(1, count + 1) if count % number == 0]


def grid(rows: int, columns: int) -> Guess:
    """Tokens row by row."""
    row, column = np.divmod(np.arange(rows * columns), columns)
    return cells(row, column, rows, columns)


def cells(row: NDArray[np.int64], column: NDArray[np.int64], rows: int, columns: int) -> Guess:
    """Tokens in cells of a grid."""
    boxes = np.stack([column / columns, row / rows, (column + 1) / columns, (row + 1) / rows], axis=1)
    names = (f"row {down + 1}, column {across + 1}" for down, across in zip(row, column, strict=True))
    return Guess(boxes, tuple(names))


def tiles(down: int, across: int, side: int) -> Guess:
    """Tokens row by row in each of several tiles, one tile behind the other."""
    tile, place = np.divmod(np.arange(down * across * side**2), side**2)
    row, column = tile // across * side + place // side, tile % across * side + place % side
    return cells(row, column, down * side, across * side)


def overview(side: int) -> Guess:
    """Tokens of the whole image in one tile."""
    whole = grid(side, side)
    return Guess(whole.boxes, tuple(f"overview, {name}" for name in whole.names))


def joined(first: Guess, second: Guess) -> Guess:
    """One behind the other."""
    return Guess(np.concatenate([first.boxes, second.boxes]), first.names + second.names)


def frames(look: Look, grey: NDArray[np.float64], size: tuple[int, int], most: float) -> list[Frame]:
    """What a processor may make of an image: the square in its middle, if nothing changes when all around
    that does; else all of it, or a square around it. ``most`` is how far a vector moves at most."""
    width, height = size
    short, long = min(size), max(size)

    def matters_outside(side: float) -> bool:
        image = Image.new("RGB", size, OTHER)
        left, top = round((width - side) / 2), round((height - side) / 2)
        image.paste(GREY, (max(left, 0), max(top, 0), width - max(left, 0), height - max(top, 0)))
        return bool(np.linalg.norm(look(image) - grey, axis=1).max() > LITTLE * most)

    high = short * (1 + MARGIN if long > short * (1 + 2 * MARGIN) else 1 - MARGIN)
    if matters_outside(high):
        return [
            (0.0, 0.0, float(width), float(height)), middle(size, long), (0.0, 0.0, float(long), float(long)),
        ]  # fmt: skip
    low = short / 2
    for _ in range(HALVINGS):
        side = (low + high) / 2
        low, high = (side, high) if matters_outside(side) else (low, side)
    return [middle(size, min(high, short))]


def middle(size: tuple[int, int], side: float) -> Frame:
    """A square around the middle of an image."""
    width, height = size
    return (width - side) / 2, (height - side) / 2, (width + side) / 2, (height + side) / 2


def in_frame(boxes: Boxes, frame: Frame) -> Boxes:
    """Boxes in pixels of the image."""
    left, top, right, bottom = frame
    return np.asarray(boxes * ([right - left, bottom - top] * 2) + [left, top] * 2)


def fit_of(changes: NDArray[np.float64], squares: NDArray[np.float64], boxes: Boxes) -> float:
    """The correlation of the changes [squares, tokens] with the part of each token that a square covers."""
    lows = np.maximum(squares[:, None, :2], boxes[None, :, :2])
    highs = np.minimum(squares[:, None, 2:], boxes[None, :, 2:])
    areas = np.prod(np.clip(highs - lows, 0, None), axis=-1)
    covered = areas / np.prod(boxes[:, 2:] - boxes[:, :2], axis=-1)
    if changes.std() == 0 or covered.std() == 0:
        return 0.0
    return float(np.corrcoef(changes.ravel(), covered.ravel())[0, 1])


def whole_pixels(box: NDArray[np.float64], size: tuple[int, int]) -> Box:
    """A box in whole pixels, inside the image."""
    width, height = size
    left, top, right, bottom = (round(float(edge)) for edge in box)
    left, right = (min(max(edge, 0), width) for edge in (left, right))
    top, bottom = (min(max(edge, 0), height) for edge in (top, bottom))
    return left, top, right, bottom

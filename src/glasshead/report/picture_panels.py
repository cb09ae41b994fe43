"""What is drawn of an explained image: the image itself, and its patches on the colour of their numbers."""

from __future__ import annotations

import base64
import io
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from glasshead.report.number_format import finite, number
from glasshead.report.text_spans import diverging, normalised_score, quantity
from glasshead.results import Attribution, Written

VEIL, STRONGEST = 0.55, 0.85
"""How pale the image is under colours, and how opaque the strongest of them."""

POSITIVE, NEGATIVE = "positive weights", "negative weights"
ATTENTION = "attention"
Box = tuple[int, int, int, int]
"""Left, top, right and bottom, in pixels of the image."""
OVERVIEW = "overview"
"""What the names of image tokens say that are of a small version of the whole image."""


@dataclass(frozen=True)
class PicturePanel:
    """One reading of an image: ``shares`` of full strength in [−1, 1] of each token, None of one that has no
    colour, whether they have signs, and which tokens are marked as attention ``sinks``."""

    title: str
    shares: tuple[float | None, ...]
    signed: bool = True
    sinks: tuple[int, ...] = ()


@dataclass(frozen=True)
class ReadPicture:
    """An image as a data URI, what it is called, and its readings."""

    image: str
    title: str
    panels: tuple[PicturePanel, ...]


@dataclass(frozen=True)
class View:
    """Which tokens are drawn over an image, or over a small version of it, and the title of that; ``image``
    is its number, counted from 1."""

    image: int
    title: str
    chosen: tuple[bool, ...]


def read_pictures(attribution: Attribution, scale: float) -> list[ReadPicture]:
    """The images of an input, each with its readings (`picture_panels`). An image that is read alone has the
    name of the input."""
    if not attribution.has_words:
        panels = tuple(picture_panels(attribution, scale))
        return [ReadPicture(image, attribution.text, panels) for image in attribution.images]
    # A word may count many times as much as a part of an image.
    most = largest_in_image(attribution, attribution.colours)
    title = f"{quantity(attribution)}s, full colour {number(most)}"
    shares = of_largest(attribution, attribution.colours)
    signed = diverging(attribution)
    own_views = views(attribution, title)
    return [
        ReadPicture(
            image,
            name,
            tuple(
                PicturePanel(
                    view.title,
                    of_some(shares, view.chosen, attribution.off_scale),
                    signed,
                    tuple(token for token in sorted(attribution.marked_sinks) if view.chosen[token]),
                )
                for view in own_views
                if view.image == place
            ),
        )
        for place, (image, name) in enumerate(
            zip(attribution.images, image_titles(attribution), strict=True), 1
        )
    ]


def image_titles(value: Attribution | Written) -> list[str]:
    """What each image of an input with words is called."""
    several = len(value.images) > 1
    return [f"image {place}" if several else "image" for place, _ in enumerate(value.images, 1)]


def picture_panels(attribution: Attribution, scale: float) -> list[PicturePanel]:
    """The readings next to the image. Attention has its weights, those of either sign apart where there are
    signs, and its contributions; another method what speaks for and what against, or its one number.

    ``scale`` is what is drawn at full strength of `Attribution.colours`; weights are drawn on the scale of
    the largest of their image.
    """
    colours = tuple(normalised_score(value, scale) for value in attribution.colours)
    if attribution.method.split("+")[0] != ATTENTION:
        if not diverging(attribution):
            return [PicturePanel(attribution.method, colours, False)]
        return [
            PicturePanel(f"for {attribution.target}", tuple(max(share, 0.0) for share in colours)),
            PicturePanel(f"against {attribution.target}", tuple(min(share, 0.0) for share in colours)),
        ]
    panels = [PicturePanel("weights", of_largest(attribution, attribution.scores), False)]
    if attribution.signed:
        both = (*attribution.positive, *(-value for value in attribution.negative))
        shares = of_largest(attribution, both)
        half = len(attribution.scores)
        panels = [PicturePanel(POSITIVE, shares[:half]), PicturePanel(NEGATIVE, shares[half:])]
    if attribution.contributions is not None and attribution.intervals is None:
        panels.append(PicturePanel("contributions", colours))
    return panels


def of_largest(attribution: Attribution, values: Sequence[float]) -> tuple[float, ...]:
    """Shares of the largest of them that has a place in the image."""
    most = largest_in_image(attribution, values)
    return tuple(normalised_score(value, most) for value in values)


def numbers_of(value: Attribution | Written) -> tuple[int | None, ...]:
    """The number of the image of each token, counted from 1; None of those that are in none."""
    if value.image_numbers is not None:
        return value.image_numbers
    return tuple(None if box is None else 1 for box in value.boxes or ())


def views(value: Attribution | Written, title: str) -> list[View]:
    """Which tokens are parts of each image, and which of a small version of the whole image, which some
    models read next to its parts."""
    boxes = value.boxes or ()
    named = list(zip(value.tokens[: len(boxes)], numbers_of(value), boxes, strict=True))
    found = []
    for place in range(1, len(value.images) + 1):
        for own_title, is_small in ((title, False), (OVERVIEW, True)):
            chosen = tuple(
                box is not None and number == place and of_overview(token) == is_small
                for token, number, box in named
            )
            found += [View(place, own_title, chosen)] if any(chosen) else []
    return found


def of_overview(name: str) -> bool:
    """Whether a token is of a small version of its image, by its name."""
    return OVERVIEW in name.split(", ")


def of_some(
    shares: Sequence[float], chosen: Sequence[bool], sinks: Collection[int] = ()
) -> tuple[float | None, ...]:
    """The shares of chosen tokens alone, without sinks."""
    own = (share if here else None for share, here in zip(shares, chosen, strict=True))
    return tuple(None if token in sinks else share for token, share in enumerate(own))


def largest_in_image(attribution: Attribution, values: Sequence[float]) -> float:
    """The size of the largest of them that has a place in the image, and is no attention sink."""
    sinks = attribution.off_scale if values is attribution.colours else frozenset[int]()
    boxes = [None if token in sinks else box for token, box in enumerate(attribution.boxes or ())]
    places = boxes * (len(values) // max(len(boxes), 1))
    return max(
        (abs(value) for value, box in zip(values, places, strict=True) if box and finite(value)), default=0.0
    )


def image_size(image: str) -> tuple[int, int]:
    """Width and height of an image, by the head of its PNG."""
    head = base64.b64decode(image.partition(",")[2][:32])
    return int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")


def image_array(image: str) -> NDArray[np.uint8]:
    """The pixels of an image."""
    from matplotlib.image import imread

    content = base64.b64decode(image.partition(",")[2])
    return np.rint(np.asarray(imread(io.BytesIO(content)))[..., :3] * 255).astype(np.uint8)

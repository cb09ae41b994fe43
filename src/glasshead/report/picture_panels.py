"""What is drawn of an explained image: the image itself, and its patches on the colour of their numbers."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from glasshead.report.number_format import finite, number
from glasshead.report.text_spans import diverging, normalised_score, quantity
from glasshead.results import Attribution

VEIL, STRONGEST = 0.55, 0.85
"""How pale the image is under colours, and how opaque the strongest of them."""

POSITIVE, NEGATIVE = "positive weights", "negative weights"
ATTENTION = "attention"
OVERVIEW = "overview"
"""How the names of image tokens begin that are of a small version of the whole image."""


@dataclass(frozen=True)
class PicturePanel:
    """One reading of an image: ``shares`` of full strength in [−1, 1] of each token, None of one that is not
    drawn, and whether they have signs."""

    title: str
    shares: tuple[float | None, ...]
    signed: bool = True


def picture_panels(attribution: Attribution, scale: float) -> list[PicturePanel]:
    """The readings beside the image. Attention has its weights, those of either sign apart where there are
    signs, and its contributions; another method what speaks for and what against, or its one number.

    ``scale`` is what is drawn at full strength of `Attribution.colours`; weights are drawn on the scale of
    the largest of their image.
    """
    colours = tuple(normalised_score(value, scale) for value in attribution.colours)
    if attribution.has_words:  # a word may count many times as much as a part of the image
        most = largest_in_image(attribution, attribution.colours)
        title = f"{quantity(attribution)}s, full colour {number(most)}"
        shares = of_largest(attribution, attribution.colours)
        return [
            PicturePanel(name, of_some(shares, chosen), diverging(attribution))
            for name, chosen in ((title, in_detail(attribution)), ("overview", in_overview(attribution)))
            if any(chosen)
        ]
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


def in_overview(attribution: Attribution) -> list[bool]:
    """Which image tokens are of a small version of the whole image, which some models read beside parts."""
    boxed = zip(attribution.tokens, attribution.boxes or (), strict=True)
    return [box is not None and name.startswith(OVERVIEW) for name, box in boxed]


def in_detail(attribution: Attribution) -> list[bool]:
    """Which are not."""
    boxed = zip(in_overview(attribution), attribution.boxes or (), strict=True)
    return [box is not None and not overview for overview, box in boxed]


def of_some(shares: Sequence[float], chosen: Sequence[bool]) -> tuple[float | None, ...]:
    """The shares of chosen tokens alone."""
    return tuple(share if own else None for share, own in zip(shares, chosen, strict=True))


def largest_in_image(attribution: Attribution, values: Sequence[float]) -> float:
    """The size of the largest of them that has a place in the image."""
    boxes = list(attribution.boxes or ())
    places = boxes * (len(values) // max(len(boxes), 1))
    return max(
        (abs(value) for value, box in zip(values, places, strict=True) if box and finite(value)), default=0.0
    )


def image_size(attribution: Attribution) -> tuple[int, int]:
    """Width and height of the image, by the head of its PNG."""
    assert attribution.image is not None
    head = base64.b64decode(attribution.image.partition(",")[2][:32])
    return int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")


def image_array(attribution: Attribution) -> NDArray[np.uint8]:
    """The pixels of the image."""
    from matplotlib.image import imread

    assert attribution.image is not None
    content = base64.b64decode(attribution.image.partition(",")[2])
    return np.rint(np.asarray(imread(io.BytesIO(content)))[..., :3] * 255).astype(np.uint8)

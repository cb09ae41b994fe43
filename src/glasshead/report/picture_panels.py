"""What is drawn of an explained image: the image itself, and its patches on the colour of their numbers."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from glasshead.report.number_format import finite
from glasshead.report.text_spans import diverging, normalised_score
from glasshead.results import Attribution

VEIL, STRONGEST = 0.55, 0.85
"""How pale the image is under colours, and how opaque the strongest of them."""

POSITIVE, NEGATIVE = "positive weights", "negative weights"
ATTENTION = "attention"


@dataclass(frozen=True)
class PicturePanel:
    """One reading of an image: ``shares`` of full strength in [−1, 1] of each token, and whether they have
    signs."""

    title: str
    shares: tuple[float, ...]
    signed: bool = True


def picture_panels(attribution: Attribution, scale: float) -> list[PicturePanel]:
    """The readings beside the image. Attention has its weights, those of either sign apart where there are
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
    boxes = list(attribution.boxes or ())
    places = boxes * (len(values) // max(len(boxes), 1))
    most = max(
        (abs(value) for value, box in zip(values, places, strict=True) if box and finite(value)), default=0.0
    )
    return tuple(normalised_score(value, most) for value in values)


def image_array(attribution: Attribution) -> NDArray[np.uint8]:
    """The pixels of the image."""
    from matplotlib.image import imread

    assert attribution.image is not None
    content = base64.b64decode(attribution.image.partition(",")[2])
    return np.rint(np.asarray(imread(io.BytesIO(content)))[..., :3] * 255).astype(np.uint8)

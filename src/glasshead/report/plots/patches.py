"""Explained images, their patches on the colour of their numbers: one image in each column."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from glasshead.escaping import in_quotes, one_line
from glasshead.report.colours import GROUNDS, meaning
from glasshead.report.figure import Figure, Ink, Panel
from glasshead.report.picture_panels import STRONGEST, VEIL, PicturePanel, image_array, picture_panels
from glasshead.report.plot_registry import plot
from glasshead.report.text_spans import prediction, shared_scale, strongest_tokens
from glasshead.results import Attribution, Attributions

PICTURES = 8
"""Images of a figure."""
SIDE = 1.35
"""Inches of an image."""


@plot("patches", Attributions, drawn_by="explain")
def patches(attributions: Attributions) -> Figure:
    """Each image above its readings: of signed attention the positive and the negative weights.

    Source: Huang, Yang and Wang (2024), Fig. 5; their signs are as training left them, these are canonical.
    """
    shown = [each for each in attributions.attributions if each.boxes is not None][:PICTURES]
    scale = shared_scale(shown)
    columns = [[None, *picture_panels(each, scale)] for each in shown]
    several = len({each.target for each in shown}) > 1
    panels = [
        picture_panel(each, column[row], row_name(each, column[row], several) if number == 0 else "")
        for row in range(max(map(len, columns)))
        for number, (each, column) in enumerate(zip(shown, columns, strict=True))
    ]
    return Figure(
        f"{title(shown)}, method {one_line(shown[0].method)}",
        panels,
        caption(attributions, shown),
        across=len(shown),
        source="after Huang, Yang and Wang (2024), Fig. 5" if shown[0].signed else "",
    )


def title(shown: Sequence[Attribution]) -> str:
    """What is explained, by its class if it is one for all."""
    targets = {each.target for each in shown}
    return (
        f"What speaks for {in_quotes(one_line(*targets))}"
        if len(targets) == 1
        else "What the patches speak for"
    )


def row_name(attribution: Attribution, reading: PicturePanel | None, several: bool) -> str:
    """What stands beside the first image of a row; of several classes that of each column is meant."""
    if reading is None:
        return "image"
    return reading.title.replace(f" {attribution.target}", " its class") if several else reading.title


def caption(attributions: Attributions, shown: Sequence[Attribution]) -> str:
    """What the colours mean, and the remarks."""
    signed = any(panel.signed for each in shown for panel in picture_panels(each, 1.0))
    signs = "; red is above zero, blue below" if signed else ""
    words = [f"The stronger the colour, the larger the number{signs}."]
    words += [f"{remark[:1].upper()}{remark[1:].rstrip('.')}." for remark in attributions.remarks]
    if len(attributions) > len(shown):
        words.append(
            f"{len(attributions) - len(shown)} more images are left out here; a page (.html) has all."
        )
    return " ".join(words)


def picture_panel(attribution: Attribution, reading: PicturePanel | None, row: str) -> Panel:
    """One image, as it is or below the numbers of its patches, with the name of its ``row`` beside it."""

    def draw(axes: Axes, ink: Ink) -> None:
        pixels = image_array(attribution).astype(float)
        pale = pixels if reading is None else 255 - (1 - VEIL) * (255 - pixels)
        height, width = pixels.shape[:2]
        axes.imshow(np.rint(pale).astype(np.uint8), extent=(0, width, height, 0), interpolation="nearest")
        for share, box in zip(reading.shares if reading else (), attribution.boxes or (), strict=False):
            if reading and box is not None and share:
                red, green, blue = (part / 255 for part in GROUNDS[meaning(share, reading.signed)])
                left, top, right, bottom = box
                axes.add_patch(
                    Rectangle(
                        (left, top), right - left, bottom - top, linewidth=0,
                        facecolor=(red, green, blue, STRONGEST * abs(share)),
                    )
                )  # fmt: skip
        axes.set_xlim(0, width)
        axes.set_ylim(height, 0)
        axes.set_xticks([])
        axes.set_yticks([])
        for spine in axes.spines.values():
            spine.set_visible(False)
        axes.set_ylabel(ink.text(row), fontsize=7.5)

    title = one_line(attribution.text) if reading is None else ""
    said = f"{attribution.text}, {prediction(attribution)}"
    if reading is not None:
        said += f": {reading.title}; strongest patches {strongest_tokens(attribution)}"
    size = SIDE, SIDE + (0.2 if reading is None else 0.0)
    return Panel(title, ("", ""), draw, f"{said}.", x="own", grid=False, size=size, aspect=1.0)

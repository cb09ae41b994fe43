"""Explained images, their patches on the colour of their numbers: one image in each column."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from glasshead.escaping import in_quotes, one_line
from glasshead.report.colours import GROUNDS, meaning
from glasshead.report.figure import Figure, Ink, Panel
from glasshead.report.picture_panels import (
    STRONGEST,
    VEIL,
    PicturePanel,
    ReadPicture,
    image_array,
    read_pictures,
)
from glasshead.report.plot_registry import plot
from glasshead.report.text_spans import prediction, scales_of, strongest_tokens
from glasshead.results import Attribution, Attributions

PICTURES = 8
"""Images of a figure."""
Column = tuple[Attribution, ReadPicture]
"""An image, and the explanation that it belongs to."""
SIDE = 1.35
"""Inches of an image."""


@plot("patches", Attributions, drawn_by="explain")
def patches(attributions: Attributions) -> Figure:
    """Each image above its readings: of signed attention the positive and the negative weights.

    Source: Huang, Yang and Wang (2024), Fig. 5; their signs are as training left them, these are canonical.
    """
    found = [each for each in attributions.attributions if each.boxes is not None]
    columns = [
        (each, picture)
        for each, scale in zip(found, scales_of(found), strict=True)
        for picture in read_pictures(each, scale)
    ][:PICTURES]
    shown = [each for each in found if any(each is one for one, _ in columns)]
    several = len({each.target for each in shown}) > 1
    rows = max(len(picture.panels) for _, picture in columns) + 1
    panels = [
        picture_panel(each, picture, row, row_name(each, picture, row, several) if number == 0 else "")
        for row in range(rows)
        for number, (each, picture) in enumerate(columns)
    ]
    images = sum(len(each.images) for each in found)
    return Figure(
        f"{title(shown)}, {pluralise_method(shown)}",
        panels,
        caption(attributions, columns, images - len(columns)),
        across=len(columns),
        source="after Huang, Yang and Wang (2024), Fig. 5" if shown[0].signed else "",
    )


def pluralise_method(shown: Sequence[Attribution]) -> str:
    """The methods of the images, in their order."""
    methods = [one_line(name) for name in dict.fromkeys(each.method for each in shown)]
    return f"method{'s' if len(methods) > 1 else ''} {', '.join(methods)}"


def title(shown: Sequence[Attribution]) -> str:
    """What is explained, by its class if it is one for all."""
    targets = {each.target for each in shown}
    return (
        f"Evidence for {in_quotes(one_line(*targets))}" if len(targets) == 1 else "What each patch supports"
    )


def reading_in(picture: ReadPicture, row: int) -> PicturePanel | None:
    """The reading of an image in a row; the first row has none."""
    return picture.panels[row - 1] if 0 < row <= len(picture.panels) else None


def row_name(attribution: Attribution, picture: ReadPicture, row: int, several: bool) -> str:
    """What is next to the first image of a row; of several classes that of each column is meant."""
    reading = reading_in(picture, row)
    if reading is None:
        return "image"
    return reading.title.replace(f" {attribution.target}", " its class") if several else reading.title


def caption(attributions: Attributions, columns: Sequence[Column], left_out: int) -> str:
    """What the colours mean, and the remarks."""
    signed = any(panel.signed for _, picture in columns for panel in picture.panels)
    signs = "; red is above zero, blue below" if signed else ""
    words = [f"The stronger the colour, the larger the number{signs}."]
    words += [f"{remark[:1].upper()}{remark[1:].rstrip('.')}." for remark in attributions.remarks]
    if left_out:
        words.append(f"{left_out} more images are left out here; a page (.html) has all.")
    return " ".join(words)


def picture_panel(attribution: Attribution, picture: ReadPicture, row: int, name: str) -> Panel:
    """One image, as it is or below the numbers of its patches, with the name of its ``row`` next to it."""
    reading = reading_in(picture, row)

    def draw(axes: Axes, ink: Ink) -> None:
        pixels = image_array(picture.image).astype(float)
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
        for token in reading.sinks if reading else ():
            left, top, right, bottom = (attribution.boxes or ())[token] or (0, 0, 0, 0)
            axes.add_patch(
                Rectangle(
                    (left, top), right - left, bottom - top, fill=False, edgecolor="#222", linewidth=0.8,
                    linestyle="--", hatch="xx",
                )
            )  # fmt: skip
        axes.set_xlim(0, width)
        axes.set_ylim(height, 0)
        axes.set_xticks([])
        axes.set_yticks([])
        for spine in axes.spines.values():
            spine.set_visible(False)
        axes.set_ylabel(ink.text(name), fontsize=7.5)

    several = len(attribution.images) > 1
    title = one_line(picture.title if several else attribution.text) if row == 0 else ""
    said = f"{f'{picture.title}: ' if several else ''}{attribution.text}, {prediction(attribution)}"
    if reading is not None:
        said += f": {reading.title}; strongest patches {strongest_tokens(attribution)}"
    size = SIDE, SIDE + (0.2 if reading is None else 0.0)
    return Panel(title, ("", ""), draw, f"{said}.", x="own", grid=False, size=size, aspect=1.0)

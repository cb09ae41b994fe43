"""Explained images, each as one SVG: the image, and next to it its patches on the colour of their numbers."""

from collections.abc import Iterator
from zlib import crc32

from markupsafe import Markup

from glasshead.escaping import visible
from glasshead.report.colours import GROUNDS, meaning
from glasshead.report.picture_panels import (
    STRONGEST,
    VEIL,
    Box,
    PicturePanel,
    ReadPicture,
    image_size,
    read_pictures,
)
from glasshead.report.text_spans import strongest_tokens, token_description
from glasshead.results import Attribution

WIDTH, PHOTO_WIDTH = 170, 300
"""Pixels of a panel on the page: of a small image, and at most of a photo."""
GAP, ABOVE = 0.06, 17
"""Between panels, as a share of the width of one, and pixels of what is above it."""


def picture_heatmap(attribution: Attribution, scale: float) -> Markup:
    """The images and their readings, coloured as `colours` says. Each patch says its numbers when pointed
    at."""
    key = f"image-{crc32(f'{attribution.text}{attribution.method}{attribution.scores}'.encode()):x}"
    drawn = Markup("")
    for number, picture in enumerate(read_pictures(attribution, scale)):
        one = one_picture(attribution, picture, f"{key}-{number}" if number else key)
        drawn += (
            Markup('<div style="margin-bottom:.6em">{}</div>').format(one)
            if len(attribution.images) > 1
            else one
        )
    return drawn


def one_picture(attribution: Attribution, picture: ReadPicture, key: str) -> Markup:
    """An image and its readings; the first says the strongest patches of all."""
    width, height = image_size(picture.image)
    panels = picture.panels
    shown = min(max(width, WIDTH), PHOTO_WIDTH)
    step, above = width * (1 + GAP), width * ABOVE / shown
    name = f"{picture.title}: {attribution.text}" if len(attribution.images) > 1 else attribution.text
    spoken = f"{name}. Strongest patches: {strongest_tokens(attribution)}."
    parts = [
        Markup(
            '<svg class="picture" role="img" aria-label="{}" viewBox="0 0 {:g} {:g}" '
            'style="width:100%;max-width:{}px;height:auto" xmlns="http://www.w3.org/2000/svg">'
        ).format(
            visible(spoken), step * (1 + len(panels)) - width * GAP, height + above, shown * (1 + len(panels))
        ),
        Markup(
            '<defs><image id="{}" width="{}" height="{}" href="{}" style="image-rendering:{}"/></defs>'
        ).format(key, width, height, picture.image, "pixelated" if width <= WIDTH else "auto"),
        *group(attribution, PicturePanel(picture.title, ()), key, (0.0, above)),
    ]
    for number, panel in enumerate(panels, start=1):
        parts += group(attribution, panel, key, (number * step, above))
    return Markup("").join([*parts, Markup("</svg>")])


def group(
    attribution: Attribution, panel: PicturePanel, key: str, place: tuple[float, float]
) -> Iterator[Markup]:
    """One panel: its title, the image, paler where it lies below numbers, and the patches."""
    left, above = place
    yield Markup('<g transform="translate({:g} {:g})">').format(left, above)
    yield Markup(
        '<text y="{:g}" font-size="{:g}" fill="currentColor" font-family="inherit">{}</text>'
    ).format(-0.3 * above, 0.65 * above, visible(panel.title))
    yield Markup('<use href="#{}"{}/>').format(
        key, Markup(f' opacity="{1 - VEIL:.2f}"') if panel.shares else ""
    )
    for token, (share, box) in enumerate(zip(panel.shares, attribution.boxes or (), strict=False)):
        if box is None or share is None:
            continue
        x, y, right, bottom = box
        colour = ",".join(map(str, GROUNDS[meaning(share, panel.signed)]))
        yield Markup(
            '<rect x="{}" y="{}" width="{}" height="{}" fill="rgb({})" fill-opacity="{:.2f}">'
            "<title>{}</title></rect>"
        ).format(
            x, y, right - x, bottom - y, colour, STRONGEST * abs(share), token_description(attribution, token)
        )
    for token in panel.sinks:
        x, y, right, bottom = (attribution.boxes or ())[token] or (0, 0, 0, 0)
        yield Markup('<rect x="{}" y="{}" width="{}" height="{}" fill="none" pointer-events="all">').format(
            x, y, right - x, bottom - y
        )
        yield Markup("<title>{}, attention sink</title></rect>").format(token_description(attribution, token))
        yield sink_mark((x, y, right, bottom))
    yield Markup("</g>")


def sink_mark(box: Box) -> Markup:
    """A dashed frame with a cross, in two colours that are seen on any image."""
    x, y, right, bottom = box
    dx, dy = 0.08 * (right - x), 0.08 * (bottom - y)
    width, height = right - x - 2 * dx, bottom - y - 2 * dy
    path = f"M{x + dx:g} {y + dy:g}h{width:g}v{height:g}h{-width:g}z"
    path += f"l{width:g} {height:g}m0 {-height:g}l{-width:g} {height:g}"
    return Markup(
        '<g class="sink" fill="none" pointer-events="none">'
        '<path d="{}" stroke="#fff" stroke-width="3" vector-effect="non-scaling-stroke"/>'
        '<path d="{}" stroke="#222" stroke-width="1.2" stroke-dasharray="3 2" '
        'vector-effect="non-scaling-stroke"/></g>'
    ).format(path, path)

"""An explained image as one SVG: the image, and beside it its patches on the colour of their numbers."""

from collections.abc import Iterator
from zlib import crc32

from markupsafe import Markup

from glasshead.escaping import visible
from glasshead.report.colours import GROUNDS, meaning
from glasshead.report.picture_panels import STRONGEST, VEIL, PicturePanel, image_size, picture_panels
from glasshead.report.text_spans import strongest_tokens, token_description
from glasshead.results import Attribution

WIDTH = 170
"""Pixels of a panel on the page."""
GAP, LETTERS = 0.06, 0.1
"""Between panels, and the height of what stands above them, as shares of the image."""


def picture_heatmap(attribution: Attribution, scale: float) -> Markup:
    """The image and its readings, coloured as `colours` says. Each patch says its numbers when pointed at."""
    width, height = image_size(attribution)
    panels = picture_panels(attribution, scale)
    step, above = width * (1 + GAP), height * LETTERS
    key = f"image-{crc32(f'{attribution.text}{attribution.method}{attribution.scores}'.encode()):x}"
    spoken = f"{attribution.text}. Strongest patches: {strongest_tokens(attribution)}."
    parts = [
        Markup(
            '<svg class="picture" role="img" aria-label="{}" viewBox="0 0 {:g} {:g}" '
            'style="width:100%;max-width:{}px;height:auto" xmlns="http://www.w3.org/2000/svg">'
        ).format(
            visible(spoken), step * (1 + len(panels)) - width * GAP, height + above, WIDTH * (1 + len(panels))
        ),
        Markup(
            '<defs><image id="{}" width="{}" height="{}" href="{}" style="image-rendering:{}"/></defs>'
        ).format(key, width, height, attribution.image, "pixelated" if width <= WIDTH else "auto"),
        *group(attribution, PicturePanel(title_of(attribution), ()), key, (0.0, above)),
    ]
    for number, panel in enumerate(panels, start=1):
        parts += group(attribution, panel, key, (number * step, above))
    return Markup("").join([*parts, Markup("</svg>")])


def title_of(attribution: Attribution) -> str:
    """What is written above the image itself."""
    return "image" if attribution.has_words else attribution.text


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
    yield Markup("</g>")

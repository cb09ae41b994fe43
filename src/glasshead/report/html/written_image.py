"""The images that a model wrote about, as drawings whose parts can be chosen."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from glasshead.report.colours import LIGHT, MARKS, Meaning
from glasshead.report.html.picture_heatmap import WIDTH, sink_mark
from glasshead.report.picture_panels import Box, image_size, image_titles, views
from glasshead.results import Written

WHOLE = "image"
MEANINGS: tuple[Meaning, ...] = ("for", "against", "size")
COLOURS = ";".join(f"--{MARKS[one]}:{LIGHT[f'--{one}-ground']}" for one in MEANINGS)
"""Those of light paper, also on dark paper: a dark colour would hide in the image."""


def image_views(written: Written) -> Markup:
    """Each image with a part for each of its tokens; those of a small version of it in a drawing of their
    own. Only the first part is in the order of the Tab key: arrow keys move between them. An image without
    known places is drawn as it is."""
    if not written.images or written.boxes is None:
        return Markup("")
    boxes = written.boxes
    drawn = Markup("")
    own_views = views(written, WHOLE)
    for place, (image, name) in enumerate(zip(written.images, image_titles(written), strict=True), 1):
        of_image = [view for view in own_views if view.image == place]
        drawn += Markup("") if of_image else figure(image, [], name, name, name, ())
        for view in of_image:
            parts = [
                (token, written.tokens[token], box)
                for token, (here, box) in enumerate(zip(view.chosen, boxes, strict=True))
                if here and box is not None
            ]
            several = len(written.images) > 1
            title = view.title if not several else name if view.title == WHOLE else f"{name}, {view.title}"
            caption = title if several or len(own_views) > 1 else ""
            drawn += figure(image, parts, title, caption, name, written.image_sinks)
    return drawn


def figure(
    image: str, parts: list[tuple[int, str, Box]], title: str, caption: str, name: str, sinks: Sequence[int]
) -> Markup:
    """One drawing of an image, of some ``name``, with some parts, and a mark on attention sinks."""
    width, height = image_size(image)
    drawn = Markup("").join(
        Markup(
            '<rect data-token="{}" data-image="{}" x="{}" y="{}" width="{}" height="{}" role="button" '
            'aria-pressed="false" aria-label="{}" tabindex="{}"><title>{}</title></rect>'
        ).format(
            token, name, box[0], box[1], box[2] - box[0], box[3] - box[1], part, -1 if number else 0, part
        )
        for number, (token, part, box) in enumerate(parts)
    )
    drawn += Markup("").join(sink_mark(box) for token, _, box in parts if token in sinks)
    return Markup(
        '<figure><svg viewBox="0 0 {} {}" role="group" aria-label="{}" style="{}">'
        '<image width="{}" height="{}" href="{}" style="image-rendering:{}"/>{}</svg>'
        "<figcaption>{}</figcaption></figure>"
    ).format(
        width, height, title, COLOURS, width, height, image, "pixelated" if width <= WIDTH else "auto", drawn,
        caption,
    )  # fmt: skip

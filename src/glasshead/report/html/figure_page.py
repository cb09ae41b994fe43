"""A figure on a page, on a page of its own, and in a notebook."""

from base64 import b64encode
from dataclasses import dataclass

from markupsafe import Markup

from glasshead.escaping import visible
from glasshead.report.figure import Figure
from glasshead.report.figure_file import image_file
from glasshead.report.html.environment import environment
from glasshead.report.html.inline_svg import panel_drawings


@dataclass(frozen=True)
class RenderedFigure:
    """A figure on the page: titles and drawings of its panels, None for one without numbers."""

    figure: Figure
    panels: list[tuple[str, Markup | None]]


def render(figure: Figure, key: str) -> RenderedFigure:
    """The figure as inline SVG; ``key`` is its own on the page."""
    return RenderedFigure(figure, panel_drawings(figure, key))


def figure_fragment(figure: Figure) -> str:
    """A figure for a notebook: an image, which scrolls where the paper is narrow."""
    words = " ".join(panel.description for panel in figure.panels)
    image = b64encode(image_file(figure, "svg")).decode()
    return str(
        Markup(
            '<div style="overflow-x:auto"><img alt="{}" src="data:image/svg+xml;base64,{}" '
            'style="min-width:34rem;max-width:100%"></div>'
        ).format(visible(words), image)
    )


def figure_page(figure: Figure) -> str:
    """A single figure as one HTML file that needs no network."""
    rendered = render(figure, "figure")
    return environment().get_template("figure.html.j2").render(rendered=rendered)

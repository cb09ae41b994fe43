"""A figure on a page: its drawings with the words around them, and a page of one figure alone."""

from dataclasses import dataclass

from markupsafe import Markup

from glasshead.report.figure import Figure
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


def figure_page(figure: Figure) -> str:
    """One figure alone, as it would stand on a larger page: one HTML file without network."""
    rendered = render(figure, "figure")
    return environment().get_template("figure.html.j2").render(rendered=rendered)

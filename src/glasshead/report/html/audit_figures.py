"""Which plots a report shows: all for which at least one card has numbers."""

from collections.abc import Sequence

from glasshead.report.html.figure_page import RenderedFigure, render
from glasshead.report.plots import plots_of
from glasshead.results import AuditCard


def audit_figures(cards: Sequence[AuditCard], names: Sequence[str]) -> list[RenderedFigure]:
    """Every card is one panel of every figure, and the panels of a figure share their axes."""
    figures = {name: plot.draw(cards, names) for name, plot in plots_of(AuditCard, "plots").items()}
    return [render(figure, name) for name, figure in figures.items() if figure is not None]

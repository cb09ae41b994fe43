"""The same figure is the same file, whatever the last digits of its layout."""

import pytest
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from glasshead.report.figure_file import to_bytes

NUDGES = (0.0, 1e-15, -1e-15)


def file_of(monkeypatch: pytest.MonkeyPatch, nudge: float, kind: str, colours: bool) -> bytes:
    """A hatched area, or a heat map with its colours, where the layout's solver is off by ``nudge``."""
    execute = ConstrainedLayoutEngine.execute

    def nudged(self, figure):
        execute(self, figure)
        for axes in figure.axes:
            bounds = axes.get_position(original=True).bounds
            axes._set_position([each * (1 + nudge) for each in bounds], which="original")

    figure = Figure(layout="constrained")
    left, right = figure.subplots(1, 2)
    left.fill_between([0, 1], [0, 1], hatch="///")
    left.set_title("area")
    shown = right.imshow([[0.0, 1.0]])
    if colours:
        figure.colorbar(shown)
    with monkeypatch.context() as patch:
        patch.setattr(ConstrainedLayoutEngine, "execute", nudged)
        return to_bytes(figure, kind)


@pytest.mark.parametrize(("kind", "colours"), [("svg", True), ("pdf", False), ("png", True)])
def test_the_last_digits_of_a_layout_do_not_show(monkeypatch, kind, colours):
    files = {file_of(monkeypatch, nudge, kind, colours) for nudge in NUDGES}
    assert len(files) == 1


def test_a_figure_without_a_layout_keeps_its_places():
    figure = Figure()
    axes = figure.add_axes((0.123456789012, 0.1, 0.5, 0.5))
    to_bytes(figure, "svg")
    assert axes.get_position().x0 == 0.123456789012

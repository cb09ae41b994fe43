"""Pages without their plots, and a browser."""

import pytest

from browsers import browser  # noqa: F401


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages without their plots, whose drawing is most of the work; pages made once for a file are drawn."""
    monkeypatch.setattr("glasshead.report.html.figure_page.panel_drawings", lambda figure, key: [])

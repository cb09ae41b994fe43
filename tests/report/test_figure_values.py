"""A figure is a value that shows and saves itself."""

import base64
import re
from pathlib import Path

import pytest

from glasshead.errors import InputError
from glasshead.report import Figure, Panel


@pytest.fixture(scope="module")
def figure() -> Figure:
    panel = Panel("a line", ("x", "y"), lambda axes, ink: axes.plot([0, 1], [0, 1]), 'rises from "0" to <1>')
    return Figure("Lines", [panel])


def test_a_notebook_shows_an_image_with_its_description(figure: Figure) -> None:
    html = figure._repr_html_()
    (data,) = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', html)
    assert b"<svg" in base64.b64decode(data)
    assert 'alt="rises from &#34;0&#34; to &lt;1&gt;"' in html
    assert repr(figure) == "Figure('Lines', 1 panels)"


@pytest.mark.parametrize(
    ("ending", "start"),
    [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF"), ("html", b"<!doctype html>")],
)
def test_it_is_saved_as_its_name_ends(figure: Figure, ending: str, start: bytes, tmp_path: Path) -> None:
    out = tmp_path / f"lines.{ending}"
    figure.save(out)
    assert out.read_bytes().lower().startswith(start.lower())


def test_it_has_no_json(figure: Figure, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no JSON"):
        figure.save(tmp_path / "lines.json")

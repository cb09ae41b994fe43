"""The plots as data in, SVG out."""

from itertools import pairwise

import numpy as np
import pytest

from glasshead.report.html.inline_svg import PLACEHOLDERS, panel_svg
from glasshead.report.marks.distributions import Distribution, density, histogram_panel, violin_panel
from glasshead.report.marks.limits import limits
from glasshead.report.marks.scatter import Points, scatter_panel
from pages import Page

RANGES = ((-1.0, 1.0), (-1.0, 1.0))


def scatter(points: list[Points], limits: tuple[tuple[float, float], tuple[float, float]] = RANGES) -> Page:
    return Page(panel_svg(scatter_panel("", points, ("x", "y"), limits, "some points"), "k"))


def histograms(rows: list[Distribution]) -> str:
    return panel_svg(histogram_panel(rows, "τ", (-1.0, 1.0), "histogram", 0.1), "h")


def violins(rows: list[Distribution]) -> str:
    return panel_svg(violin_panel(rows, "change", (-1.0, 1.0), "violin"), "v")


def test_a_point_lands_where_the_axes_say() -> None:
    points = Points(np.array([-1.0, 0.0, 1.0]), np.array([-1.0, 0.0, 1.0]), "--c0", ["a", "b", "c"])
    page = scatter([points])
    low, middle, high = (
        (float(c.attributes["cx"] or 0), float(c.attributes["cy"] or 0)) for c in page.all("circle")
    )
    assert low == (66.0, 242.0)
    assert high == (390.0, 14.0)
    assert middle == (228.0, 128.0)
    assert page.all("svg")[0].attributes["aria-label"] == "some points"
    assert [title.text for title in page.all("title")] == ["a", "b", "c"]


def test_colours_and_fonts_come_from_the_page() -> None:
    rows = [Distribution("a", np.linspace(0, 1, 50), np.linspace(0, 0.5, 50)), Distribution("b", np.zeros(3))]
    for drawing in (histograms(rows), violins(rows)):
        assert not any(colour in drawing for colour in PLACEHOLDERS.values())
        assert "var(--ink)" in drawing
        assert "DejaVu" not in drawing
        assert "metadata" not in drawing
        assert Page(drawing).all("svg")


@pytest.mark.parametrize("values", [[], [np.nan, np.nan], [0.5], [0.2, 0.2, 0.2]])
def test_degenerate_rows_are_drawn(values: list[float]) -> None:
    rows = [Distribution("emoji 🎬 $x$ <b>", np.array(values, float))]
    for drawing in (histograms(rows), violins(rows)):
        texts = [text.text for text in Page(drawing).all("text")]
        assert "emoji 🎬 $x$ <…" in texts
        assert ("no defined value" in texts) == (not np.isfinite(values).any())


def test_histogram_counts_nothing_twice_and_keeps_the_edges() -> None:
    one = histograms([Distribution("a", np.array([1.0, -1.0, np.nan]))])
    assert "n = 2" in one


def test_density_peaks_at_the_values_and_ends_with_them() -> None:
    grid = np.linspace(0, 1, 101)
    curve = density(np.concatenate([np.full(90, 0.3), np.full(10, 0.7)]), grid)
    assert grid[curve.argmax()] == pytest.approx(0.3)
    assert curve.max() == pytest.approx(1.0)
    assert curve[grid < 0.28].max() == 0
    assert curve[grid > 0.72].max() == 0
    assert density(np.zeros(0), grid).sum() == 0


def test_limits_hold_everything_and_survive_nothing() -> None:
    low, high = limits(np.array([1.0, 3.0, np.nan]), zero=True)
    assert low < 0 < 3 < high
    assert limits() == (-1.0, 1.0)
    assert limits(np.array([2.0])) == (1.0, 3.0)


def test_names_beside_points_do_not_overlap() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(0, 0.01, 200), rng.normal(0, 0.01, 200)
    points = Points(x + 0.8, y + 0.8, "--c0", ["t"] * 200, [f"word{i}" for i in range(200)])
    page = scatter([points])
    names = [t for t in page.all("text") if "halo" in t.classes]
    heights = sorted(float(t.attributes["y"] or 0) for t in names)
    assert 1 <= len(names) <= 10
    sides = {t.attributes["text-anchor"] for t in names}
    assert len(sides) > 1 or all(b - a >= 9 for a, b in pairwise(heights))


def test_tick_labels_keep_their_decimals() -> None:
    points = Points(np.array([0.1]), np.array([0.1]), "--c0", ["a"])
    page = scatter([points], ((0.0, 0.13), (0.0, 0.13)))
    assert {"0.05", "0.10"} <= {text.text for text in page.all("text")}
